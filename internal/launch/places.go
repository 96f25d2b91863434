package launch

import (
	"path"
	"strings"

	"github.com/kqos/kqos/internal/nodeapi"
)

// place is where a distribution keeps what configures its kubelet. Paths are
// the host's; empty where it has none.
type place struct {
	distribution string
	// marker tells it from others that use the same files.
	marker string
	// config, configDir and rootDir are the kubelet's flags of those names.
	config, configDir, rootDir string
	// args is a file of its flags, snap the folder of the snap that has it.
	args, snap string
	// rancher is the name below /etc/rancher whose configuration holds flags.
	rancher string
	// within is the program that the kubelet is a part of.
	within string
}

// places lists the distributions, those with a mark before those without.
func places() []place {
	return []place{
		// kubernetes-sigs/kind: pkg/cluster/internal/create/actions/config/config.go
		// writes /kind/kubeadm.conf into each node's container.
		{distribution: "kind", marker: "/kind/kubeadm.conf", config: "/var/lib/kubelet/config.yaml"},
		// kubernetes/minikube: pkg/minikube/vmpath/constants.go GuestPersistentDir.
		{distribution: "minikube", marker: "/var/lib/minikube", config: "/var/lib/kubelet/config.yaml"},
		// kubernetes v1.37: cmd/kubeadm/app/constants/constants.go
		// KubeletConfigurationFileName; flags come by kubeadm-flags.env, which the
		// unit's drop-in 10-kubeadm.conf reads.
		{distribution: "kubeadm", config: "/var/lib/kubelet/config.yaml"},
		// k3s-io/k3s: pkg/daemons/agent/agent_linux.go kubeletArgsAndConfig, since
		// v1.32; docs.k3s.io "Kubelet Configuration Files".
		{distribution: "k3s", configDir: "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d", rancher: "k3s", within: "k3s"},
		// rancher/rke2 runs k3s' agent with a data directory of its own.
		{distribution: "RKE2", configDir: "/var/lib/rancher/rke2/agent/etc/kubelet.conf.d", rancher: "rke2"},
		// k0sproject/k0s: pkg/component/worker/kubelet.go.
		{distribution: "k0s", config: "/var/lib/k0s/kubelet-config.yaml", rootDir: "/var/lib/k0s/kubelet"},
		// canonical/microk8s: microk8s-resources/default-args/kubelet and kubelite.
		{distribution: "MicroK8s", args: "/var/snap/microk8s/current/args/kubelet", snap: "/var/snap/microk8s", rootDir: "/var/snap/microk8s/common/var/lib/kubelet", within: "kubelite"},
		// canonical/k8s-snap: docs on /var/snap/k8s/common/args/kubelet.
		{distribution: "Canonical Kubernetes", args: "/var/snap/k8s/common/args/kubelet", snap: "/var/snap/k8s"},
		// awslabs/amazon-eks-ami: nodeadm/internal/kubelet/config.go (AL2023).
		{distribution: "EKS", config: "/etc/kubernetes/kubelet/config.json", configDir: "/etc/kubernetes/kubelet/config.json.d"},
		// awslabs/amazon-eks-ami: the unit of Amazon Linux 2.
		{distribution: "EKS", config: "/etc/kubernetes/kubelet/kubelet-config.json"},
		// bottlerocket-os/bottlerocket: packages/kubernetes-*/kubelet-config is
		// rendered to /etc/kubernetes/kubelet/config.
		{distribution: "Bottlerocket", config: "/etc/kubernetes/kubelet/config"},
		// siderolabs/talos: internal/app/machined/pkg/system/services/kubelet.go.
		{distribution: "Talos", config: "/etc/kubernetes/kubelet.yaml"},
		// openshift/machine-config-operator: templates/worker/01-worker-kubelet;
		// kubeadm keeps a kubeconfig of the same name. Workers have --config-dir.
		{distribution: "OpenShift", marker: "/etc/machine-config-daemon", config: "/etc/kubernetes/kubelet.conf", configDir: "/etc/openshift/kubelet.conf.d"},
		// aquasecurity/kube-bench: docs/platforms on GKE.
		{distribution: "GKE", config: "/home/kubernetes/kubelet-config.yaml"},
		// Azure/AgentBaker: kubeletConfigFilePath.
		{distribution: "AKS", config: "/etc/default/kubeletconfig.json"},
	}
}

// of tells whether a kubelet with these flags is this distribution's.
func (p place) of(h host, k *nodeapi.Kubelet) bool {
	if p.marker != "" && !h.exists(p.marker) {
		return false
	}
	same := func(own, flag string) bool { return own != "" && own == flag }
	return same(p.config, k.Config) || same(p.configDir, k.ConfigDir) || same(p.rootDir, k.RootDir)
}

// left is the kubelet that a distribution's files describe, nil where they are
// not there.
func (h host) left(p place) *Kubelet {
	if p.marker != "" && !h.exists(p.marker) {
		return nil
	}
	if p.rancher != "" {
		return h.rancher(p)
	}
	if p.args != "" {
		return h.snap(p)
	}
	if !h.exists(p.config) {
		return nil
	}
	k := &Kubelet{Distribution: p.distribution, Config: h.path(p.config), RootDir: DefaultRootDir}
	if p.configDir != "" && h.exists(p.configDir) {
		k.ConfigDir = h.path(p.configDir)
	}
	if p.rootDir != "" {
		k.RootDir = p.rootDir
	}
	return k
}

// snap reads a snap's file of flags, one a line, with the variables that snapd
// sets.
func (h host) snap(p place) *Kubelet {
	text, ok := h.read(p.args)
	if !ok {
		return nil
	}
	flags := expand(words(uncommented(text)), map[string]string{
		"SNAP_DATA": path.Join(p.snap, "current"), "SNAP_COMMON": path.Join(p.snap, "common"),
	})
	k := h.started(nodeapi.ParseKubelet(flags), p.args)
	k.Distribution = p.distribution
	return k
}

// uncommented leaves lines out that are comments.
func uncommented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}
