package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/archive"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/nodeapi"
)

// host writes files of a node, name by content; a name that ends in a slash is a
// folder.
func host(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(file, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// pack collects and reads the archive again.
func pack(t *testing.T, o Options) (*Collection, []byte, *archive.FS) {
	t.Helper()
	c, err := Read(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	files, err := archive.Read(context.Background(), bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return c, out.Bytes(), files
}

const secret = "hunter2"

// TestNoSecrets puts a password into every place that may hold one.
func TestNoSecrets(t *testing.T) {
	devices, err := (&kubelet.DeviceManagerState{
		Entries:    []kubelet.PodDevices{{PodUID: "a", ContainerName: "c", ResourceName: "r/x", DeviceIDs: kubelet.DevicesPerNUMA{0: {"d"}}, AllocResp: []byte("TOKEN=" + secret)}},
		Registered: map[string][]string{"r/x": {"d"}},
	}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	root := host(t, map[string]string{
		"proc/cmdline":                 "BOOT_IMAGE=/vmlinuz ignition.url=https://u:" + secret + "@h isolcpus=2-3 psi=1\n",
		"proc/7/cmdline":               "/usr/bin/kubelet\x00--config=/etc/k/config.yaml\x00--token=" + secret + "\x00",
		"proc/7/environ":               "PASSWORD=" + secret,
		"etc/containerd/config.toml":   "imports = ['/etc/containerd/conf.d/*.toml']\n[plugins.'io.containerd.grpc.v1.cri'.registry.configs.x.auth]\npassword = \"" + secret + "\"\n",
		"etc/containerd/conf.d/a.toml": "[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]\nBinaryName = '" + secret + "'\nSystemdCgroup = true\n",
		"etc/containerd/conf.d/b.toml": "password = " + secret,
		"etc/docker/daemon.json":       `{"proxies":{"p":"` + secret + `"},"exec-opts":["native.cgroupdriver=systemd"]}`,
		"etc/k/config.yaml":            "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nmaxPods: 9\nstaticPodURLHeader: {Authorization: [" + secret + "]}\n",
		"var/lib/kubelet/device-plugins/kubelet_internal_checkpoint": string(devices),
		"var/lib/kubelet/pods/uid-1/volumes/secret":                  secret,
		"var/lib/kubelet/pki/key.pem":                                secret,
		"var/log/pods/ns_name_uid-1/c/0.log":                         secret,
		"var/log/containers/name_ns_c-abc.log":                       secret,
		"etc/kubernetes/admin.conf":                                  secret,
	})
	c, _, files := pack(t, Options{Root: root, Config: "/etc/k/config.yaml"})
	var names []string
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s holds the secret:\n%s", name, text)
		}
		names = append(names, name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"etc/containerd/conf.d/a.toml", "etc/containerd/config.toml", "etc/docker/daemon.json", "etc/k/config.yaml", "proc/7/cmdline", "proc/cmdline",
		"var/lib/kubelet/device-plugins/kubelet_internal_checkpoint", "var/log/containers/name_ns_c-abc.log",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error("-want +got:\n" + d)
	}
	wantNotes := []string{"/etc/containerd/conf.d/b.toml: left out: it is no TOML, so what it holds can't be cut down", "etc/k/config.yaml: without staticPodURLHeader"}
	if d := cmp.Diff(wantNotes, c.Notes); d != "" {
		t.Error("-want +got:\n" + d)
	}
	for _, folder := range []string{"var/lib/kubelet/pods/uid-1", "var/log/pods/ns_name_uid-1"} {
		if entries, err := fs.ReadDir(files, folder); err != nil || len(entries) > 0 {
			t.Errorf("%s: %v, %d entries: only its name should be there", folder, err, len(entries))
		}
	}
	for name, want := range map[string]string{
		"proc/cmdline": "isolcpus=2-3 psi=1\n", "proc/7/cmdline": "kubelet\x00--config=/etc/k/config.yaml\x00",
		"etc/containerd/conf.d/a.toml": "[plugins]\n[plugins.'io.containerd.grpc.v1.cri']\n[plugins.'io.containerd.grpc.v1.cri'.containerd]\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes]\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc]\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]\nSystemdCgroup = true\n",
	} {
		if got, _ := fs.ReadFile(files, name); string(got) != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestOtherDocuments leaves a configuration out that stands beside a secret.
func TestOtherDocuments(t *testing.T) {
	for name, text := range map[string]string{
		"second": "kind: KubeletConfiguration\n---\nkind: Secret\nstringData: {p: hunter2}\n",
		"inline": "kind: KubeletConfiguration\n--- {kind: Secret}\n",
		"other":  "kind: Secret\nstringData: {p: hunter2}\n",
		"broken": "kind: [\n",
	} {
		t.Run(name, func(t *testing.T) {
			root := host(t, map[string]string{"c.yaml": text, "proc/meminfo": "MemTotal: 1 kB\n"})
			c, _, _ := pack(t, Options{Root: root, Config: "c.yaml"})
			if len(c.Entries) != 1 || len(c.Notes) != 1 {
				t.Errorf("entries %v, notes %v", c.Entries, c.Notes)
			}
		})
	}
}

// TestReproducible packs the same node twice, written in another order.
func TestReproducible(t *testing.T) {
	files := map[string]string{
		"proc/meminfo": "MemTotal: 1 kB\n", "sys/fs/cgroup/kubepods/cpu.weight": "39\n", "sys/fs/cgroup/kubepods/cgroup.procs": "1\n",
		"sys/fs/cgroup/kubepods/secret.txt": "no control file", "sys/fs/cgroup/cgroup.controllers": "cpu\n",
		"var/lib/kubelet/cpu_manager_state": "{}",
	}
	_, first, _ := pack(t, Options{Root: host(t, files)})
	c, second, _ := pack(t, Options{Root: host(t, files)})
	if !bytes.Equal(first, second) {
		t.Error("two archives of the same files differ")
	}
	var names []string
	for _, e := range c.Entries {
		names = append(names, e.Path)
	}
	want := []string{
		"proc/meminfo", "sys/fs/cgroup", "sys/fs/cgroup/cgroup.controllers", "sys/fs/cgroup/kubepods", "sys/fs/cgroup/kubepods/cgroup.procs",
		"sys/fs/cgroup/kubepods/cpu.weight", "var/lib/kubelet/cpu_manager_state",
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Error("-want +got:\n" + d)
	}
}

// What systemd holds of the kubelet's units goes along, without figures that
// differ each time and without units of others.
func TestUnits(t *testing.T) {
	const pod = "kubepods-poda.slice"
	_, _, files := pack(t, Options{Root: host(t, map[string]string{
		"run/systemd/system/": "",
		"sys/fs/cgroup/kubepods.slice/" + pod + "/x.scope/cpu.max": "max 100000\n",
		"sys/fs/cgroup/system.slice/ssh.service/cpu.max":           "max 100000\n",
		// A captured host in place of a systemd that runs.
		nodeapi.UnitsFile: `{
			"` + pod + `": {"name": "` + pod + `", "properties": {"CPUWeight": "39", "CPUUsageNSec": "12345"}, "files": ["/run/systemd/transient/a"]},
			"x.scope": {"name": "x.scope", "properties": {"MemoryMax": "4096"}, "delegated": true},
			"ssh.service": {"name": "ssh.service", "properties": {"TasksMax": "5"}},
			"elsewhere.slice": {"name": "elsewhere.slice", "properties": {"TasksMax": "5"}}
		}`,
	})})
	text, err := files.ReadFile(nodeapi.UnitsFile)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]nodeapi.Unit
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]nodeapi.Unit{
		pod:       {Name: pod, Properties: map[string]string{"CPUWeight": "39"}, Files: []string{"/run/systemd/transient/a"}},
		"x.scope": {Name: "x.scope", Properties: map[string]string{"MemoryMax": "4096"}, Delegated: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
}
