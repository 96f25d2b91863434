package cli

import (
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/parallel"
	"github.com/kqos/kqos/internal/qos"
	quantities "github.com/kqos/kqos/internal/quantity"
)

// classifier holds what is the same for all pods.
type classifier struct {
	config *kubelet.Config
	gates  kubelet.Gates
	// memory is the capacity in bytes, 0 when unknown.
	memory int64
	root   cgroups.Name
	pages  []string
	static bool
	// controls asks for control files and properties, which only the printed
	// object shows.
	controls bool
	// unscored counts the pods that lack an OOM score.
	unscored int
}

// newClassifier answers on the node; controls asks for the control files and
// properties of the pods' cgroups too.
func newClassifier(n *node, controls bool) (*classifier, error) {
	pages, err := n.pageSizes()
	if err != nil {
		return nil, err
	}
	return &classifier{
		config: n.config, gates: n.config.Gates, memory: n.memory(), pages: pages,
		root:   cgroups.Root(n.config.CgroupRoot, n.config.PerQOS()),
		static: n.config.CPUManagerPolicy == kubelet.CPUPolicyStatic, controls: controls,
	}, nil
}

// classify answers for some pods.
func (c *classifier) classify(a *app, in *podInput) []podClassification {
	items := make([]podClassification, len(in.Workloads))
	errs := make([]error, len(items))
	parallel.Each(len(items), func(i int) {
		w := &in.Workloads[i]
		items[i].Source, items[i].Warnings = w.Source, in.notes[i]
		errs[i] = c.fill(&items[i], *w.Pod)
	})
	for i, err := range errs {
		if err != nil {
			a.logger().Warn(workloadName(&in.Workloads[i]) + ": " + err.Error())
			items[i].Warnings = append(items[i].Warnings, err.Error())
		}
		if slices.ContainsFunc(items[i].Containers, func(c containerClassification) bool { return c.OOMScoreAdj == nil }) {
			c.unscored++
		}
	}
	return items
}

// tell says what was not known of the pods.
func (c *classifier) tell(a *app) {
	if c.unscored > 0 {
		a.logger().Warn(fmt.Sprintf("no oom_score_adj for %s: it depends on the memory capacity, which is unknown; give --topology or --capacity memory=SIZE", quantities.Count(c.unscored, "pod")))
	}
}

// fill answers for one pod, of which it gets a copy. An error costs the cgroup
// alone.
func (c *classifier) fill(item *podClassification, pod corev1.Pod) error {
	g := c.gates
	item.Reasons = qos.Reasons(&pod, g)
	if item.Reasons == nil {
		item.Reasons = []qos.Reason{}
	}
	// The class as a status is believed by all that follows, so it is computed
	// once.
	pod.Status.QOSClass = qos.Class(&pod, g)
	item.Namespace, item.Name, item.UID = pod.Namespace, pod.Name, pod.UID
	item.QOSClass, item.Critical = pod.Status.QOSClass, qos.IsCritical(&pod)
	item.Requests, item.Limits = qos.Requests(&pod, g), qos.Limits(&pod, g)
	if qos.HasStatusResources(&pod) {
		item.RequestsWithStatus, item.LimitsWithStatus = qos.RequestsWithStatus(&pod, g), qos.LimitsWithStatus(&pod, g)
	}
	item.overflows = qos.Overflows(&pod, g)
	c.containers(item, &pod)
	exclusive := c.static && qos.PodIsolated(&pod, func(of *corev1.Container) bool {
		n, _ := qos.ExclusiveCPUs(&pod, of, g)
		return n > 0
	}, g)
	return c.cgroup(item, &pod, exclusive)
}

// containers lists them in the order in which they start.
func (c *classifier) containers(item *podClassification, pod *corev1.Pod) {
	item.Containers = make([]containerClassification, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers)+len(pod.Spec.EphemeralContainers))
	for i := range pod.Spec.InitContainers {
		t := initContainer
		if qos.IsSidecar(&pod.Spec.InitContainers[i]) {
			t = sidecarContainer
		}
		c.container(item, pod, &pod.Spec.InitContainers[i], t)
	}
	for i := range pod.Spec.Containers {
		c.container(item, pod, &pod.Spec.Containers[i], appContainer)
	}
	for i := range pod.Spec.EphemeralContainers {
		ephemeral := corev1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		c.container(item, pod, &ephemeral, ephemeralContainer)
	}
}

func (c *classifier) container(item *podClassification, pod *corev1.Pod, of *corev1.Container, t containerType) {
	out := containerClassification{Name: of.Name, Type: t, Requests: listed(of.Resources.Requests), Limits: listed(of.Resources.Limits)}
	if c.memory > 0 || !qos.NeedsMemoryCapacity(pod, c.gates) {
		score := qos.OOMScoreAdj(pod, of, c.memory, c.gates)
		out.OOMScoreAdj = &score
	}
	if t == ephemeralContainer {
		out.ExclusiveWhy = "an ephemeral container has no resources of its own"
	} else {
		out.ExclusiveCPUs, out.ExclusiveWhy = qos.ExclusiveCPUs(pod, of, c.gates)
	}
	if out.ExclusiveCPUs > 0 && !c.static {
		out.ExclusiveWhy += fmt.Sprintf(", once cpuManagerPolicy is %s", kubelet.CPUPolicyStatic)
	}
	item.Containers = append(item.Containers, out)
}

// listed prints an absent list as {}.
func listed(list corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		return corev1.ResourceList{}
	}
	return list
}

// cgroup fills the pod's own cgroup for both drivers and versions.
func (c *classifier) cgroup(item *podClassification, pod *corev1.Pod, exclusive bool) error {
	if !c.config.PerQOS() {
		return nil
	}
	name, err := cgroups.PodName(c.root, item.QOSClass, string(pod.UID))
	if err != nil {
		return fmt.Errorf("metadata.uid: naming the pod's cgroup: %w", err)
	}
	plain, err := name.Path(cgroups.Cgroupfs)
	if err != nil {
		return fmt.Errorf("naming the pod's cgroup: %w", err)
	}
	slice, err := name.Path(cgroups.Systemd)
	if err != nil {
		return fmt.Errorf("naming the pod's slice: %w", err)
	}
	item.Cgroup.Cgroupfs = &cgroupfsCgroup{Path: plain}
	item.Cgroup.Systemd = &systemdCgroup{Path: slice, Unit: path.Base(slice)}
	s := cgroups.PodSettings(pod, c.config, exclusive)
	item.cpuBound = s.CPUQuota != nil && s.CPUQuota.Is > 0
	item.memoryBound = s.Memory != nil && s.Memory.Is > 0
	if !c.controls {
		return nil
	}
	item.Cgroup.Cgroupfs.V1, _ = c.render(s, cgroups.Cgroupfs, 1)
	item.Cgroup.Cgroupfs.V2, _ = c.render(s, cgroups.Cgroupfs, 2)
	item.Cgroup.Systemd.V1, item.Cgroup.Systemd.PropertiesV1 = c.render(s, cgroups.Systemd, 1)
	item.Cgroup.Systemd.V2, item.Cgroup.Systemd.PropertiesV2 = c.render(s, cgroups.Systemd, 2)
	return nil
}

func (c *classifier) render(s cgroups.Settings, driver string, version int) (files, properties controls) {
	r := s.Render(cgroups.Platform{Driver: driver, Version: version, PageSizes: c.pages})
	return named(r.Files), named(r.Properties)
}

func named(list []cgroups.Control) controls {
	out := make(controls, len(list))
	for _, control := range list {
		out[control.Name] = control.Is
	}
	return out
}
