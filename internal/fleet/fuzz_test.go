package fleet

import (
	"bytes"
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// FuzzRead reads any text, and answers for what it holds: every object is
// counted once, and a node without a Node object has an answer too.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", nodeN, `{"items":[` + nodeN + `,` + podA + `]}`, `[` + podA, `{"items":{}}`, `{"items":[{"items":[` + podA + `],"kind":"List"}]}`,
		`{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi"}}}]}}`,
		`{"kind":"Node","metadata":{"name":"n"},"status":{"capacity":{"cpu":"9223372036854775807","memory":"-1"},"allocatable":{"cpu":"0"},"nodeInfo":{"kubeletVersion":"v1.36.0"}}}`,
		`{"kind":"Pod","metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c"}]},"status":{"qosClass":"Guaranteed","nodeAllocatableResourceClaimStatuses":[{"resourceClaimName":"r","containers":["c"],"mapping":[{"name":"cpu","quantity":"2"}]}]}}` +
			nodeText("n", "v1.37.2", allOf),
		"items:\n- kind: Node\n  metadata: {name: w}\nkind: List\n", "---\n- a\n---\n", `{"kind":"NodeResourceTopology","zones":[{"name":"node-0"}]}`,
	} {
		f.Add([]byte(seed))
	}
	// All that stands beside a stream, with a gate that no default has on: pods
	// before their node are summed up by other rules than those after it.
	m, err := machine.ParseSynthetic("sockets=1,numa=2,cores=8,threads=2,memory=64Gi")
	if err != nil {
		f.Fatal(err)
	}
	config := reserving(f, "cpuManagerPolicy: static\nfeatureGates: {DRANodeAllocatableResources: true}\n")
	all := Options{
		Config: with(config), Candidate: func(string, kubelet.Minor) (*kubelet.Config, error) { return config, nil },
		HasTopology: func(string) bool { return true },
		Topology:    func(context.Context, string) (*Topology, error) { return &Topology{Machine: m}, nil },
		FitPod:      corev1.ResourceList{"cpu": *quantityOf("cpu", 4000), "memory": *quantityOf("memory", 1<<30)},
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, o := range []Options{{}, all} {
			readAny(t, o, text)
		}
	})
}

func readAny(t *testing.T, o Options, text []byte) {
	t.Helper()
	c := New(o)
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
}
