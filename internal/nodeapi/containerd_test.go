package nodeapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func hostFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestContainerdDrivers(t *testing.T) {
	const main = "etc/containerd/config.toml"
	const v2 = "[plugins.'io.containerd.grpc.v1.cri'.containerd]\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes.runc.options]\nSystemdCgroup = "
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  []RuntimeDriver
		fails bool
	}{
		{"none", nil, nil, false},
		{"not said", map[string]string{main: "version = 3\n"}, nil, false},
		{"v1", map[string]string{main: "[plugins.cri.containerd.runtimes.runc.options]\nSystemdCgroup = false\n"}, []RuntimeDriver{{"runc", false, "/" + main}}, false},
		{"v2", map[string]string{main: "version = 2\n" + v2 + "true # yes"}, []RuntimeDriver{{"runc", true, "/" + main}}, false},
		{
			"v3, inline",
			map[string]string{main: "version = 3\nplugins.'io.containerd.cri.v1.runtime'.containerd = { runtimes = { runc = { options = { SystemdCgroup = true } }, kata = {} } }\n"},
			[]RuntimeDriver{{"runc", true, "/" + main}},
			false,
		},
		{"comment", map[string]string{main: "# SystemdCgroup = true\n"}, nil, false},
		{
			"imports win, in their order, and may be circular",
			map[string]string{
				main:                              "version = 2\nimports = [\n  'conf.d/*.toml', # all\n  '/etc/containerd/config.toml',\n]\n" + v2 + "false\n",
				"etc/containerd/conf.d/10-a.toml": "imports = ['../config.toml']\n" + v2 + "false\n",
				"etc/containerd/conf.d/20-b.toml": v2 + "true\n",
				"etc/containerd/conf.d/notes.txt": v2 + "false\n",
			},
			[]RuntimeDriver{{"runc", true, "/etc/containerd/conf.d/20-b.toml"}},
			false,
		},
		{
			"an import is torn",
			map[string]string{main: "imports = ['/etc/containerd/conf.d/*']\n" + v2 + "true", "etc/containerd/conf.d/torn.toml": "version = "},
			[]RuntimeDriver{{"runc", true, "/" + main}},
			true,
		},
		{"k3s", map[string]string{"var/lib/rancher/k3s/agent/etc/containerd/config.toml": v2 + "true"}, []RuntimeDriver{{"runc", true, "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ContainerdDrivers(hostFiles(t, tt.files))
			if len(got) == 0 {
				got = nil
			}
			if d := cmp.Diff(tt.want, got); d != "" || (err != nil) != tt.fails {
				t.Errorf("error %v, -want +got:\n%s", err, d)
			}
		})
	}
}

// FuzzContainerd reduces anything to what holds no secret and reads the same.
func FuzzContainerd(f *testing.F) {
	f.Add("version = 3\nimports=['a']\n[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]\nSystemdCgroup = true\n[plugins.x.registry.auth]\npassword = 'hunter2'")
	f.Fuzz(func(t *testing.T, text string) {
		kept, err := ReduceContainerd([]byte(text))
		if err != nil {
			return
		}
		if strings.Contains(text, "password = 'hunter2'") && strings.Contains(string(kept), "hunter2") {
			t.Errorf("kept %s", kept)
		}
		before, _ := parseContainerd([]byte(text))
		after, err := parseContainerd(kept)
		if err != nil {
			t.Fatalf("reduced to %q: %v", kept, err)
		}
		again, _ := ReduceContainerd(kept)
		if string(again) != string(kept) || len(before.Imports) != len(after.Imports) {
			t.Errorf("reduced to %q and then to %q", kept, again)
		}
	})
}
