package simulate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// Spec is the kubelet and the machine that it runs on.
type Spec struct {
	Config  *kubelet.Config
	Machine *machine.Machine
	// Preferred are the resources whose device plugin answers
	// GetPreferredAllocation.
	Preferred []string
	// Dir is the kubelet's root directory as its errors name it; empty means
	// "$DIR".
	Dir string
	// CgroupVersion is 1 or 2; 0 means 2. Validation asks for it.
	CgroupVersion int
	// KeepUnknown takes the pods that only the checkpoint files know as running.
	// A kubelet drops them once its sources are ready and do not name them.
	KeepUnknown bool
}

// Node is one running kubelet as far as placement goes.
type Node struct {
	managers
	spec Spec

	// allocatable is what the node's status offers to pods.
	allocatable corev1.ResourceList

	// active are the admitted pods in their order, with the one being admitted.
	active []*corev1.Pod
	// unknown are the UIDs that only checkpoint files name and that are kept.
	unknown map[types.UID]bool
	files   Files
	// stopped is true while no kubelet runs: a start is under way or failed.
	stopped bool
	// cpusRead is the CPU state as read, to tell whether the file was written.
	cpusRead *kubelet.CPUManagerState
	chance   chance
}

// Admission is what became of one pod.
type Admission struct {
	Pod     *corev1.Pod
	Verdict topologymanager.Verdict
	// Why is one sentence on what decided a refusal or crash, and what would make
	// the pod fit; empty when it was admitted.
	Why string
	// Containers are placed as they stand after the admission, before any of
	// them starts; none for a refused pod.
	Containers []Container
	// PodCPUs and PodMemory are those of a pod placed by its pod-level
	// resources.
	PodCPUs   string
	PodMemory []Memory
}

// NewNode starts a kubelet that finds the given checkpoint files. An error is a
// *StartError: the kubelet does not start.
func NewNode(spec Spec, files Files) (*Node, error) {
	n := &Node{unknown: map[types.UID]bool{}, files: files.clone()}
	if err := n.start(spec); err != nil {
		return nil, err
	}
	n.devices.Register()
	if spec.KeepUnknown {
		n.keepUnknown()
	}
	n.collect()
	return n, nil
}

// Add admits a pod. Once a Verdict has a Crash the node must not be used again.
func (n *Node) Add(pod *corev1.Pod) Admission {
	a := n.admit(pod)
	if a.Verdict.Crash != nil {
		return a
	}
	// What becomes of the pod is known now, whatever a checkpoint file says.
	delete(n.unknown, pod.UID)
	// Only a refused pod leaves something behind.
	if a.Verdict.Admitted {
		n.run(pod)
	} else {
		n.collect()
	}
	return a
}

// Remove ends an active pod and tells whether it was one.
func (n *Node) Remove(uid types.UID) bool {
	before := len(n.active)
	n.active = slices.DeleteFunc(n.active, func(p *corev1.Pod) bool { return p.UID == uid })
	if len(n.active) == before {
		return false
	}
	delete(n.unknown, uid)
	n.collect()
	return true
}

// Restart starts the kubelet anew, as spec with what files name replaced (nil:
// deleted), and admits all active pods again while its sources are not ready.
// Device plugins register before the pods or, as they mostly do, after them. A
// *StartError leaves the node without a kubelet; a crash is in the last
// admission.
func (n *Node) Restart(spec Spec, replaced map[string]*string, pluginsFirst bool) ([]Admission, error) {
	n.files = n.Files()
	n.chance = n.chanceNow()
	for name, content := range replaced {
		if content == nil {
			delete(n.files, name)
		} else {
			n.files[name] = *content
		}
	}
	if err := n.start(spec); err != nil {
		return nil, err
	}
	if pluginsFirst {
		n.devices.Register()
	}
	pods := n.active
	n.active = nil
	n.devices.Recovering(running(pods))
	var again []Admission
	for _, pod := range pods {
		a := n.admit(pod)
		again = append(again, a)
		if a.Verdict.Crash != nil {
			return again, nil
		}
	}
	n.devices.Recovering(nil)
	if !pluginsFirst {
		n.devices.Register()
	}
	n.collect()
	return again, nil
}

// running tells which containers of the pods run: all but the ordinary init
// containers, which have ended.
func running(pods []*corev1.Pod) func(podUID, container string) bool {
	return func(uid, container string) bool {
		for _, pod := range pods {
			if string(pod.UID) != uid {
				continue
			}
			return !slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool {
				return c.Name == container && !qos.IsSidecar(&c)
			})
		}
		return false
	}
}

// admit lets the topology manager decide and reads back what the containers got.
func (n *Node) admit(pod *corev1.Pod) Admission {
	n.active = append(n.active, pod)
	a := Admission{Pod: pod, Verdict: n.topology.Admit(pod)}
	if !a.Verdict.Admitted {
		a.Why = n.why(pod, &a.Verdict)
	}
	if a.Verdict.Crash != nil {
		return a
	}
	if !a.Verdict.Admitted {
		n.active = n.active[:len(n.active)-1]
		return a
	}
	n.describe(&a)
	return a
}

// run starts the containers one after the other, ordinary init containers
// ending before the next.
func (n *Node) run(pod *corev1.Pod) {
	for c := range qos.Containers(pod) {
		n.memory.ContainerStarted(pod, c.Name)
	}
}

// collect drops what ended and refused pods left. The kubelet does it before
// each hint and allocation, with the same effect: between two events nothing
// becomes inactive.
func (n *Node) collect() {
	active := make(map[types.UID]bool, len(n.active))
	for _, pod := range n.active {
		active[pod.UID] = true
	}
	known := func(uid types.UID) bool { return active[uid] || n.unknown[uid] }
	n.cpus.RemoveStale(func(uid types.UID, _ string) bool { return known(uid) })
	n.memory.RemoveStale(func(uid string) bool { return known(types.UID(uid)) })
	n.devices.RemoveStale(func(uid string) bool { return known(types.UID(uid)) })
}

func (n *Node) keepUnknown() {
	for uid := range n.cpus.State().Entries {
		n.unknown[types.UID(uid)] = true
	}
	for uid := range n.memory.State().Entries {
		n.unknown[types.UID(uid)] = true
	}
	for _, uid := range n.devices.Pods() {
		n.unknown[types.UID(uid)] = true
	}
}
