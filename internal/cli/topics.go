package cli

import "github.com/spf13/cobra"

// topics are help pages without a command: kqos help exit-codes.
func topics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "exit-codes",
			Short: "What the exit codes mean",
			Long: `Every command ends with one of the exit codes below. 'apply', also with
--dry-run, ends with 0 when done and 2 when any operation failed; 'diff' is the
one that ends with 1 when something differs. Bad flags are always 2. With
several inputs all good ones are reported, then all errors, and the code is 2.`,
		},
		{
			Use:   "node",
			Short: "Where the node's configuration is found when none is named",
			Long: `Without --config and --topology a command is about this host, or the one below
--host-root (a folder, or an archive of 'kqos collect'). The configuration is
then that of its kubelet: the files and flags on the command line of the one that
runs, else of the one that kubelet.service would start with its drop-ins and
environment files, else what a distribution keeps at its place:

  kubeadm, kind, minikube  /var/lib/kubelet/config.yaml
  k3s, RKE2                /var/lib/rancher/{k3s,rke2}/agent/etc/kubelet.conf.d, and the
                           kubelet-arg of /etc/rancher/{k3s,rke2}/config.yaml and its unit
  k0s                      /var/lib/k0s/kubelet-config.yaml
  MicroK8s                 /var/snap/microk8s/current/args/kubelet
  Canonical Kubernetes     /var/snap/k8s/common/args/kubelet
  EKS                      /etc/kubernetes/kubelet/config.json and config.json.d, or
                           kubelet-config.json
  Bottlerocket             /etc/kubernetes/kubelet/config
  Talos                    /etc/kubernetes/kubelet.yaml
  OpenShift                /etc/kubernetes/kubelet.conf and /etc/openshift/kubelet.conf.d
  GKE                      /home/kubernetes/kubelet-config.yaml
  AKS                      /etc/default/kubeletconfig.json

Flags of the kubelet win over its files, as they do there. What was used stands
on stderr; -q leaves that out. --config names another configuration, --config=
(empty) takes the kubelet's defaults. With --topology, or a Machine among the
inputs, nothing is taken from this host.`,
		},
		{
			Use:   "formats",
			Short: "What -o prints",
			Long: `-o table           columns for people (the default)
-o wide            the same with all columns
-o csv             all columns, comma separated (classify, allocatable, inspect)
-o name            one name a line
-o json, yaml      the whole result: one object with apiVersion and kind
-o kyaml           the same as KYAML
-o jsonpath={.items[*].qosClass}
-o go-template='{{range .items}}{{.name}}{{"\n"}}{{end}}'
-o custom-columns=NAME:.name,CLASS:.qosClass
-o jsonpath-file=FILE, go-template-file=FILE, custom-columns-file=FILE

Fields of the object are added, never renamed. Quantities are Kubernetes
quantities; in Machine and Simulation memory is a number of bytes.`,
		},
	}
}
