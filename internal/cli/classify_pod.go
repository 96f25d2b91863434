package cli

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
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
	// unscored counts pods whose OOM scores need an unknown capacity.
	unscored int
}

func classify(a *app, in *podInput, n *node) (*podClassificationList, error) {
	pages, err := n.pageSizes()
	if err != nil {
		return nil, err
	}
	c := classifier{
		config: n.config, gates: n.config.Gates, memory: n.memory(), pages: pages,
		root:   cgroups.Root(n.config.CgroupRoot, perQOS(n.config)),
		static: n.config.CPUManagerPolicy == staticPolicy,
	}
	list := &podClassificationList{typeMeta: kind("PodClassificationList"), Reading: in.reading, Items: make([]podClassification, len(in.Workloads))}
	for i := range in.Workloads {
		w := &in.Workloads[i]
		item := &list.Items[i]
		item.Source, item.Warnings = w.Source, in.notes[i]
		if err := c.fill(item, w.Pod); err != nil {
			a.logger().Warn(workloadName(w) + ": " + err.Error())
			item.Warnings = append(item.Warnings, err.Error())
		}
	}
	if c.unscored > 0 {
		a.logger().Warn(fmt.Sprintf("no oom_score_adj for %d pods: it depends on the memory capacity, which is unknown; give --topology or --capacity memory=SIZE", c.unscored))
	}
	return list, nil
}

// fill answers for one pod. An error costs the cgroup alone.
func (c *classifier) fill(item *podClassification, pod *corev1.Pod) error {
	g := c.gates
	item.Namespace, item.Name, item.UID = pod.Namespace, pod.Name, pod.UID
	item.QOSClass, item.Critical = qos.Class(pod, g), qos.IsCritical(pod)
	if item.Reasons = qos.Reasons(pod, g); item.Reasons == nil {
		item.Reasons = []qos.Reason{}
	}
	item.Requests, item.Limits = qos.Requests(pod, g), qos.Limits(pod, g)
	if qos.HasStatusResources(pod) {
		item.RequestsWithStatus, item.LimitsWithStatus = qos.RequestsWithStatus(pod, g), qos.LimitsWithStatus(pod, g)
	}
	exclusive := c.containers(item, pod)
	return c.cgroup(item, pod, exclusive && c.static)
}

// containers lists them in the order in which they start; exclusive tells
// whether one qualifies for CPUs of its own.
func (c *classifier) containers(item *podClassification, pod *corev1.Pod) (exclusive bool) {
	item.Containers = make([]containerClassification, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers)+len(pod.Spec.EphemeralContainers))
	if c.memory == 0 && qos.NeedsMemoryCapacity(pod, c.gates) {
		c.unscored++
	}
	for i := range pod.Spec.InitContainers {
		t := initContainer
		if qos.IsSidecar(&pod.Spec.InitContainers[i]) {
			t = sidecarContainer
		}
		exclusive = c.container(item, pod, &pod.Spec.InitContainers[i], t) || exclusive
	}
	for i := range pod.Spec.Containers {
		exclusive = c.container(item, pod, &pod.Spec.Containers[i], appContainer) || exclusive
	}
	for i := range pod.Spec.EphemeralContainers {
		ephemeral := corev1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		c.container(item, pod, &ephemeral, ephemeralContainer)
	}
	return exclusive
}

func (c *classifier) container(item *podClassification, pod *corev1.Pod, of *corev1.Container, t containerType) (exclusive bool) {
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
		out.ExclusiveWhy += fmt.Sprintf(", once cpuManagerPolicy is %s", staticPolicy)
	}
	item.Containers = append(item.Containers, out)
	return out.ExclusiveCPUs > 0
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
	if !perQOS(c.config) {
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
	s := cgroups.PodSettings(pod, c.config, exclusive)
	item.Cgroup.Cgroupfs = &cgroupfsCgroup{Path: plain}
	item.Cgroup.Systemd = &systemdCgroup{Path: slice, Unit: path.Base(slice)}
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
