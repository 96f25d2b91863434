package fleet

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/qos"
)

// Cluster is what a stream told, each node with sums of its pods.
type Cluster struct {
	Input Input

	options Options
	nodes   map[string]*node
	// seen are the fingerprints of all objects.
	seen map[uint64]struct{}
}

// Input counts what was read.
type Input struct {
	Objects    int `json:"objects"`
	Nodes      int `json:"nodes"`
	Pods       int `json:"pods"`
	Topologies int `json:"topologies"`
	// Unscheduled pods have no node yet, Ended ones hold nothing any more.
	Unscheduled int `json:"unscheduled"`
	Ended       int `json:"ended"`
	// PassedOver counts objects of other kinds.
	PassedOver map[string]int `json:"passedOver,omitempty"`
	// Problems are what is wrong with the input.
	Problems []Problem `json:"problems"`
}

// Problem is something wrong with the input, all cases of it together.
type Problem struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
	// Examples name the first of them.
	Examples []string `json:"examples"`
	// Lost says that something was not read for it.
	Lost bool `json:"lost"`
}

// The problems that an input can have.
const (
	// ProblemUnreadable is an object that could not be decoded.
	ProblemUnreadable = "unreadable-object"
	// ProblemLarge is an object that is far larger than its kind ever is.
	ProblemLarge = "large-object"
	// ProblemDuplicate is an object whose name came before; the first counts.
	ProblemDuplicate = "duplicate-name"
	// ProblemNameless is a node or pod without a name.
	ProblemNameless = "no-name"
	// ProblemNoStatus is a node without capacity or allocatable.
	ProblemNoStatus = "node-without-status"
	// ProblemUnknownNode is a node of which only pods are known.
	ProblemUnknownNode = "unknown-node"
	// ProblemTruncated is a list that ends before its end.
	ProblemTruncated = "truncated-list"
	// ProblemUnused is a configuration or topology of no node.
	ProblemUnused = "file-of-no-node"
)

// maxExamples is how many cases a Problem names.
const maxExamples = 5

// largeObject is a size in bytes at which an object is told: more than etcd
// stores of one by default.
const largeObject = 1536 << 10

func (in *Input) problem(id, example string, lost bool) {
	at := slices.IndexFunc(in.Problems, func(p Problem) bool { return p.ID == id && p.Lost == lost })
	if at < 0 {
		at = len(in.Problems)
		in.Problems = append(in.Problems, Problem{ID: id, Lost: lost})
	}
	p := &in.Problems[at]
	if p.Count++; len(p.Examples) < maxExamples {
		p.Examples = append(p.Examples, example)
	}
}

// node is one node as far as the stream told.
type node struct {
	name string
	// object says that the Node itself was seen, and status that it told amounts.
	object, status          bool
	version, arch, instance string
	minor                   kubelet.Minor
	// unverified says why the node's rules are those of another version.
	unverified            string
	capacity, allocatable amounts
	config                *kubelet.Config
	configSource          string
	configErr             error
	gates                 kubelet.Gates
	// guessed says that a pod was summed up by gates which may not be the node's.
	guessed bool

	classes   [3]classSum
	exclusive int64
	first     []killed
	// machine is that of a NodeResourceTopology, late says that pods came before.
	machine *machine.Machine
	late    bool
	// kept are the pods that placement depends on, where a topology is known;
	// newest those that a smaller node refuses first, by rising age.
	kept   []*corev1.Pod
	newest []podSize
}

// classSum are the pods of one class.
type classSum struct {
	pods     int
	requests amounts
}

// maxFirst is how many containers near the top of the OOM order a node names.
const maxFirst = 3

// New is a cluster of which nothing is known yet.
func New(o Options) *Cluster {
	return &Cluster{options: o, nodes: map[string]*node{}, seen: map[uint64]struct{}{}, Input: Input{Problems: []Problem{}}}
}

func (c *Cluster) node(name string) *node {
	n := c.nodes[name]
	if n == nil {
		n = &node{name: name, gates: kubelet.DefaultGates(kubelet.Latest)}
		c.nodes[name] = n
	}
	return n
}

