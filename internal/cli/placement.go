package cli

import (
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate"
)

// place admits the pods in their order as the kubelet's managers do. Pods that
// they refuse run nowhere and get no cgroups. On this host the kubelet's
// checkpoint files tell where its pods are, and only new ones are placed.
func (o *planOptions) place(a *app, w *wanted) error {
	n := w.node
	w.pods = fitting(a, w)
	if !simulate.Manages(n.config) || n.machine == nil {
		return nil
	}
	files := simulate.Files{}
	if o.onHost(n) || o.node.live {
		files = o.checkpoints()
	}
	if _, kept := files[kubelet.CPUManagerStateFile]; !kept && w.held != "" {
		files[kubelet.CPUManagerStateFile] = w.held
	}
	// All that is checkpointed runs: a pod keeps its CPUs until its turn to be
	// admitted comes, whoever stands before it.
	sim, err := simulate.NewNode(simulate.Spec{
		Config: startable(n.config), Machine: n.machine, CgroupVersion: n.cgroupVersion, KeepUnknown: true,
		Dir: or(o.stateDir, o.node.kubeletDir()),
	}, files)
	if err != nil {
		return fmt.Errorf("placing the pods: the kubelet would not start: %w", err)
	}
	w.given = cgroups.ActivePods(w.pods)
	w.pods = nil
	placed := map[string][]simulate.Container{}
	for _, pod := range w.given {
		name := fullName(pod)
		uid := cgroups.PodUID(pod)
		known := *pod
		known.UID = types.UID(uid)
		admission := sim.Add(&known)
		v := admission.Verdict
		switch {
		case v.Crash != nil:
			return fmt.Errorf("placing pod %s: the kubelet would crash: %w", name, v.Crash)
		case v.Admitted:
			placed[uid] = admission.Containers
		case pod.Status.Phase != corev1.PodRunning:
			a.logger().Warn(fmt.Sprintf("pod %s gets no cgroup: the kubelet refuses it: %s: %s", name, v.Reason, v.Message))
			continue
		}
		w.pods = append(w.pods, pod)
	}
	w.at, err = assignments(placed, sim.State().Default, n.config.CPUManagerPolicy == kubelet.CPUPolicyStatic)
	return err
}

// startable is the configuration without what keeps a kubelet off a host for the
// host's own sake, of which the plan only warns.
func startable(c *kubelet.Config) *kubelet.Config {
	started, off := *c, false
	started.FailCgroupV1, started.FailSwapOn = &off, &off
	return &started
}

// fitting leaves out the static pods that the kubelet refuses for lack of room.
// Other pods come through a scheduler, which leaves room or sends them
// elsewhere, so that their want of it is only told; live ones are in already.
func fitting(a *app, w *wanted) []*corev1.Pod {
	active := cgroups.ActivePods(w.pods)
	if w.fromKubelet || w.in.reading == admission.AsWritten {
		return active
	}
	result, _ := allocatable.Compute(w.node.config, w.node.onNode())
	room := result.Room()
	var fit []*corev1.Pod
	told := false
	for _, pod := range active {
		short := room.Take(qos.Requests(pod, w.node.config.Gates))
		switch {
		case short == nil:
		case w.in.reading == admission.Static:
			a.logger().Warn(fmt.Sprintf("pod %s gets no cgroup: the kubelet refuses it: %s: %s", fullName(pod), short.Reason(), short.Message()))
			continue
		case !told:
			told = true
			a.logger().Warn(fmt.Sprintf("the pods do not all fit on the node, and the kubelet would refuse some: pod %s: %s: %s", fullName(pod), short.Reason(), short.Message()))
		}
		fit = append(fit, pod)
	}
	return fit
}

func fullName(pod *corev1.Pod) string { return namedIn(pod.Namespace, pod.Name) }

// namedIn is a name with its namespace, as kubectl takes it.
func namedIn(namespace, name string) string {
	return or(namespace, corev1.NamespaceDefault) + "/" + name
}

// assignments reads the sets. Containers without CPUs of their own share those
// that are left in the end.
func assignments(placed map[string][]simulate.Container, shared string, static bool) (cgroups.Placement, error) {
	at := cgroups.Placement{}
	for uid, containers := range placed {
		at[uid] = map[string]cgroups.Assignment{}
		for _, c := range containers {
			assigned := cgroups.Assignment{Exclusive: c.Exclusive}
			cpus := shared
			if c.Exclusive {
				cpus = c.CPUs
			}
			var err error
			if static {
				if assigned.CPUs, err = cpuset.Parse(cpus); err != nil {
					return nil, fmt.Errorf("reading the CPUs of container %s: %w", c.Name, err)
				}
			}
			if assigned.Mems, err = cpuset.Parse(c.Mems); err != nil {
				return nil, fmt.Errorf("reading the NUMA nodes of container %s: %w", c.Name, err)
			}
			at[uid][c.Name] = assigned
		}
	}
	return at, nil
}

// checkpoints are the files of the kubelet of this host, as far as there are
// any.
func (o *planOptions) checkpoints() simulate.Files {
	files := simulate.Files{}
	dir := or(o.stateDir, o.node.kubeletDir())
	for _, name := range []string{kubelet.CPUManagerStateFile, kubelet.MemoryManagerStateFile} {
		if data, err := input.File(filepath.Join(dir, name), input.Config); err == nil {
			files[name] = string(data)
		}
	}
	return files
}
