package kubelet

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const head = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"

// write puts files into a new folder and returns it.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadEviction(t *testing.T) {
	defaults := DefaultEvictionHard()
	with := func(signal, value string) map[string]string {
		m := maps.Clone(defaults)
		m[signal] = value
		return m
	}
	for _, tt := range []struct {
		name, base string
		dropins    map[string]string
		want       map[string]string
	}{
		{name: "absent", base: head, want: defaults},
		{name: "null", base: head + "evictionHard: null\n", want: defaults},
		{name: "empty", base: head + "evictionHard: {}\n", want: map[string]string{}},
		{name: "one key drops the defaults", base: head + "evictionHard: {memory.available: 1Gi}\n", want: map[string]string{"memory.available": "1Gi"}},
		{name: "merge the defaults", base: head + "evictionHard: {memory.available: 1Gi}\nmergeDefaultEvictionSettings: true\n", want: with("memory.available", "1Gi")},
		{name: "a drop-in merges into the defaults", base: head, dropins: map[string]string{"1.conf": "evictionHard: {memory.available: 1Gi}\n"}, want: with("memory.available", "1Gi")},
		{name: "null in a drop-in leaves none", base: head, dropins: map[string]string{"1.conf": "evictionHard: null\n"}, want: nil},
		{
			name: "merging asked for in a drop-in comes too late", base: head + "evictionHard: {memory.available: 1Gi}\n",
			dropins: map[string]string{"1.conf": "mergeDefaultEvictionSettings: true\n"}, want: map[string]string{"memory.available": "1Gi"},
		},
		{name: "a running kubelet's answer", base: `{"kubeletconfig":{"maxPods":50}}`, want: nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{"config.yaml": tt.base}
			for name, content := range tt.dropins {
				files["conf.d/"+name] = head + content
			}
			dir := write(t, files)
			o := LoadOptions{File: filepath.Join(dir, "config.yaml")}
			if tt.dropins != nil {
				o.Dir = filepath.Join(dir, "conf.d")
			}
			c, err := Load(o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, c.EvictionHard); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadDropins(t *testing.T) {
	dir := write(t, map[string]string{
		"config.yaml":           head + "maxPods: 1\nenforceNodeAllocatable: []\nsystemReserved: {cpu: \"1\", memory: 1Gi}\npodLogsDir: logs\n",
		"conf.d/10.conf":        head + "maxPods: 10\nsystemReserved: {memory: null, pid: \"100\"}\n",
		"conf.d/9.conf":         head + "maxPods: 9\ncgroupDriver: systemd\n",
		"conf.d/readme.txt":     "not a drop-in",
		"conf.d/sub/00.conf":    head + "cgroupDriver: \"\"\nfeatureGates: {QOSReserved: true, MemoryQoS: false}\n",
		"conf.d/sub/nested.txt": "",
	})
	c, err := Load(LoadOptions{File: filepath.Join(dir, "config.yaml"), Dir: filepath.Join(dir, "conf.d"), Gates: map[string]bool{"MemoryQoS": true}})
	if err != nil {
		t.Fatal(err)
	}
	got := []any{c.MaxPods, c.CgroupDriver, c.EnforceNodeAllocatable, c.SystemReserved, c.PodLogsDir, c.Gates.Enabled("QOSReserved"), c.Gates.Enabled("MemoryQoS"), len(c.Warnings)}
	want := []any{
		// 9.conf sorts after 10.conf; the folder sub comes last.
		int32(9), "cgroupfs",
		// The empty list of the main file is lost in the merge.
		[]string{"pods"},
		map[string]string{"cpu": "1", "pid": "100"},
		filepath.Join(dir, "logs"), true, true,
		// Two files skipped, and the lost list.
		3,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	fields := slices.Sorted(maps.Keys(c.Written))
	if diff := cmp.Diff([]string{"apiVersion", "cgroupDriver", "enforceNodeAllocatable", "featureGates", "kind", "maxPods", "podLogsDir", "systemReserved"}, fields); diff != "" {
		t.Errorf("written (-want +got):\n%s", diff)
	}
}

func TestDropinWarnings(t *testing.T) {
	got := dropinWarnings("1.conf", []byte(`{"evictionHard":null,"mergeDefaultEvictionSettings":true}`))
	if len(got) != 2 || len(dropinWarnings("1.conf", []byte(`{"evictionHard":{},"mergeDefaultEvictionSettings":false}`))) > 0 {
		t.Errorf("warnings %q", got)
	}
}

func TestLoadFormsOfAFile(t *testing.T) {
	other := "apiVersion: v1\nkind: ConfigMap\n---\n"
	for name, tt := range map[string]struct {
		content  string
		maxPods  int32
		refused  string
		warnings []string
	}{
		"json":                  {content: `{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","maxPods":7}`, maxPods: 7},
		"byte order mark, crlf": {content: "\ufeff" + strings.ReplaceAll(head, "\n", "\r\n") + "maxPods: 7\r\n", maxPods: 7},
		"misspelt field":        {content: head + "maxPodz: 7\n", maxPods: 110, warnings: []string{`strict decoding error: unknown field "maxPodz"`}},
		"duplicate key":         {content: head + "maxPods: 6\nmaxPods: 7\n", maxPods: 7, warnings: []string{"strict decoding error: yaml: unmarshal errors:\n  line 4: key \"maxPods\" already set in map"}},
		"configz":               {content: `{"kubeletconfig":{"maxPods":7}}`, maxPods: 7},
		"first of several":      {content: head + "maxPods: 7\n---\n" + head + "maxPods: 8\n", maxPods: 7, warnings: []string{"the kubelet reads the first of 2 documents only"}},
		"among others": {
			content: other + head + "maxPods: 7\n", maxPods: 7,
			refused:  `error failed to decode: no kind "ConfigMap" is registered for version "v1"`,
			warnings: []string{`document 2 is used, but the kubelet reads the first document of a file`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Load(LoadOptions{File: "config", Data: []byte(tt.content)})
			if err != nil {
				t.Fatal(err)
			}
			if c.MaxPods != tt.maxPods {
				t.Errorf("maxPods %d, want %d", c.MaxPods, tt.maxPods)
			}
			if len(c.Warnings) != len(tt.warnings) || len(tt.warnings) > 0 && !strings.HasPrefix(c.Warnings[0], tt.warnings[0]) {
				t.Errorf("warnings %q, want %q", c.Warnings, tt.warnings)
			}
			if got := len(c.Refused); got > 0 != (tt.refused != "") || got > 0 && !strings.Contains(c.Refused[0].Message, tt.refused) {
				t.Errorf("refused %v, want %q", c.Refused, tt.refused)
			}
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	dir := write(t, map[string]string{
		"ok.yaml":           head,
		"empty.yaml":        "",
		"type.yaml":         head + "maxPods: many\n",
		"gate.yaml":         head + "featureGates: {NoSuchGate: true}\n",
		"alpha.yaml":        "apiVersion: kubelet.config.k8s.io/v1alpha1\nkind: KubeletConfiguration\n",
		"noversion.yaml":    "kind: KubeletConfiguration\n",
		"credentials.yaml":  "apiVersion: kubelet.config.k8s.io/v1\nkind: CredentialProviderConfig\n",
		"nokind.d/1.conf":   `{"maxPods":50}`,
		"other.d/1.conf":    "apiVersion: v1\nkind: ConfigMap\n",
		"dup.d/1.conf":      head + "maxPods: 1\nmaxPods: 2\n",
		"type.d/1.conf":     head + "maxPods: many\n",
		"gate.d/1.conf":     head + "featureGates: {NodeSwap: false}\n",
		"lonely.d/1.conf":   "",
		"scalar.d/1.conf":   "just text\n",
		"number.yaml":       "12\n",
		"binary.yaml":       "\x00\x01\x02",
		"bomb.yaml":         head + bomb(),
		"deep.yaml":         strings.Repeat("[", 100000),
		"conf/ignored.yaml": "",
	})
	for _, tt := range []struct{ file, dir, want string }{
		{"missing.yaml", "", "no such file or directory"},
		{"empty.yaml", "", `was empty`},
		{"type.yaml", "", "error failed to decode: json: cannot unmarshal string into Go struct field KubeletConfiguration.maxPods of type int32"},
		{"gate.yaml", "", "failed to merge global and in-flight KubeletConfiguration while setting defaults, error: unrecognized feature gate: NoSuchGate"},
		{"alpha.yaml", "", `no kind "KubeletConfiguration" is registered for version "kubelet.config.k8s.io/v1alpha1" in scheme`},
		{"noversion.yaml", "", `Object 'apiVersion' is missing in 'kind: KubeletConfiguration`},
		{"credentials.yaml", "", "failed to cast object to KubeletConfiguration, unexpected type: kubelet.config.k8s.io/v1, Kind=CredentialProviderConfig"},
		{"ok.yaml", "nokind.d", `1.conf, error: Object 'Kind' is missing in '{"maxPods":50}'`},
		{"ok.yaml", "other.d", "1.conf, unknown apiVersion/kind: /v1, Kind=ConfigMap"},
		{"ok.yaml", "dup.d", `already set in map`},
		{"ok.yaml", "type.d", "failed to unmarshal merged JSON into kubelet configuration"},
		{"ok.yaml", "gate.d", "cannot set feature gate NodeSwap to false, feature is locked to true"},
		{"ok.yaml", "lonely.d", "was empty"},
		{"ok.yaml", "scalar.d", "failed to load kubelet dropin file"},
		{"ok.yaml", "missing.d", "failed to walk through kubelet dropin directory"},
		{"number.yaml", "", "failed to decode"},
		{"binary.yaml", "", "failed to decode"},
		{"bomb.yaml", "", "document contains excessive aliasing"},
		{"deep.yaml", "", "failed to decode"},
		{"conf", "", "is a directory"},
	} {
		o := LoadOptions{File: filepath.Join(dir, tt.file)}
		if tt.dir != "" {
			o.Dir = filepath.Join(dir, tt.dir)
		}
		if _, err := Load(o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: error %q, want %q in it", tt.file, tt.dir, errText(err), tt.want)
		}
	}
}

// bomb is a document of ten lines that means a billion values.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 10; i++ {
		n, p := string(rune('0'+i)), string(rune('0'+i-1))
		b.WriteString("a" + n + ": &a" + n + " [" + strings.TrimSuffix(strings.Repeat("*a"+p+",", 10), ",") + "]\n")
	}
	return b.String()
}

func TestLoadGateOfFlag(t *testing.T) {
	_, err := Load(LoadOptions{Gates: map[string]bool{"NoSuchGate": true}})
	want := "failed to set feature gates from initial flags-based config: unrecognized feature gate: NoSuchGate"
	if errText(err) != want {
		t.Errorf("error %q, want %q", errText(err), want)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(head + "evictionHard: {memory.available: 5%}\n"))
	f.Add([]byte(`{"kubeletconfig":{"maxPods":7}}`))
	f.Add([]byte("kind: Pod\n---\n" + head))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Load(LoadOptions{File: "config", Data: data})
		if err == nil && (c.CgroupsPerQOS == nil || c.MaxPods == 0) {
			t.Error("loaded without defaults")
		}
	})
}

func FuzzMergeDropin(f *testing.F) {
	f.Add([]byte(`{"evictionHard":{"memory.available":"1Gi"}}`), []byte(`{"evictionHard":null,"systemReserved":{"cpu":"1"}}`))
	f.Fuzz(func(t *testing.T, base, patch []byte) {
		merged, err := mergeDropin(base, patch)
		if err != nil {
			return
		}
		// A patch applied twice changes nothing more.
		again, err := mergeDropin(merged, patch)
		if err != nil {
			t.Fatalf("the second merge: %v", err)
		}
		if string(again) != string(merged) {
			t.Errorf("once %s, twice %s", merged, again)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load(LoadOptions{File: "../../testdata/node/kubelet.yaml"}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLoadLosesSplitStream(t *testing.T) {
	c, err := Load(LoadOptions{File: "config", Data: []byte(head + "logging: {options: {text: {splitStream: true}, json: {splitStream: true}}}\n")})
	if err != nil {
		t.Fatal(err)
	}
	if o := c.Logging.Options; o.Text.SplitStream || o.JSON.SplitStream {
		t.Error("splitStream of the file survives, other than in the kubelet")
	}
	if w := c.Warnings; len(w) != 2 || !strings.Contains(w[0], "text") || !strings.Contains(w[1], "json") {
		t.Errorf("warnings %q, want one for each format, text first", w)
	}
}