// add takes one object in.
func (c *Cluster) add(r *record) {
	c.Input.Objects++
	name := r.at
	if r.fields != nil && r.fields.Metadata.Name != "" {
		name = r.at + ": " + r.fields.Kind + " " + qualified(r.fields)
	}
	if r.size > largeObject {
		c.Input.problem(ProblemLarge, name, false)
	}
	switch {
	case r.err != nil && r.fields == nil:
		c.Input.problem(problemOf(r.err), name+": "+r.err.Error(), true)
		return
	case r.err != nil:
		c.Input.problem(ProblemUnreadable, name+": "+r.err.Error(), true)
		return
	case r.fields.Kind != kindNode && r.fields.Kind != kindPod && r.fields.Kind != kindTopology:
		if c.Input.PassedOver == nil {
			c.Input.PassedOver = map[string]int{}
		}
		c.Input.PassedOver[or(r.fields.Kind, "no kind")]++
		return
	case r.fields.Metadata.Name == "":
		c.Input.problem(ProblemNameless, name+": "+r.fields.Kind, true)
		return
	}
	mark := fingerprint(r.fields.Kind, r.fields.Metadata.Namespace, r.fields.Metadata.Name)
	if _, again := c.seen[mark]; again {
		c.Input.problem(ProblemDuplicate, name, true)
		return
	}
	c.seen[mark] = struct{}{}
	switch r.fields.Kind {
	case kindNode:
		c.addNode(r.fields)
	case kindPod:
		c.addPod(r)
	case kindTopology:
		c.Input.Topologies++
		n := c.node(r.fields.Metadata.Name)
		n.machine, n.late = r.machine, n.pods() > 0
	}
}

func problemOf(err error) string {
	if err == errTooLarge { //nolint:errorlint // never wrapped
		return ProblemLarge
	}
	return ProblemUnreadable
}

func qualified(f *fields) string {
	if f.Metadata.Namespace == "" {
		return f.Metadata.Name
	}
	return f.Metadata.Namespace + "/" + f.Metadata.Name
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}
	return text
}

func (c *Cluster) addNode(f *fields) {
	c.Input.Nodes++
	n := c.node(f.Metadata.Name)
	n.object, n.instance = true, f.Metadata.Labels.InstanceType
	n.capacity, n.allocatable = amountsOf(f.Status.Capacity), amountsOf(f.Status.Allocatable)
	if n.status = len(n.capacity) > 0 && len(n.allocatable) > 0; !n.status {
		c.Input.problem(ProblemNoStatus, n.name, false)
	}
	if f.Status.NodeInfo != nil {
		n.version, n.arch = f.Status.NodeInfo.KubeletVersion, f.Status.NodeInfo.Architecture
	}
	n.minor, n.unverified = rules(n.version)
	gates := kubelet.DefaultGates(n.minor)
	if c.options.Config != nil {
		n.config, n.configSource, n.configErr = c.options.Config(n.name, n.minor)
		if n.config != nil {
			gates = n.config.Gates
		}
	}
	n.guessed = n.guessed && !sameBound(gates, n.gates)
	n.gates = gates
}

func (c *Cluster) addPod(r *record) {
	c.Input.Pods++
	pod := r.pod
	switch {
	case pod.Spec.NodeName == "":
		c.Input.Unscheduled++
		return
	case terminal(pod):
		c.Input.Ended++
		return
	}
	n := c.node(pod.Spec.NodeName)
	sums := r.sums
	if sums == nil {
		s := reduce(pod, n.gates)
		sums = &s
		n.guessed = n.guessed || !n.object
	}
	class := &n.classes[max(qos.Rank(sums.class), 0)]
	class.pods++
	class.requests = class.requests.plus(sums.requests)
	n.exclusive = add(n.exclusive, sums.exclusive)
	n.noteFirst(sums.first)
	if c.options.Candidate != nil {
		n.noteNewest(pod, sums)
	}
	if n.machine != nil || c.options.HasTopology != nil && c.options.HasTopology(n.name) {
		if sums.class == corev1.PodQOSGuaranteed || extended(sums.requests) {
			n.kept = append(n.kept, pod)
		}
	}
}

// noteFirst keeps the containers that the kernel kills first.
func (n *node) noteFirst(k killed) {
	if k.pod == "" {
		return
	}
	at, _ := slices.BinarySearchFunc(n.first, k, killOrder)
	if at == maxFirst {
		return
	}
	n.first = slices.Insert(n.first, at, k)
	n.first = n.first[:min(len(n.first), maxFirst)]
}

// pods counts those that run.
func (n *node) pods() int {
	sum := 0
	for _, class := range n.classes {
		sum += class.pods
	}
	return sum
}

// requests sums all classes up.
func (n *node) requests() amounts {
	var sum amounts
	for _, class := range n.classes {
		sum = sum.plus(class.requests)
	}
	return sum
}

// extended tells whether devices are asked for.
func extended(a amounts) bool {
	for name := range a {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		default:
			return true
		}
	}
	return false
}

// Unused tells files, keyed by the node that they name, which are of no node of
// the input.
func (c *Cluster) Unused(files map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if n := c.nodes[name]; n == nil || !n.object {
			c.Input.problem(ProblemUnused, files[name], false)
		}
	}
}
