package topologymanager

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// Verdict is the answer on one pod.
type Verdict struct {
	Admitted bool
	// Reason and Message of a refusal are what the pod's status would say.
	Reason, Message string
	// Crash is set when the kubelet would crash in this admission.
	Crash *CrashError
	// Cause is the error behind a refusal that a provider's allocation ended.
	Cause error
	// Provider and Container tell where a refusal arose; a refusal of the merge
	// has no provider, one in pod scope no container.
	Provider, Container string
	// Rounds are the merges in order; none under policy none.
	Rounds []Round
	// Affinity is the merged hint of each container that got to its
	// allocation; empty under policy none.
	Affinity map[string]Hint
}

// Round is one merge: of a container, or of the pod as a whole.
type Round struct {
	// Container is empty in pod scope.
	Container string
	Lists     []List
	Best      Hint
	Admitted  bool
	// Target is the number of nodes that an unpreferred result should have.
	Target int
}

// List is what one provider offered for one resource. A provider that said
// nothing has a List without resource.
type List struct {
	Provider, Resource string
	// Hints is nil for no preference, and empty for a request that cannot be met.
	Hints []Hint
	// Agreed are the preferred masks that this list and all before it share.
	Agreed []Mask
	// Free is true while all lists so far leave the choice open.
	Free bool
}

// Admit asks the providers about a pod and lets them allocate. What a refused
// pod's earlier containers or providers got stays allocated.
// kubelet v1.37: cm/topologymanager/scope_container.go, scope_pod.go, scope_none.go
func (m *Manager) Admit(pod *corev1.Pod) Verdict {
	v := Verdict{Affinity: map[string]Hint{}}
	switch {
	case m.policy == kubelet.TopologyPolicyNone:
		for c := range qos.Containers(pod) {
			if !v.allocate(m.Providers, pod, c, Hint{}) {
				return v
			}
		}
	case m.scope == kubelet.TopologyScopePod:
		if !m.admitWhole(pod, &v) {
			return v
		}
	default:
		for c := range qos.Containers(pod) {
			best, ok := m.round(&v, pod, c)
			if !ok {
				return v
			}
			v.Affinity[c.Name] = best
			if !v.allocate(m.Providers, pod, c, best) {
				return v
			}
		}
	}
	v.Admitted = true
	return v
}

// admitWhole admits in pod scope: one merge for all containers.
func (m *Manager) admitWhole(pod *corev1.Pod, v *Verdict) bool {
	best, ok := m.round(v, pod, nil)
	if !ok {
		return false
	}
	if qos.ManagedAsWhole(pod, m.gates) {
		for c := range qos.Containers(pod) {
			v.Affinity[c.Name] = best
		}
		for _, p := range m.Providers {
			if err := p.AllocatePod(pod, best); err != nil {
				v.refuse(err, p.Name(), "")
				return false
			}
		}
		return true
	}
	for c := range qos.Containers(pod) {
		v.Affinity[c.Name] = best
		if !v.allocate(m.Providers, pod, c, best) {
			return false
		}
	}
	return true
}

// round merges the hints of a container, or of the pod where c is nil.
func (m *Manager) round(v *Verdict, pod *corev1.Pod, c *corev1.Container) (Hint, bool) {
	r := Round{}
	if c != nil {
		r.Container = c.Name
	}
	var lists [][]Hint
	for _, p := range m.Providers {
		hints, err := ask(p, pod, c)
		if err != nil {
			v.refuse(err, p.Name(), r.Container)
			return Hint{}, false
		}
		r.Lists = append(r.Lists, listsOf(p.Name(), hints)...)
	}
	state := agreement{any: true}
	for i := range r.Lists {
		list := r.Lists[i].merged()
		lists = append(lists, list)
		state = state.with(list)
		r.Lists[i].Agreed, r.Lists[i].Free = state.masks, state.any
	}
	var err error
	r.Best, r.Admitted, err = m.choose(lists)
	r.Target = target(lists)
	v.Rounds = append(v.Rounds, r)
	if err != nil {
		v.refuse(err, "", r.Container)
		return Hint{}, false
	}
	if !r.Admitted {
		v.Reason, v.Container = ReasonTopologyAffinity, r.Container
		v.Message = m.refusal(pod, c == nil)
	}
	return r.Best, r.Admitted
}

func ask(p Provider, pod *corev1.Pod, c *corev1.Container) (Hints, error) {
	if c == nil {
		return p.PodHints(pod)
	}
	return p.Hints(pod, c)
}

// refusal is the kubelet's message for a merge that the policy does not admit.
// kubelet v1.37: cm/topologymanager/topology_manager.go TopologyAffinityError
func (m *Manager) refusal(pod *corev1.Pod, whole bool) string {
	switch {
	case qos.ManagedAsWhole(pod, m.gates) && whole:
		return "Pod Scope pod with pod-level resources failed admission under pod-scope topology manager"
	case qos.ManagedAsWhole(pod, m.gates):
		return "Pod Scope pod with pod-level resources failed admission with a container-level topology manager"
	}
	return "Resources cannot be allocated with Topology locality"
}

// listsOf puts a provider's lists in the order of their resources, where the
// kubelet takes its map's order: the merge does not depend on it.
func listsOf(provider string, hints Hints) []List {
	if len(hints) == 0 {
		return []List{{Provider: provider}}
	}
	var lists []List
	for _, resource := range slices.Sorted(maps.Keys(hints)) {
		lists = append(lists, List{Provider: provider, Resource: resource, Hints: hints[resource]})
	}
	return lists
}

// merged is the list as the merge takes it.
// kubelet v1.37: cm/topologymanager/policy.go filterProvidersHints
func (l List) merged() []Hint {
	switch {
	case l.Hints == nil:
		return []Hint{{Preferred: true}}
	case len(l.Hints) == 0:
		return []Hint{{Preferred: false}}
	}
	return l.Hints
}

// allocate lets each provider allocate for the container.
func (v *Verdict) allocate(providers []Provider, pod *corev1.Pod, c *corev1.Container, affinity Hint) bool {
	for _, p := range providers {
		if err := p.Allocate(pod, c, affinity); err != nil {
			v.refuse(err, p.Name(), c.Name)
			return false
		}
	}
	return true
}

// refuse turns an error into the pod's status.
// kubelet v1.37: cm/admission/errors.go GetPodAdmitResult
func (v *Verdict) refuse(err error, provider, container string) {
	v.Cause, v.Provider, v.Container = err, provider, container
	var refusal *RefusalError
	switch {
	case errors.As(err, &v.Crash):
	case errors.As(err, &refusal):
		v.Reason, v.Message = refusal.Reason, refusal.Message
	default:
		v.Reason = ReasonUnexpected
		v.Message = fmt.Sprintf("Allocate failed due to %v, which is unexpected", err)
	}
}
