package fleet

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/simulate"
)

// Candidate says what another configuration would change.
type Candidate struct {
	// Unknown says why nothing is told.
	Unknown string `json:"unknown,omitempty"`
	// Errors are those for which the kubelet would not start.
	Errors []kubelet.Finding `json:"errors,omitempty"`
	// Moved are the resources of which pods would get another amount.
	Moved []Moved `json:"moved"`
	// Refused are pods that would no longer be admitted, the oldest first. More
	// says that there are others, older ones.
	Refused []Refused `json:"refused"`
	More    bool      `json:"more,omitempty"`
	// InvalidState are checkpoint files that the kubelet would refuse, and
	// StateUnknown says why there may be others.
	InvalidState []kubelet.InvalidState `json:"invalidState"`
	StateUnknown string                 `json:"stateUnknown,omitempty"`
}

// Moved is a resource whose allocatable changes.
type Moved struct {
	Resource corev1.ResourceName `json:"resource"`
	Before   resource.Quantity   `json:"before"`
	After    resource.Quantity   `json:"after"`
}

// podSize is what a pod takes of the node, and how old it is.
type podSize struct {
	name     string
	created  time.Time
	requests amounts
}

// maxNewest is how many of a node's youngest pods are remembered: they are the
// ones that a smaller node refuses.
const maxNewest = 32

func (n *node) noteNewest(pod *corev1.Pod, sums *podSums) {
	s := podSize{pod.Namespace + "/" + pod.Name, pod.CreationTimestamp.Time, sums.requests}
	at, _ := slices.BinarySearchFunc(n.newest, s, func(a, b podSize) int {
		return cmp.Or(-a.created.Compare(b.created), -cmp.Compare(a.name, b.name))
	})
	if at == maxNewest {
		return
	}
	n.newest = slices.Insert(n.newest, at, s)
	n.newest = n.newest[:min(len(n.newest), maxNewest)]
}

// candidate judges the configuration that the node is to have.
func (j *judged) candidate(o *Options, t *Topology) {
	n := j.node
	if o.Candidate == nil {
		return
	}
	c := &Candidate{Moved: []Moved{}, Refused: []Refused{}, InvalidState: []kubelet.InvalidState{}}
	j.out.Candidate = c
	if n.config == nil {
		c.Unknown = "the kubelet's present configuration is unknown: its /configz answer tells it"
		return
	}
	next, err := o.Candidate(n.name, n.minor)
	if err != nil {
		c.Errors = []kubelet.Finding{{Stage: kubelet.StageLoad, Message: err.Error()}}
		j.find(FindingCandidate, "mend the candidate", "with the candidate the kubelet would not start: %v", err)
		return
	}
	if next == nil {
		return
	}
	if o.Findings != nil {
		c.Errors = o.Findings(next, t.machine(), j.capacity())
	}
	for _, f := range c.Errors {
		j.find(FindingCandidate, "mend "+or(f.Field, "the candidate"), "with the candidate the kubelet would not start: %s", inWords(f))
	}
	before, _ := allocatable.Compute(n.config, j.onNode(t))
	after, _ := allocatable.Compute(next, j.onNode(t))
	then := amountsOf(after.Allocatable)
	for _, name := range sortedNames(then) {
		if old := quantity.Units(name, before.Allocatable[name]); old != then[name] && name != allocatable.ResourcePID {
			c.Moved = append(c.Moved, Moved{Resource: name, Before: *quantityOf(name, old), After: *quantityOf(name, then[name])})
		}
	}
	c.Refused, c.More = j.pushedOut(then)
	c.InvalidState = append(c.InvalidState, kubelet.InvalidStates(n.config, next, j.reserved(n.config, t), j.reserved(next, t))...)
	if t == nil && next.CPUManagerPolicy == kubelet.CPUPolicyStatic && slices.ContainsFunc(c.Moved, func(m Moved) bool { return m.Resource == corev1.ResourceCPU }) {
		c.StateUnknown = "other CPUs would be reserved, and " + kubelet.CPUManagerStateFile + " refused if a container has one of them: the topology tells which"
	}
	if t != nil && len(c.Errors) == 0 && simulate.Manages(next) {
		c.Refused = append(c.Refused, j.displaced(next, t)...)
	}
	for _, r := range c.Refused {
		j.find(FindingCandidatePod, "move the pod before the rollout", "with the candidate pod %s would be refused: %s: %s", r.Pod, r.Reason, r.Message)
	}
	for _, s := range c.InvalidState {
		j.find(FindingState, "drain the node and delete /var/lib/kubelet/"+s.File+" with the rollout", "with the candidate the kubelet would refuse %s: %s", s.File, joinedIf(s.Why, s.OnlyIf))
	}
}

func joinedIf(why, onlyIf string) string {
	if onlyIf == "" {
		return why
	}
	return why + ", if " + onlyIf
}

// pushedOut are the youngest pods, as far as they find no room in allocatable
// once the older ones have been admitted.
func (j *judged) pushedOut(offered amounts) (refused []Refused, more bool) {
	used := j.node.requests()
	for _, s := range j.node.newest {
		used.minus(s.requests)
	}
	pods := int64(j.node.pods() - len(j.node.newest))
	names := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}
	for _, name := range names {
		if total, known := offered[name]; known && used[name] > total {
			more = true
		}
	}
	refused = []Refused{}
	for _, s := range slices.Backward(j.node.newest) {
		lacks := corev1.ResourceName("")
		if total, known := offered[corev1.ResourcePods]; known && pods+1 > total {
			lacks = corev1.ResourcePods
		}
		for _, name := range names {
			if total, known := offered[name]; lacks == "" && known && s.requests[name] > 0 && used[name]+s.requests[name] > total {
				lacks = name
			}
		}
		if lacks != "" {
			refused = append(refused, Refused{s.name, allocatable.OutOf + string(lacks), "allocatable would be " + quantityOf(lacks, offered[lacks]).String()})
			continue
		}
		used, pods = used.plus(s.requests), pods+1
	}
	return refused, more
}

// displaced are the pods that the managers refuse under the candidate when all
// are admitted anew, and under the present configuration are not.
func (j *judged) displaced(next *kubelet.Config, t *Topology) []Refused {
	node, err := simulate.NewNode(j.spec(next, t), nil)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(readmit(node, j.node.kept), func(r Refused) bool {
		return slices.ContainsFunc(j.out.Placement.Refused, func(old Refused) bool { return old.Pod == r.Pod })
	})
}

// reserved are the CPUs that a configuration keeps from exclusive use, empty
// where they are not known.
func (j *judged) reserved(c *kubelet.Config, t *Topology) cpuset.CPUSet {
	r, _ := allocatable.ReadReservations(c)
	if !r.CPUs.IsEmpty() || t == nil {
		return r.CPUs
	}
	node, err := simulate.NewNode(j.spec(c, t), nil)
	if err != nil {
		return r.CPUs
	}
	return node.Reserved()
}
