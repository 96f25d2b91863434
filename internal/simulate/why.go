package simulate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// why is one sentence on what decided a refusal and what would make the pod
// fit. It must be asked before what the refused pod holds is taken back: the
// amounts are those of the moment.
func (n *Node) why(pod *corev1.Pod, v *topologymanager.Verdict) string {
	if v.Crash != nil {
		return sentence("the kubelet crashes here: " + v.Crash.Why)
	}
	subject, c := "the pod", (*corev1.Container)(nil)
	for each := range qos.Containers(pod) {
		if each.Name == v.Container {
			subject, c = "container "+v.Container, each
		}
	}
	if v.Provider == "" && len(v.Rounds) > 0 {
		return sentence(subject + ": " + n.whyMerge(pod, c, v.Rounds[len(v.Rounds)-1]))
	}
	return sentence(subject + ": " + n.whyAllocation(pod, c, v))
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] + "." }

// whyAllocation is about a provider that failed to give what it was asked for.
func (n *Node) whyAllocation(pod *corev1.Pod, c *corev1.Container, v *topologymanager.Verdict) string {
	switch {
	case v.Reason == topologymanager.ReasonSMTAlignment:
		return n.whyWholeCores(pod, c)
	case v.Reason == topologymanager.ReasonEmptyPodSharedPool:
		return "the containers with resources of their own take all that spec.resources asks for, and others need a share: raise it, or lower theirs"
	case v.Provider == n.devices.Name():
		return n.whyDevices(pod, c, v)
	}
	name := string(corev1.ResourceCPU)
	if v.Provider == n.memory.Name() {
		name = string(corev1.ResourceMemory)
	}
	w := n.wanted(pod, c, v.Provider, name)
	if text, ok := w.shortage(w.total()); ok {
		return text
	}
	if v.Provider == n.memory.Name() {
		return fmt.Sprintf("it asks for %s, and no set of NUMA nodes that other containers leave open holds it together with its other memory (%s)", w.text(w.amount), w.freeText())
	}
	return fmt.Sprintf("the %s manager fails: %v", v.Provider, v.Cause)
}

// whyWholeCores is about full-pcpus-only.
func (n *Node) whyWholeCores(pod *corev1.Pod, c *corev1.Container) string {
	asked, perCore := n.cpus.Request(pod, c), n.cpus.Topology().CPUsPerCore()
	if rest := asked % perCore; rest != 0 {
		return fmt.Sprintf("full-pcpus-only gives whole cores, and %d is no multiple of their %d CPUs: ask for %s", asked, perCore, multiples(asked-rest, perCore))
	}
	free := n.cpus.FreeOnWholeCores()
	return fmt.Sprintf("full-pcpus-only leaves cores with a reserved CPU out, and on the others %d CPUs are free of the %d asked for: %d more would do", free, asked, asked-free)
}

func multiples(below, step int) string {
	if below == 0 {
		return fmt.Sprint(step)
	}
	return fmt.Sprintf("%d or %d", below, below+step)
}

// whyDevices is about the first resource of which there are too few.
func (n *Node) whyDevices(pod *corev1.Pod, c *corev1.Container, v *topologymanager.Verdict) string {
	for _, name := range deviceNames(n.spec.Machine.Devices) {
		if c == nil || !strings.Contains(v.Message, name) {
			continue
		}
		w := n.wanted(pod, c, v.Provider, name)
		if text, ok := w.shortage(int64(len(n.devices.Free()[name]))); ok {
			return text
		}
	}
	return fmt.Sprintf("the %s manager fails: %v", v.Provider, v.Cause)
}
