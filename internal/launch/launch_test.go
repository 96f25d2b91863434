package launch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const configText = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

// tree writes files, named by their paths on the host, below a new root.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/cmdline") {
			text = strings.ReplaceAll(text, " ", "\x00") + "\x00"
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const kubeadmDropin = `[Service]
Environment="KUBELET_KUBECONFIG_ARGS=--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf --kubeconfig=/etc/kubernetes/kubelet.conf"
Environment="KUBELET_CONFIG_ARGS=--config=/var/lib/kubelet/config.yaml"
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
EnvironmentFile=-/etc/default/kubelet
ExecStart=
ExecStart=/usr/bin/kubelet $KUBELET_KUBECONFIG_ARGS $KUBELET_CONFIG_ARGS $KUBELET_KUBEADM_ARGS $KUBELET_EXTRA_ARGS
`

// TestFind has a small tree for each distribution. Config and ConfigDir are
// compared below the root.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name  string
		files map[string]string
		want  *Kubelet
	}{
		{name: "nothing", files: map[string]string{"/etc/hostname": "x"}},
		{
			name: "kubeadm, stopped",
			files: map[string]string{
				"/lib/systemd/system/kubelet.service":                       "[Service]\nExecStart=/usr/bin/kubelet\nRestart=always\n",
				"/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf": kubeadmDropin,
				"/var/lib/kubelet/kubeadm-flags.env":                        `KUBELET_KUBEADM_ARGS="--container-runtime-endpoint=unix:///run/containerd/containerd.sock --pod-infra-container-image=pause:3.10"` + "\n",
				"/etc/default/kubelet":                                      "# ours\nKUBELET_EXTRA_ARGS='--max-pods=20 --system-reserved=cpu=1'\n",
				"/var/lib/kubelet/config.yaml":                              configText,
			},
			want: &Kubelet{
				Distribution: "kubeadm", Config: "/var/lib/kubelet/config.yaml", RootDir: DefaultRootDir,
				Flags: []string{
					"--bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf", "--kubeconfig=/etc/kubernetes/kubelet.conf", "--config=/var/lib/kubelet/config.yaml",
					"--container-runtime-endpoint=unix:///run/containerd/containerd.sock", "--pod-infra-container-image=pause:3.10", "--max-pods=20", "--system-reserved=cpu=1",
				},
				From: []string{"/lib/systemd/system/kubelet.service", "/var/lib/kubelet/kubeadm-flags.env", "/etc/default/kubelet", "/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf"},
			},
		},
		{
			name:  "kubeadm, running",
			files: map[string]string{"/proc/42/cmdline": "/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml --max-pods 30", "/var/lib/kubelet/config.yaml": configText},
			want: &Kubelet{
				Distribution: "kubeadm", PID: 42, Config: "/var/lib/kubelet/config.yaml", RootDir: DefaultRootDir,
				Flags: []string{"--config=/var/lib/kubelet/config.yaml", "--max-pods", "30"}, From: []string{"/proc/42/cmdline"},
			},
		},
		{
			name: "kubeadm installed, no node yet",
			files: map[string]string{
				"/lib/systemd/system/kubelet.service":                       "[Service]\nExecStart=/usr/bin/kubelet\n",
				"/usr/lib/systemd/system/kubelet.service.d/10-kubeadm.conf": kubeadmDropin,
			},
		},
		{
			name:  "kind",
			files: map[string]string{"/kind/kubeadm.conf": "", "/proc/9/cmdline": "/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml --cgroup-root=/kubelet", "/var/lib/kubelet/config.yaml": configText},
			want: &Kubelet{
				Distribution: "kind", PID: 9, Config: "/var/lib/kubelet/config.yaml", RootDir: DefaultRootDir,
				Flags: []string{"--config=/var/lib/kubelet/config.yaml", "--cgroup-root=/kubelet"}, From: []string{"/proc/9/cmdline"},
			},
		},
		{
			name:  "minikube",
			files: map[string]string{"/var/lib/minikube/certs/ca.crt": "", "/var/lib/kubelet/config.yaml": configText},
			want:  &Kubelet{Distribution: "minikube", Config: "/var/lib/kubelet/config.yaml", RootDir: DefaultRootDir},
		},
		{
			name: "k3s, running",
			files: map[string]string{
				"/proc/7/cmdline": "/usr/local/bin/k3s\tserver", "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d/00-k3s-defaults.conf": configText,
				"/etc/rancher/k3s/config.yaml":            "token: x\nkubelet-arg: [max-pods=99]\n",
				"/etc/rancher/k3s/config.yaml.d/50.yaml":  "kubelet-arg+: system-reserved=cpu=1\n",
				"/etc/systemd/system/k3s.service":         "[Service]\nExecStart=/usr/local/bin/k3s \\\n    server \\\n\t'--kubelet-arg' \\\n\t'kube-reserved=cpu=2'\n",
				"/etc/rancher/k3s/config.yaml.d/60-x.yml": "node-label: [a=b]\n",
			},
			want: &Kubelet{
				Distribution: "k3s", PID: 7, ConfigDir: "/var/lib/rancher/k3s/agent/etc/kubelet.conf.d", RootDir: DefaultRootDir,
				Flags: []string{"--config-dir=/var/lib/rancher/k3s/agent/etc/kubelet.conf.d", "--max-pods=99", "--system-reserved=cpu=1", "--kube-reserved=cpu=2"},
				From:  []string{"/etc/rancher/k3s/config.yaml", "/etc/rancher/k3s/config.yaml.d/50.yaml", "/etc/systemd/system/k3s.service"},
			},
		},
		{
			name: "RKE2, stopped, elsewhere",
			files: map[string]string{
				"/etc/rancher/rke2/config.yaml":                "data-dir: /data/rke2\n",
				"/data/rke2/agent/etc/kubelet.conf.d/00.conf":  configText,
				"/etc/rancher/rke2/config.yaml.d/10-bad.yaml":  "a: [\n",
				"/usr/local/lib/systemd/system/rke2-x.service": "",
			},
			want: &Kubelet{
				Distribution: "RKE2", ConfigDir: "/data/rke2/agent/etc/kubelet.conf.d", RootDir: DefaultRootDir,
				Flags: []string{"--config-dir=/data/rke2/agent/etc/kubelet.conf.d"}, From: []string{"/etc/rancher/rke2/config.yaml"},
			},
		},
		{
			name:  "k0s",
			files: map[string]string{"/var/lib/k0s/kubelet-config.yaml": configText},
			want:  &Kubelet{Distribution: "k0s", Config: "/var/lib/k0s/kubelet-config.yaml", RootDir: "/var/lib/k0s/kubelet"},
		},
		{
			name: "MicroK8s, running",
			files: map[string]string{
				"/proc/5/cmdline":                         "/snap/microk8s/1/kubelite --kubelet-args-file=x",
				"/var/snap/microk8s/current/args/kubelet": "--root-dir=${SNAP_COMMON}/var/lib/kubelet\n# --max-pods=1\n--eviction-hard=\"memory.available<100Mi,nodefs.available<1Gi\"\n",
			},
			want: &Kubelet{
				Distribution: "MicroK8s", PID: 5, RootDir: "/var/snap/microk8s/common/var/lib/kubelet",
				Flags: []string{"--root-dir=/var/snap/microk8s/common/var/lib/kubelet", "--eviction-hard=memory.available<100Mi,nodefs.available<1Gi"},
				From:  []string{"/var/snap/microk8s/current/args/kubelet"},
			},
		},
		{
			name: "EKS, AL2023",
			files: map[string]string{
				"/etc/systemd/system/kubelet.service":                   "[Service]\nEnvironmentFile=/etc/eks/kubelet/environment\nExecStart=/usr/bin/kubelet $NODEADM_KUBELET_ARGS\n",
				"/etc/eks/kubelet/environment":                          "NODEADM_KUBELET_ARGS=\"--config=/etc/kubernetes/kubelet/config.json --config-dir=/etc/kubernetes/kubelet/config.json.d\"\n",
				"/etc/kubernetes/kubelet/config.json":                   "{}",
				"/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf": "{}",
			},
			want: &Kubelet{
				Distribution: "EKS", Config: "/etc/kubernetes/kubelet/config.json", ConfigDir: "/etc/kubernetes/kubelet/config.json.d", RootDir: DefaultRootDir,
				Flags: []string{"--config=/etc/kubernetes/kubelet/config.json", "--config-dir=/etc/kubernetes/kubelet/config.json.d"},
				From:  []string{"/etc/eks/kubelet/environment", "/etc/systemd/system/kubelet.service"},
			},
		},
		{
			name:  "EKS, AL2",
			files: map[string]string{"/etc/kubernetes/kubelet/kubelet-config.json": "{}"},
			want:  &Kubelet{Distribution: "EKS", Config: "/etc/kubernetes/kubelet/kubelet-config.json", RootDir: DefaultRootDir},
		},
		{
			name:  "Bottlerocket",
			files: map[string]string{"/etc/kubernetes/kubelet/config": configText},
			want:  &Kubelet{Distribution: "Bottlerocket", Config: "/etc/kubernetes/kubelet/config", RootDir: DefaultRootDir},
		},
		{
			name: "Talos",
			files: map[string]string{
				"/proc/3/cmdline": "/usr/local/bin/kubelet --config=/etc/kubernetes/kubelet.yaml", "/etc/kubernetes/kubelet.yaml": configText,
			},
			want: &Kubelet{
				Distribution: "Talos", PID: 3, Config: "/etc/kubernetes/kubelet.yaml", RootDir: DefaultRootDir,
				Flags: []string{"--config=/etc/kubernetes/kubelet.yaml"}, From: []string{"/proc/3/cmdline"},
			},
		},
		{
			name: "OpenShift",
			files: map[string]string{
				"/etc/machine-config-daemon/currentconfig": "", "/etc/kubernetes/kubelet.conf": configText, "/etc/node-sizing.env": "SYSTEM_RESERVED_CPU=500m\nSYSTEM_RESERVED_MEMORY=1Gi\n",
				"/etc/systemd/system/kubelet.service": "[Service]\nEnvironmentFile=/etc/node-sizing.env\nExecStart=/usr/local/bin/kubenswrapper \\\n    /usr/bin/kubelet \\\n      --config=/etc/kubernetes/kubelet.conf \\\n      --system-reserved=cpu=${SYSTEM_RESERVED_CPU},memory=${SYSTEM_RESERVED_MEMORY}\n",
			},
			want: &Kubelet{
				Distribution: "OpenShift", Config: "/etc/kubernetes/kubelet.conf", RootDir: DefaultRootDir,
				Flags: []string{"--config=/etc/kubernetes/kubelet.conf", "--system-reserved=cpu=500m,memory=1Gi"},
				From:  []string{"/etc/node-sizing.env", "/etc/systemd/system/kubelet.service"},
			},
		},
		{
			name:  "a kubeconfig of kubeadm is no configuration",
			files: map[string]string{"/etc/kubernetes/kubelet.conf": "kind: Config\n"},
		},
		{
			name:  "GKE",
			files: map[string]string{"/home/kubernetes/kubelet-config.yaml": configText},
			want:  &Kubelet{Distribution: "GKE", Config: "/home/kubernetes/kubelet-config.yaml", RootDir: DefaultRootDir},
		},
		{
			name:  "AKS",
			files: map[string]string{"/etc/default/kubeletconfig.json": "{}"},
			want:  &Kubelet{Distribution: "AKS", Config: "/etc/default/kubeletconfig.json", RootDir: DefaultRootDir},
		},
		{
			name:  "a k3s that keeps its files elsewhere",
			files: map[string]string{"/proc/7/cmdline": "k3s agent"},
			want:  &Kubelet{PID: 7, RootDir: DefaultRootDir},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, c.files)
			got := Find(root)
			if got != nil {
				got.Config, got.ConfigDir = strings.TrimPrefix(got.Config, root), strings.TrimPrefix(got.ConfigDir, root)
			}
			if d := cmp.Diff(c.want, got, cmpopts.IgnoreFields(Kubelet{}, "Missing")); d != "" {
				t.Error("-want +got:\n" + d)
			}
		})
	}
}

