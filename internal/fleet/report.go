package fleet

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/parallel"
	"github.com/kqos/kqos/internal/quantity"
)

// Report is what there is to say of a cluster.
type Report struct {
	// Nodes stand with the worst first.
	Nodes []*Node `json:"nodes"`
	// Groups are nodes of equal configuration and machine, the largest first.
	Groups   []Group   `json:"groups"`
	Findings []Finding `json:"findings"`
	Input    Input     `json:"input"`
}

// Finding is something to be mended.
type Finding struct {
	Node    string `json:"node"`
	ID      string `json:"id"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

// Node is what there is to say of one node.
type Node struct {
	Name           string `json:"name"`
	KubeletVersion string `json:"kubeletVersion,omitempty"`
	// Unverified says why the answers may not be those of the node's kubelet.
	Unverified string `json:"unverified,omitempty"`
	// Group is the number of the node's group, from 1; 0 for none.
	Group int `json:"group"`
	Pods  int `json:"pods"`
	// Classes are the sums of each class that the node has pods of.
	Classes map[corev1.PodQOSClass]Class `json:"classes"`
	// Requests are the sums of all of them, as a scheduler counts: pod-level
	// resources, sidecars, overhead and resizes included.
	Requests corev1.ResourceList `json:"requests"`
	// ExclusiveCPUs are those that a static CPU manager gives to containers.
	ExclusiveCPUs int64               `json:"exclusiveCPUs"`
	Capacity      corev1.ResourceList `json:"capacity"`
	Allocatable   corev1.ResourceList `json:"allocatable"`
	// Config and Topology say what was read; empty for unknown.
	Config   string `json:"config,omitempty"`
	Topology string `json:"topology,omitempty"`
	// Computed is what the configuration leaves of the reported capacity to pods;
	// absent where it is unknown.
	Computed corev1.ResourceList `json:"computed,omitempty"`
	Differs  []Difference        `json:"differs"`
	// KilledFirst are the containers at the top of the kernel's order when memory
	// runs out.
	KilledFirst []Killed   `json:"killedFirst"`
	Placement   Placement  `json:"placement"`
	Candidate   *Candidate `json:"candidate,omitempty"`
	Findings    int        `json:"findings"`
}

// Class sums up the pods of one class.
type Class struct {
	Pods     int                 `json:"pods"`
	Requests corev1.ResourceList `json:"requests"`
}

// Difference is a resource of which the node reports another amount than its
// configuration leaves to pods.
type Difference struct {
	Resource corev1.ResourceName `json:"resource"`
	Reported resource.Quantity   `json:"reported"`
	Computed resource.Quantity   `json:"computed"`
	// Term is the term of allocatable that makes the difference, such as
	// kubeReserved, or several; empty where none do.
	Term string `json:"term,omitempty"`
	// Why says so in words.
	Why string `json:"why"`
}

// Killed is a container near the top of the OOM order.
type Killed struct {
	Pod         string             `json:"pod"`
	Container   string             `json:"container"`
	Class       corev1.PodQOSClass `json:"class"`
	OOMScoreAdj int64              `json:"oomScoreAdj"`
}

// The findings that a node can have.
const (
	FindingAllocatable  = "allocatable-differs"
	FindingOvercommit   = "requests-exceed-allocatable"
	FindingConfig       = "config-refused"
	FindingNoStart      = "kubelet-would-not-start"
	FindingRestart      = "restart-refuses-pods"
	FindingFragmented   = "cpus-stranded"
	FindingOdd          = "odd-one-out"
	FindingTopology     = "topology-differs"
	FindingNoStatus     = "node-without-status"
	FindingUnknownNode  = "unknown-node"
	FindingCandidate    = "candidate-refused"
	FindingCandidatePod = "candidate-refuses-pods"
	FindingState        = "candidate-invalidates-state"
)

// Report judges every node by itself, then beside the others.
func (c *Cluster) Report(ctx context.Context) *Report {
	all := make([]*judged, 0, len(c.nodes))
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		all = append(all, &judged{node: c.nodes[name]})
	}
	parallel.Each(len(all), func(i int) {
		if ctx.Err() == nil {
			all[i].judge(ctx, &c.options)
		}
	})
	r := &Report{Nodes: []*Node{}, Groups: []Group{}, Findings: []Finding{}}
	for _, j := range all {
		if !j.node.object {
			c.Input.problem(ProblemUnknownNode, fmt.Sprintf("%s, of %s", j.node.name, quantity.Count(j.node.pods(), "pod")), false)
		}
	}
	r.Groups = group(all)
	r.Input = c.Input
	for _, j := range all {
		j.out.Findings = len(j.findings)
		r.Nodes = append(r.Nodes, &j.out)
		r.Findings = append(r.Findings, j.findings...)
	}
	slices.SortStableFunc(r.Nodes, func(a, b *Node) int {
		return cmp.Or(-cmp.Compare(a.Findings, b.Findings), -cmp.Compare(a.pressure(), b.pressure()))
	})
	order := map[string]int{}
	for i, n := range r.Nodes {
		order[n.Name] = i
	}
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return order[a.Node] - order[b.Node] })
	return r
}

// pressure is the largest share of a resource that is requested.
func (n *Node) pressure() float64 {
	most := 0.0
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		asked, offered := n.Requests[name], n.Allocatable[name]
		if offered.Sign() > 0 {
			most = max(most, asked.AsApproximateFloat64()/offered.AsApproximateFloat64())
		}
	}
	return most
}

// judged is a node under judgement.
type judged struct {
	node     *node
	out      Node
	findings []Finding
	key      groupKey
}

func (j *judged) find(id, fix, format string, a ...any) {
	j.findings = append(j.findings, Finding{Node: j.node.name, ID: id, Message: fmt.Sprintf(format, a...), Fix: fix})
}

// judge looks at the node alone.
func (j *judged) judge(ctx context.Context, o *Options) {
	n := j.node
	j.out = Node{
		Name: n.name, KubeletVersion: n.version, Unverified: n.unverified, Pods: n.pods(),
		Classes: map[corev1.PodQOSClass]Class{}, Requests: n.requests().list(), ExclusiveCPUs: n.exclusive,
		Capacity: n.capacity.list(), Allocatable: n.allocatable.list(), Config: n.configSource,
		Differs: []Difference{}, KilledFirst: []Killed{},
	}
	for i, class := range []corev1.PodQOSClass{corev1.PodQOSBestEffort, corev1.PodQOSBurstable, corev1.PodQOSGuaranteed} {
		if sum := n.classes[i]; sum.pods > 0 {
			j.out.Classes[class] = Class{Pods: sum.pods, Requests: sum.requests.list()}
		}
	}
	if n.guessed {
		j.out.Unverified = joined(j.out.Unverified, "pods with pod-level resources or claims came before their node and were summed up by the default gates of "+kubelet.Latest.String())
	}
	if !n.object {
		j.find(FindingUnknownNode, "list nodes and pods together: kubectl get nodes,pods -A -o json", "%s on a node that is not in the input", quantity.Count(n.pods(), "pod"))
		j.out.Placement = unknown("the node is not in the input")
		return
	}
	if !n.status {
		j.find(FindingNoStatus, "see whether its kubelet ever registered: kubectl describe node "+n.name, "the node reports no capacity and allocatable")
		j.out.Placement = unknown("the node reports no capacity")
		return
	}
	for _, k := range n.first {
		j.out.KilledFirst = append(j.out.KilledFirst, Killed{Pod: k.pod, Container: k.container, Class: k.class, OOMScoreAdj: k.terms.Score(n.capacity[corev1.ResourceMemory])})
	}
	t := j.topology(ctx, o)
	j.overcommit()
	j.allocatable(o, t)
	j.place(o, t)
	j.candidate(o, t)
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}
