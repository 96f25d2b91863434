package cli

import (
	"strings"
	"testing"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/manifest"
)

// TestKubeletList tells a kubelet's answer to GET /pods from what looks like it.
func TestKubeletList(t *testing.T) {
	pod := func(name, node, source string) string {
		if source != "" {
			source = `"annotations": {"kubernetes.io/config.source": "` + source + `"}, `
		}
		return `{"metadata": {` + source + `"name": "` + name + `"}, "spec": {"nodeName": "` + node + `", "containers": [{"name": "c", "image": "x"}]}}`
	}
	list := func(kind, metadata string, pods ...string) string {
		return `{"kind": "` + kind + `", "apiVersion": "v1", "metadata": ` + metadata + `, "items": [` + strings.Join(pods, ", ") + `]}`
	}
	api, file := pod("a", "n1", "api"), pod("b", "n1", "file")
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"a kubelet's", list("PodList", "{}", api, file), true},
		{"one pod", list("PodList", "{}", file), true},
		{"beside a manifest", list("PodList", "{}", api) + "\n---\nkind: Pod\napiVersion: v1\nmetadata: {name: x}\nspec: {containers: [{name: c, image: x}]}", true},
		{"empty: nothing says whose", list("PodList", "{}"), false},
		{"an API server's", list("PodList", `{"resourceVersion": "4711"}`, api, file), false},
		{"a page of an API server's", list("PodList", `{"continue": "x"}`, api), false},
		{"kubectl's", list("List", `{"resourceVersion": ""}`, api, file), false},
		{"of two nodes", list("PodList", "{}", api, pod("b", "n2", "api")), false},
		{"a pod without a node", list("PodList", "{}", api, pod("b", "", "api")), false},
		{"a pod that no kubelet took", list("PodList", "{}", api, pod("b", "n1", "")), false},
		{"a pod that could not be read", list("PodList", "{}", api, `{"metadata": {"name": 5}}`), false},
		{"two lists", list("PodList", "{}", api) + "\n---\n" + list("PodList", "{}", file), false},
		{"a pod", strings.Replace(api, "{", `{"kind": "Pod", "apiVersion": "v1", `, 1), false},
	} {
		in := manifest.Read([]string{"-"}, manifest.Options{Stdin: strings.NewReader(tt.text)})
		if got := kubeletList(in.Workloads) != nil; got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A list that lacks a pod that is there is not all, whatever it looks like.
func TestConfirm(t *testing.T) {
	tree := cgroups.Tree{Cgroups: []cgroups.Cgroup{{Path: "/kubepods", Level: cgroups.LevelNode}}}
	in := manifest.Read([]string{"-"}, manifest.Options{Stdin: strings.NewReader(`{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "a", "uid": "u1"}}]}`)})
	for _, tt := range []struct {
		host made
		want string
	}{
		{made{"/kubepods/podu1": nil}, ""},
		{made{"/kubepods/podu1": nil, "/kubepods/podu2": nil}, "lacks the pod of cgroup /kubepods/podu2"},
	} {
		w := &wanted{tree: tree, in: &podInput{Input: in}}
		if err := w.confirm(tt.host); err != nil || !strings.Contains(w.incomplete, tt.want) || (w.incomplete == "") != (tt.want == "") {
			t.Errorf("%v: %q, %v; want %q", tt.host, w.incomplete, err, tt.want)
		}
	}
}
