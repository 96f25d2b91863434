package fleet

import (
	"bytes"
	"testing"
)

// FuzzRead reads any text, and answers for what it holds: every object is
// counted once, and a node without a Node object has an answer too.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", nodeN, `{"items":[` + nodeN + `,` + podA + `]}`, `[` + podA, `{"items":{}}`, `{"items":[{"items":[` + podA + `],"kind":"List"}]}`,
		`{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}]}}`,
		`{"kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"9223372036854775807","memory":"-1"},"allocatable":{"cpu":"0"},"nodeInfo":{"kubeletVersion":"v1.36.0"}}}`,
		"items:\n- kind: Node\n  metadata: {name: w}\nkind: List\n", "---\n- a\n---\n", `{"kind":"NodeResourceTopology","zones":[{"name":"node-0"}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c := New(Options{})
		// A broken stream is an error, and what came before counts.
		_ = c.Read(t.Context(), bytes.NewReader(text))
		r := c.Report(t.Context())
		if len(r.Nodes) < r.Input.Nodes {
			t.Errorf("%d Nodes read, %d told", r.Input.Nodes, len(r.Nodes))
		}
		running := r.Input.Pods - r.Input.Unscheduled - r.Input.Ended
		for _, n := range r.Nodes {
			running -= n.Pods
			if n.Placement.Answer == "" {
				t.Errorf("node %s has no answer on placement", n.Name)
			}
		}
		if running != 0 {
			t.Errorf("%d pods are on no node", running)
		}
	})
}
