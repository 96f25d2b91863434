package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate"
)

// The grounds on which placement is answered.
const (
	// AnswerUnknown leaves everything open.
	AnswerUnknown = "unknown"
	// AnswerSums needs no topology: no manager of the kubelet places anything.
	AnswerSums = "sums"
	// AnswerCheckpoint starts from the kubelet's own checkpoint files.
	AnswerCheckpoint = "checkpoint"
	// AnswerAnew holds once the kubelet has admitted its pods anew, by age, as
	// it does after a reboot.
	AnswerAnew = "admitted-anew"
)

// Placement says what the kubelet's managers can do on the node.
type Placement struct {
	// Answer is one of the grounds, and Why says what is missing for a better one.
	Answer string `json:"answer"`
	Why    string `json:"why,omitempty"`
	// Refused are the running pods that the kubelet refuses when it admits them
	// anew, by age, without checkpoint files: after a reboot, or a change that
	// made the files invalid.
	Refused []Refused `json:"refused,omitempty"`
	// FreeCPUs could become exclusive; LargestCPUs is the largest Guaranteed pod,
	// in CPUs, that is admitted now; StrandedCPUs are those that no row of such
	// pods can get though the sums leave room for it, or with a pod to fit those
	// that would hold more of them if they lay together.
	FreeCPUs     *int `json:"freeCPUs,omitempty"`
	LargestCPUs  *int `json:"largestCPUs,omitempty"`
	StrandedCPUs *int `json:"strandedCPUs,omitempty"`
	// Fits is how many of the pods asked about are admitted.
	Fits *int `json:"fits,omitempty"`
}

