package cli

import (
	"fmt"
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate"
)

// stick places the pods anew with what marked containers run on taken as given,
// where no kubelet keeps a checkpoint: what runs keeps its CPUs and NUMA nodes,
// and only new pods are placed.
func (o *planOptions) stick(a *app, w *wanted, host apply.Reader) error {
	if !o.containers || w.node.machine == nil || !simulate.Manages(w.node.config) {
		return nil
	}
	if len(o.checkpoints()) > 0 {
		return nil
	}
	if w.node.config.CPUManagerPolicy == kubelet.CPUPolicyStatic {
		cpus, err := apply.ReadHeld(w.tree, host, "cpuset.cpus")
		if err != nil {
			return err
		}
		if w.held, err = w.checkpoint(cpus); err != nil {
			return err
		}
		// The first placement has told of refused pods already.
		quiet := &app{System: a.System, log: slog.New(slog.DiscardHandler)}
		w.pods = w.given
		if err := o.place(quiet, w); err != nil {
			return err
		}
	}
	mems, err := apply.ReadHeld(w.tree, host, "cpuset.mems")
	if err != nil {
		return err
	}
	w.keepMems(mems)
	return nil
}

// keepMems leaves containers that are there on their NUMA nodes, where a
// manager pins them.
func (w *wanted) keepMems(held apply.Held) {
	for uid, containers := range held {
		for name, set := range containers {
			if at, ok := w.at[uid][name]; ok && !at.Mems.IsEmpty() {
				at.Mems = set
				w.at[uid][name] = at
			}
		}
	}
}

// checkpoint writes the exclusive CPUs that are held as a kubelet would; "" when
// there are none.
func (w *wanted) checkpoint(held apply.Held) (string, error) {
	empty, err := simulate.NewNode(simulate.Spec{
		Config: w.node.config, Machine: w.node.machine, CgroupVersion: w.node.cgroupVersion,
	}, simulate.Files{})
	if err != nil {
		return "", fmt.Errorf("reading the shared pool: %w", err)
	}
	pool, err := cpuset.Parse(empty.State().Default)
	if err != nil {
		return "", fmt.Errorf("reading the shared pool: %w", err)
	}
	state := kubelet.CPUManagerState{PolicyName: kubelet.CPUPolicyStatic, DefaultCPUSet: pool, Entries: map[string]map[string]cpuset.CPUSet{}}
	for uid, containers := range held {
		pod := w.pod(uid)
		if pod == nil && w.incomplete == "" {
			continue // it goes: its CPUs are free
		}
		for name, set := range containers {
			if !w.exclusive(pod, held, uid, name) || !set.IsSubsetOf(pool) {
				continue
			}
			if state.Entries[uid] == nil {
				state.Entries[uid] = map[string]cpuset.CPUSet{}
			}
			state.Entries[uid][name] = set
			state.DefaultCPUSet = state.DefaultCPUSet.Difference(set)
		}
	}
	if len(state.Entries) == 0 {
		return "", nil
	}
	text, err := state.Marshal(w.node.config.Gates)
	if err != nil {
		return "", fmt.Errorf("keeping the CPUs of running containers: %w", err)
	}
	return string(text), nil
}

// pod finds one of the pods given; nil for another.
func (w *wanted) pod(uid string) *corev1.Pod {
	for _, pod := range w.given {
		if cgroups.PodUID(pod) == uid {
			return pod
		}
	}
	return nil
}

// exclusive says whether a container that is there has its CPUs for itself: one
// of a pod given if the policy gives it any, another if it shares them with
// nobody.
func (w *wanted) exclusive(pod *corev1.Pod, held apply.Held, uid, name string) bool {
	if pod != nil {
		for c := range qos.Containers(pod) {
			if c.Name == name {
				n, _ := qos.ExclusiveCPUs(pod, c, w.node.config.Gates)
				return n > 0
			}
		}
		return false
	}
	for other, containers := range held {
		for which, set := range containers {
			if (other != uid || which != name) && !set.Intersection(held[uid][name]).IsEmpty() {
				return false
			}
		}
	}
	return true
}
