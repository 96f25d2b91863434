package fleet

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
)

// nodeText is a Node of 16 CPUs as kubectl prints it.
func nodeText(name, version, allocatable string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q},"status":{
		"capacity":{"cpu":"16","memory":"64Gi","pods":"110"},"allocatable":%s,
		"nodeInfo":{"kubeletVersion":%q,"architecture":"amd64"}}}`, name, allocatable, version)
}

// allOf is an allocatable that keeps 1 CPU and 1124Mi, as reserving does.
const allOf = `{"cpu":"15","memory":"64412Mi","pods":"110"}`

// podText is a pod; the resources are JSON, such as "requests":{…}.
func podText(node, name, age, resources, more string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"d","uid":%q,"creationTimestamp":"2026-01-01T00:00:%sZ"},
		"spec":{"nodeName":%q,"containers":[{"name":"app","resources":{%s}}]%s},"status":{"phase":"Running"}}`, name, "uid-"+name, age, node, resources, more)
}

func whole(cpu int, memory string) string {
	return fmt.Sprintf(`"requests":{"cpu":"%d","memory":%q},"limits":{"cpu":"%[1]d","memory":%[2]q}`, cpu, memory)
}

// reserving is the configuration that allOf comes from.
func reserving(t testing.TB, more string) *kubelet.Config {
	t.Helper()
	c, err := kubelet.Load(kubelet.LoadOptions{File: "kubelet.yaml", Data: []byte(`
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
kubeReserved: {cpu: "1", memory: 1Gi}
` + more)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// with gives every node the same configuration.
func with(c *kubelet.Config) func(string, kubelet.Minor) (*kubelet.Config, string, error) {
	return func(node string, _ kubelet.Minor) (*kubelet.Config, string, error) { return c, node + ".json", nil }
}

// report reads the objects as a row.
func report(t *testing.T, o Options, objects ...string) *Report {
	t.Helper()
	c := New(o)
	if err := c.Read(t.Context(), strings.NewReader(strings.Join(objects, "\n"))); err != nil {
		t.Fatal(err)
	}
	return c.Report(t.Context())
}

// found lists findings as "node id: message".
func found(r *Report) []string {
	var out []string
	for _, f := range r.Findings {
		out = append(out, f.Node+" "+f.ID+": "+f.Message)
	}
	return out
}

func nodeOf(t *testing.T, r *Report, name string) *Node {
	t.Helper()
	at := slices.IndexFunc(r.Nodes, func(n *Node) bool { return n.Name == name })
	if at < 0 {
		t.Fatalf("no node %s", name)
	}
	return r.Nodes[at]
}

// TestSums counts sidecars, overhead, pod-level resources and a resize under way,
// whatever the order of nodes and pods.
func TestSums(t *testing.T) {
	objects := []string{
		nodeText("n", "v1.37.2", allOf),
		podText("n", "sidecar", "01", `"requests":{"cpu":"1"}`, `,"initContainers":[{"name":"side","restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},{"name":"init","resources":{"requests":{"cpu":"2500m"}}}]`),
		podText("n", "level", "02", `"requests":{"cpu":"1"}`, `,"resources":{"requests":{"cpu":"3","memory":"1Gi"},"limits":{"cpu":"3","memory":"1Gi"}}`),
		podText("n", "heavy", "03", `"requests":{"memory":"1Gi"}`, `,"overhead":{"memory":"100Mi"}`),
		podText("n", "none", "04", ``, ``),
		strings.Replace(podText("n", "ended", "05", whole(4, "4Gi"), ``), "Running", "Succeeded", 1),
		strings.Replace(podText("n", "resized", "06", whole(1, "1Gi"), ``), `"phase"`, `"qosClass":"Guaranteed","containerStatuses":[{"name":"app","allocatedResources":{"cpu":"2","memory":"1Gi"},"resources":{"requests":{"cpu":"2","memory":"1Gi"}}}],"phase"`, 1),
		podText("", "waiting", "07", whole(1, "1Gi"), ``),
	}
	want := &Node{
		Name: "n", Pods: 5,
		Classes: map[corev1.PodQOSClass]Class{
			"Guaranteed": {Pods: 2}, "Burstable": {Pods: 2}, "BestEffort": {Pods: 1},
		},
	}
	backwards := slices.Clone(objects)
	slices.Reverse(backwards)
	for _, list := range [][]string{objects, backwards} {
		r := report(t, Options{}, list...)
		n := nodeOf(t, r, "n")
		// init at 2500m beside the sidecar's 2, then level 3, and resized still 2.
		if cpu, memory := n.Requests["cpu"], n.Requests["memory"]; cpu.String() != "9500m" || memory.String() != "3172Mi" {
			t.Errorf("requests are cpu %s, memory %s", &cpu, &memory)
		}
		for class, sum := range want.Classes {
			if n.Classes[class].Pods != sum.Pods {
				t.Errorf("%d %s pods, want %d", n.Classes[class].Pods, class, sum.Pods)
			}
		}
		killed := fmt.Sprint(n.KilledFirst)
		if want := "[{d/none app BestEffort 1000} {d/sidecar app Burstable 999} {d/heavy app Burstable 985}]"; killed != want {
			t.Errorf("killed first %s, want %s", killed, want)
		}
		if r.Input.Unscheduled != 1 || r.Input.Ended != 1 || len(r.Findings) != 0 {
			t.Errorf("%+v, findings %q", r.Input, found(r))
		}
	}
}

// TestAllocatable names the term that makes a node's status differ from its
// configuration.
func TestAllocatable(t *testing.T) {
	for name, c := range map[string]struct {
		allocatable string
		want        []string
	}{
		"as configured": {allOf, nil},
		"a reservation that does not hold": {
			`{"cpu":"16","memory":"64412Mi","pods":"110"}`,
			[]string{"n allocatable-differs: allocatable cpu is 16 by the node's status and 15 by its configuration: the status is as if kubeReserved (1) did not hold"},
		},
		"no threshold": {
			`{"cpu":"15","memory":"63Gi","pods":"110"}`,
			[]string{"n allocatable-differs: allocatable memory is 63Gi by the node's status and 64412Mi by its configuration: the status is as if evictionHard memory.available<100Mi (100Mi) did not hold"},
		},
		"nothing kept": {
			`{"cpu":"15","memory":"64Gi","pods":"110"}`,
			[]string{"n allocatable-differs: allocatable memory is 64Gi by the node's status and 64412Mi by its configuration: the status is as if evictionHard memory.available<100Mi + kubeReserved (1124Mi) did not hold"},
		},
		"more kept, fewer pods": {
			`{"cpu":"14","memory":"64412Mi","pods":"50"}`,
			[]string{
				"n allocatable-differs: allocatable cpu is 14 by the node's status and 15 by its configuration: the status keeps 1 more than the configuration",
				"n allocatable-differs: allocatable pods is 50 by the node's status and 110 by its configuration: the kubelet that reported it had another maxPods or podsPerCore",
			},
		},
	} {
		r := report(t, Options{Config: with(reserving(t, ""))}, nodeText("n", "v1.37.2", c.allocatable))
		if d := cmp.Diff(c.want, found(r)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}

// TestInput names and counts what is wrong with the input, and answers the rest.
func TestInput(t *testing.T) {
	r := report(
		t, Options{},
		nodeText("n", "v1.37.2", allOf), nodeText("n", "v1.35.0", allOf),
		podText("n", "a", "01", whole(1, "1Gi"), ""), podText("n", "a", "01", whole(1, "1Gi"), ""),
		podText("gone", "b", "02", whole(1, "1Gi"), ""),
		`{"kind":"Node","metadata":{"name":"fresh"}}`, `{"kind":"Pod","metadata":{}}`, `{"kind":"Service","metadata":{"name":"s"}}`,
		`{"kind":"Pod","metadata":{"name":"bad","namespace":"d"},"spec":{"nodeName":7}}`,
	)
	want := []Problem{
		{ID: ProblemDuplicate, Count: 2, Examples: []string{"document 2: Node n", "document 4: Pod d/a"}, Lost: true},
		{ID: ProblemNoStatus, Count: 1, Examples: []string{"fresh"}},
		{ID: ProblemNameless, Count: 1, Examples: []string{"document 7: Pod"}, Lost: true},
		{ID: ProblemUnreadable, Count: 1, Examples: []string{"document 9: Pod d/bad: spec.nodeName: a JSON number where string is expected"}, Lost: true},
		{ID: ProblemUnknownNode, Count: 1, Examples: []string{"gone, of 1 pod"}},
	}
	if d := cmp.Diff(want, r.Input.Problems); d != "" {
		t.Error("problems: -want +got:\n" + d)
	}
	if d := cmp.Diff(map[string]int{"Service": 1}, r.Input.PassedOver); d != "" {
		t.Error("passed over: -want +got:\n" + d)
	}
	if d := cmp.Diff([]string{
		"fresh node-without-status: the node reports no capacity and allocatable",
		"gone unknown-node: 1 pod on a node that is not in the input",
	}, found(r)); d != "" {
		t.Error("findings: -want +got:\n" + d)
	}
	if n := nodeOf(t, r, "n"); n.Pods != 1 || n.KubeletVersion != "v1.37.2" {
		t.Errorf("%+v", n)
	}
}

// TestVersions judges nodes of versions that kqos does not know by the nearest,
// and says so.
func TestVersions(t *testing.T) {
	for version, c := range map[string]struct {
		minor      kubelet.Minor
		unverified bool
	}{
		"v1.37.2": {37, false}, "v1.36.4-eks-1a2b3c": {36, false}, "v1.35.0+k3s1": {35, false},
		"v1.34.9": {35, true}, "v1.40.0": {37, true}, "": {37, true}, "v2.0.0": {37, true}, "1.37.2": {37, false},
	} {
		minor, unverified := rules(version)
		if minor != c.minor || (unverified != "") != c.unverified {
			t.Errorf("%q is judged by %s, unverified: %q", version, minor, unverified)
		}
	}
}

// TestGroups names the node that differs from its peers.
func TestGroups(t *testing.T) {
	objects := []string{nodeText("odd", "v1.36.0", `{"cpu":"14","memory":"64412Mi","pods":"110"}`)}
	for i := range 4 {
		// Memory that differs by less than a part of a hundred is the same.
		objects = append(objects, strings.Replace(nodeText(fmt.Sprintf("n%d", i), "v1.37.2", allOf), "64Gi", fmt.Sprintf("%dMi", 65536+i), 1))
	}
	r := report(t, Options{}, objects...)
	if d := cmp.Diff([]string{
		"odd odd-one-out: differs from 4 of its peers (group 1): kept cpu: 2 instead of 1; kubeletVersion: v1.36.0 instead of v1.37.2",
	}, found(r)); d != "" {
		t.Error("-want +got:\n" + d)
	}
	if len(r.Groups) != 2 || len(r.Groups[0].Nodes) != 4 || !r.Groups[1].Odd || nodeOf(t, r, "odd").Group != 2 {
		t.Errorf("%+v", r.Groups)
	}
}

// TestPlacement answers only where configuration and topology are known.
func TestPlacement(t *testing.T) {
	m, err := machine.ParseSynthetic("sockets=1,numa=2,cores=8,threads=2,memory=64Gi")
	if err != nil {
		t.Fatal(err)
	}
	placing := "cpuManagerPolicy: static\ntopologyManagerPolicy: single-numa-node\n"
	topology := func(o Options) Options {
		o.HasTopology = func(string) bool { return true }
		o.Topology = func(context.Context, string) (*Topology, error) { return &Topology{Machine: m, Source: "n.json"}, nil }
		return o
	}
	fit := corev1.ResourceList{"cpu": *quantityOf("cpu", 4000), "memory": *quantityOf("memory", 1<<30)}
	// Of 16 CPUs on two nodes one is reserved: 7 and 8 are left for exclusive use.
	split := []string{nodeText("n", "v1.37.2", allOf), podText("n", "a", "01", whole(5, "1Gi"), ""), podText("n", "b", "02", whole(5, "1Gi"), "")}
	three := []string{
		nodeText("n", "v1.37.2", allOf),
		podText("n", "old", "01", whole(5, "1Gi"), ""), podText("n", "young", "03", whole(6, "1Gi"), ""), podText("n", "mid", "02", whole(2, "1Gi"), ""),
		podText("n", "shared", "04", `"requests":{"cpu":"500m"}`, ""),
	}
	answer := func(o Options, objects []string) string {
		p := nodeOf(t, report(t, o, objects...), "n").Placement
		number := func(n *int) string {
			if n == nil {
				return "-"
			}
			return fmt.Sprint(*n)
		}
		return fmt.Sprintf("%s free %s largest %s stranded %s fits %s refused %v %s", p.Answer, number(p.FreeCPUs), number(p.LargestCPUs), number(p.StrandedCPUs), number(p.Fits), p.Refused, p.Why)
	}
	for name, c := range map[string]struct {
		o    Options
		in   []string
		want string
	}{
		"no configuration": {topology(Options{FitPod: fit}), three, "unknown free - largest - stranded - fits - refused [] the kubelet's configuration is unknown: its /configz answer tells it"},
		"no topology":      {Options{Config: with(reserving(t, placing)), FitPod: fit}, three, "unknown free - largest - stranded - fits - refused [] the node's topology is unknown: a snapshot or a NodeResourceTopology tells it"},
		"no manager":       {Options{Config: with(reserving(t, "")), FitPod: fit}, three, "sums free - largest - stranded - fits 0 refused [] "},
		"full":             {topology(Options{Config: with(reserving(t, placing)), FitPod: fit}), three, "admitted-anew free 2 largest 1 stranded 0 fits 0 refused [] "},
		"shared": {
			topology(Options{Config: with(reserving(t, placing))}),
			[]string{nodeText("n", "v1.37.2", allOf), podText("n", "a", "01", `"requests":{"cpu":"10500m"}`, "")},
			"admitted-anew free 15 largest 4 stranded 0 fits - refused [] ",
		},
		"more requested than there is": {
			topology(Options{Config: with(reserving(t, placing))}),
			[]string{nodeText("n", "v1.37.2", allOf), podText("n", "a", "01", `"requests":{"cpu":"20"}`, "")},
			"admitted-anew free 15 largest 0 stranded 0 fits - refused [] ",
		},
		"scattered": {topology(Options{Config: with(reserving(t, placing))}), split, "admitted-anew free 5 largest 3 stranded 0 fits - refused [] "},
		"stranded":  {topology(Options{Config: with(reserving(t, placing)), FitPod: fit}), split, "admitted-anew free 5 largest 3 stranded 4 fits 0 refused [] "},
		"whole cores": {
			topology(Options{Config: with(reserving(t, placing+`cpuManagerPolicyOptions: {full-pcpus-only: "true"}`))}),
			[]string{nodeText("n", "v1.37.2", allOf), podText("n", "a", "01", whole(2, "1Gi"), "")},
			"admitted-anew free 13 largest 8 stranded 1 fits - refused [] ",
		},
		"refused": {
			topology(Options{Config: with(reserving(t, placing))}), append(three, podText("n", "last", "05", whole(4, "1Gi"), "")),
			"admitted-anew free 2 largest 1 stranded 0 fits - refused [{d/last TopologyAffinityError Resources cannot be allocated with Topology locality}] ",
		},
	} {
		if d := cmp.Diff(c.want, answer(c.o, c.in)); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
}