// Refused is a pod that is not admitted.
type Refused struct {
	Pod     string `json:"pod"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func unknown(why string) Placement { return Placement{Answer: AnswerUnknown, Why: why} }

// place answers what depends on where containers lie.
func (j *judged) place(o *Options, t *Topology) {
	n := j.node
	p := &j.out.Placement
	switch {
	case n.config == nil:
		*p = unknown("the kubelet's configuration is unknown: its /configz answer tells it")
		return
	case !simulate.Manages(n.config):
		p.Answer = AnswerSums
		j.fitBySums(o)
		return
	case t == nil:
		*p = unknown("the node's topology is unknown: a snapshot or a NodeResourceTopology tells it")
		return
	case n.late && t.Source == kindTopology:
		*p = unknown("the NodeResourceTopology came after pods of the node: list it before them")
		return
	}
	anew, err := simulate.NewNode(j.spec(n.config, t), nil)
	if err != nil {
		*p = unknown("the kubelet would not start: " + err.Error())
		j.noStart(err)
		return
	}
	p.Answer, p.Refused = AnswerAnew, readmit(anew, n.kept)
	for _, r := range p.Refused {
		j.find(FindingRestart, "move the pod before the node reboots", "pod %s is refused when the kubelet admits its pods anew: %s: %s", r.Pod, r.Reason, r.Message)
	}
	now := anew
	if t.Files != nil {
		spec := j.spec(n.config, t)
		spec.KeepUnknown = true
		if now, err = simulate.NewNode(spec, t.Files); err != nil {
			*p = unknown("the kubelet would not start: " + err.Error())
			j.noStart(err)
			return
		}
		p.Answer = AnswerCheckpoint
		readmit(now, n.kept)
	}
	j.room(now, o)
}

func (j *judged) spec(c *kubelet.Config, t *Topology) simulate.Spec {
	return simulate.Spec{Config: c, Machine: t.Machine, CgroupVersion: cgroupVersion, Dir: "/var/lib/kubelet"}
}

func (j *judged) noStart(err error) {
	if start, ok := errors.AsType[*simulate.StartError](err); ok && !slices.ContainsFunc(j.findings, func(f Finding) bool { return f.ID == FindingNoStart }) {
		j.find(FindingNoStart, "mend the configuration or the state before the kubelet restarts", "%s: %s", start.Stage, start.Message)
	}
}

// readmit admits pods as a kubelet does that finds them at its start.
//
// kubelet v1.37: pkg/kubelet/kubelet.go HandlePodAdditions.
func readmit(n *simulate.Node, pods []*corev1.Pod) []Refused {
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	var refused []Refused
	for _, pod := range pods {
		a := n.Add(pod)
		if a.Verdict.Crash != nil {
			return append(refused, Refused{pod.Namespace + "/" + pod.Name, "crash", a.Verdict.Crash.Message})
		}
		if !a.Verdict.Admitted {
			refused = append(refused, Refused{pod.Namespace + "/" + pod.Name, a.Verdict.Reason, a.Verdict.Message})
		}
	}
	return refused
}

// room tells what Guaranteed pods the node still admits. It uses the node up.
func (j *judged) room(n *simulate.Node, o *Options) {
	p := &j.out.Placement
	n.Add(j.rest())
	free := freeCPUs(n)
	p.FreeCPUs = &free
	if j.node.config.CPUManagerPolicy == kubelet.CPUPolicyStatic {
		reach := min(free, j.cpusLeft(n))
		first, reachable := greedy(n, reach)
		stranded := reach - reachable
		p.LargestCPUs, p.StrandedCPUs = &first, &stranded
	}
	if len(o.FitPod) == 0 {
		return
	}
	fits := min(n.Fit(probe("fit", o.FitPod)).More, j.podsLeft())
	p.Fits = &fits
	size := o.FitPod.Cpu().MilliValue()
	if p.StrandedCPUs == nil || size <= 0 || size%1000 != 0 {
		return
	}
	count := min(int64(free)*1000/size, j.bySums(o.FitPod))
	stranded := int(max(count-int64(fits), 0) * size / 1000)
	p.StrandedCPUs = &stranded
	if stranded > 0 {
		j.find(FindingFragmented, "drain the node to place its pods anew, or choose a topology policy that admits scattered CPUs",
			"%d CPUs are free and would hold %d pods of %s, but lie so that %d fit", free, count, quantityOf(corev1.ResourceCPU, size), fits)
	}
}

// rest stands for the pods that no manager places: what they request is taken.
func (j *judged) rest() *corev1.Pod {
	left := j.node.requests()
	for _, pod := range j.node.kept {
		// By the node's gates, which a pod that came before it was not summed up by.
		left.minus(reduce(pod, j.node.gates).requests)
	}
	taken := corev1.ResourceList{}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		if left[name] > 0 {
			taken[name] = *quantityOf(name, left[name])
		}
	}
	pod := probe("rest", nil)
	pod.Spec.Containers[0].Resources.Requests = taken
	return pod
}

// probe is a Guaranteed pod of one container.
func probe(name string, amounts corev1.ResourceList) *corev1.Pod {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Resources: corev1.ResourceRequirements{Requests: amounts, Limits: amounts}}}}}
	pod.Name, pod.Namespace, pod.UID = name, corev1.NamespaceDefault, types.UID(name)
	return pod
}

// freeCPUs counts the CPUs that could become exclusive.
func freeCPUs(n *simulate.Node) int {
	// The simulator writes the list that is parsed.
	shared, _ := cpuset.Parse(n.State().Default)
	return shared.Intersection(n.Allocatable()).Size()
}

// probeMemory is what the pods of greedy ask for: little, since the CPUs are in
// question, but some, or they would not be Guaranteed.
const probeMemory = 1 << 20

func probeSize(cpus int) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU: *quantityOf(corev1.ResourceCPU, int64(cpus)*1000), corev1.ResourceMemory: *quantityOf(corev1.ResourceMemory, probeMemory),
	}
}

// greedy lets the managers admit the largest pod that they admit, then the next,
// until none is, of no more CPUs than are free; it returns the CPUs of the first
// and of all, and takes the pods away again.
func greedy(n *simulate.Node, free int) (first, all int) {
	var probes []types.UID
	for size := free; size > 0; {
		pod := probe(fmt.Sprintf("probe-%d", len(probes)), probeSize(size))
		a := n.Add(pod)
		if a.Verdict.Crash != nil {
			break
		}
		if !a.Verdict.Admitted {
			size--
			continue
		}
		probes = append(probes, pod.UID)
		all += size
		if first == 0 {
			first = size
		}
		size = min(size, free-all)
	}
	for _, uid := range probes {
		n.Remove(uid)
	}
	return first, all
}

// podsLeft is how many pods the node takes besides those that it has.
func (j *judged) podsLeft() int {
	return max(int(j.node.allocatable[corev1.ResourcePods])-j.node.pods(), 0)
}

// cpusLeft are the whole CPUs that Guaranteed pods may still request: the kubelet
// asks the sums after its managers, and shared pods count there too.
func (j *judged) cpusLeft(n *simulate.Node) int {
	if j.podsLeft() == 0 || n.Left(corev1.ResourceMemory) < probeMemory {
		return 0
	}
	return int(max(n.Left(corev1.ResourceCPU), 0) / 1000)
}

// bySums is how many pods of that size allocatable has room for.
func (j *judged) bySums(size corev1.ResourceList) int64 {
	requests := j.node.requests()
	most := int64(j.podsLeft())
	for name, each := range amountsOf(size) {
		if each > 0 {
			most = min(most, max(j.node.allocatable[name]-requests[name], 0)/each)
		}
	}
	return most
}

// fitBySums answers where nothing but sums decides.
func (j *judged) fitBySums(o *Options) {
	if len(o.FitPod) > 0 {
		fits := int(j.bySums(o.FitPod))
		j.out.Placement.Fits = &fits
	}
}