// TestMissing holds that a file which the kubelet names and nobody can read is
// told.
func TestMissing(t *testing.T) {
	root := tree(t, map[string]string{"/proc/42/cmdline": "kubelet --config=/var/lib/kubelet/config.yaml --config-dir /nowhere"})
	k := Find(root)
	if k == nil || k.Config != "" || k.ConfigDir != "" || len(k.Missing) != 2 || !errors.Is(k.Missing[0], fs.ErrNotExist) {
		t.Fatalf("found %+v", k)
	}
	if want := "/var/lib/kubelet/config.yaml: no such file or directory"; k.Missing[0].Error() != want {
		t.Errorf("message %q, want %q", k.Missing[0], want)
	}
}

// TestEndlessFile has a device where the flags of MicroK8s are.
func TestEndlessFile(t *testing.T) {
	root := tree(t, map[string]string{"/var/snap/microk8s/current/args/other": ""})
	if err := os.Symlink("/dev/zero", filepath.Join(root, "var/snap/microk8s/current/args/kubelet")); err != nil {
		t.Fatal(err)
	}
	if k := Find(root); k != nil {
		t.Errorf("found %+v", k)
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string][]string{
		"":                         nil,
		"a  b\tc\n":                {"a", "b", "c"},
		`--x="a b" 'c d'e f\ g`:    {"--x=a b", "c de", "f g"},
		`"" '' a`:                  {"", "", "a"},
		`a\`:                       {"a"},
		`'open`:                    {"open"},
		`A="b \"c\"" 'single \ x'`: {`A=b "c"`, `single \ x`},
	} {
		if d := cmp.Diff(want, words(line)); d != "" {
			t.Errorf("%q: -want +got:\n%s", line, d)
		}
	}
}

func FuzzWords(f *testing.F) {
	f.Add(`a "b c" 'd' \e ${X} $Y`)
	f.Fuzz(func(t *testing.T, line string) {
		for _, word := range expand(words(line), map[string]string{"Y": "1 2"}) {
			if len(word) > len(line)*4+8 {
				t.Errorf("%q became %q", line, word)
			}
		}
	})
}
