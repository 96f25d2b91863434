package nodeapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFindKubelet(t *testing.T) {
	root := t.TempDir()
	process := func(pid string, args ...string) {
		t.Helper()
		dir := filepath.Join(root, "proc", pid)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.Join(args, "\x00")+"\x00"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if k, err := FindKubelet(root); k != nil || err != nil {
		t.Errorf("without /proc: %v, %v", k, err)
	}
	process("1", "/sbin/init")
	process("8", "/usr/bin/kubelet-helper", "--config", "x")
	process("self", "/usr/bin/kubelet")
	if err := os.Mkdir(filepath.Join(root, "proc", "9"), 0o700); err != nil {
		t.Fatal(err)
	}
	process("10", "/usr/local/bin/k3s", "kubectl", "get", "pods")
	if k, err := FindKubelet(root); err != nil || k != nil {
		t.Errorf("without a kubelet: %v, %v", k, err)
	}
	for _, embedded := range [][]string{{"/usr/local/bin/k3s", "agent"}, {"k3s", "server"}, {"/snap/microk8s/1/kubelite"}} {
		process("11", embedded...)
		if k, err := FindKubelet(root); err != nil || k == nil || k.PID != 11 {
			t.Errorf("%s holds a kubelet: %v, %v", embedded, k, err)
		}
	}
	process("11", "sleep")
	process("42", "/usr/bin/kubelet", "--config=/var/lib/kubelet/config.yaml", "--cgroup-root", "/kube", "--hostname-override=node-1", "--v=2")
	k, err := FindKubelet(root)
	if err != nil {
		t.Fatal(err)
	}
	want := &Kubelet{
		PID: 42, CgroupRoot: "/kube", Config: "/var/lib/kubelet/config.yaml", Hostname: "node-1",
		Args: []string{"--config=/var/lib/kubelet/config.yaml", "--cgroup-root", "/kube", "--hostname-override=node-1", "--v=2"},
	}
	if diff := cmp.Diff(want, k); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestKubeletWithin holds which programs run a kubelet as a part of theirs.
func TestKubeletWithin(t *testing.T) {
	for line, want := range map[string]*Kubelet{
		"/usr/local/bin/k3s server":            {Within: "k3s"},
		"/usr/local/bin/k3s\x00agent":          {Within: "k3s"},
		"/usr/local/bin/k3s\x00kubectl":        nil,
		"/snap/microk8s/1/kubelite\x00--x=y":   {Within: "kubelite"},
		"/usr/local/bin/rke2 server":           nil,
		"/usr/bin/hyperkube\x00kubelet\x00--v": {Args: []string{"--v"}},
		"":                                     nil,
	} {
		if diff := cmp.Diff(want, parseKubelet(strings.Split(line, "\x00"))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	}
}
