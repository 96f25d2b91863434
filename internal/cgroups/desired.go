package cgroups

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
)

// Desired is the tree that a kubelet of the node keeps for the pods, in the
// steady state that its tier loop reaches: parents before children, each path
// once. Terminal and deleted pods do not count. What cannot be planned, such as
// a pod whose UID is no folder name, is told in the error; the tree then holds
// all the rest.
func Desired(node Node, pods []*corev1.Pod, at Placement) (Tree, error) {
	p := planner{node: node, at: at, tree: Tree{Driver: node.Driver, Version: node.Version}, owner: map[string]string{}}
	if _, err := folder(Root(node.Config.CgroupRoot, node.Config.PerQOS()), node.Driver); err != nil {
		return p.tree, fmt.Errorf("cgroupRoot %q: %w", node.Config.CgroupRoot, err)
	}
	active := ActivePods(pods)
	groups, err := enforcedGroups(node)
	p.fail(err)
	if node.Config.PerQOS() {
		groups = withTiers(node, groups, tiers(node, sumPods(node, active)))
	}
	for _, g := range groups {
		p.add(g, nil, "")
	}
	if node.Config.PerQOS() {
		for _, pod := range active {
			p.addPod(pod)
		}
	}
	slices.SortFunc(p.tree.Cgroups, func(a, b Cgroup) int { return comparePaths(a.Path, b.Path) })
	return p.tree, errors.Join(p.errs...)
}

// withTiers adds what the tier loop writes.
func withTiers(node Node, groups []group, t tierSettings) []group {
	root := Root(node.Config.CgroupRoot, true)
	for i := range groups {
		if slices.Equal(groups[i].name, root) {
			groups[i].settings = groups[i].settings.over(t.kubepods)
		}
	}
	return append(groups,
		group{LevelQoS, Tier(root, corev1.PodQOSBurstable), t.burstable},
		group{LevelQoS, Tier(root, corev1.PodQOSBestEffort), t.bestEffort})
}

// ActivePods leaves out the pods that have ended or are about to: their
// cgroups go.
func ActivePods(pods []*corev1.Pod) []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(pods), func(pod *corev1.Pod) bool {
		return pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	})
}

// planner gathers a tree.
type planner struct {
	node Node
	at   Placement
	tree Tree
	errs []error
	// owner tells by path whose cgroup it is.
	owner map[string]string
}

func (p *planner) fail(err error) {
	if err != nil {
		p.errs = append(p.errs, err)
	}
}

// add renders a group and keeps it, unless its path is taken.
func (p *planner) add(g group, pod *PodRef, container string) *Cgroup {
	c, err := p.node.render(g)
	if err != nil {
		p.fail(err)
		return nil
	}
	who := string(g.level)
	if pod != nil {
		who = strings.TrimSpace(fmt.Sprintf("pod %s/%s %s", pod.Namespace, pod.Name, container))
	}
	if other, taken := p.owner[c.Path]; taken {
		p.fail(fmt.Errorf("cgroup %s of %s is that of %s already", c.Path, who, other))
		return nil
	}
	p.owner[c.Path] = who
	c.Pod, c.Container = pod, container
	p.tree.Cgroups = append(p.tree.Cgroups, c)
	return &p.tree.Cgroups[len(p.tree.Cgroups)-1]
}

func (p *planner) addPod(pod *corev1.Pod) {
	cfg := p.node.Config
	uid := PodUID(pod)
	ref := &PodRef{Namespace: cmp.Or(pod.Namespace, corev1.NamespaceDefault), Name: pod.Name, UID: uid}
	name, err := PodName(Root(cfg.CgroupRoot, true), qos.Class(pod, cfg.Gates), uid)
	if err != nil {
		p.fail(fmt.Errorf("pod %s/%s: metadata.uid: %w", ref.Namespace, ref.Name, err))
		return
	}
	exclusive := qos.PodIsolated(pod, func(c *corev1.Container) bool { return p.assigned(pod, uid, c).Exclusive }, cfg.Gates)
	if p.add(group{LevelPod, name, PodSettings(pod, cfg, exclusive)}, ref, "") == nil || !p.node.Containers {
		return
	}
	for _, c := range runningContainers(pod, false) {
		p.addContainer(pod, ref, name, c)
	}
}

func (p *planner) addContainer(pod *corev1.Pod, ref *PodRef, parent Name, c *corev1.Container) {
	name, err := parent.Child(c.Name)
	if err != nil {
		p.fail(fmt.Errorf("pod %s/%s: container name: %w", ref.Namespace, ref.Name, err))
		return
	}
	settings := ContainerSettings(pod, c, p.node, p.assigned(pod, ref.UID, c))
	made := p.add(group{LevelContainer, name, settings}, ref, c.Name)
	if made == nil {
		return
	}
	memory, known := amount(p.node.Capacity, corev1.ResourceMemory)
	if known || !qos.NeedsMemoryCapacity(pod, p.node.Config.Gates) {
		score := qos.OOMScoreAdj(pod, c, memory, p.node.Config.Gates)
		made.OOMScoreAdj = &score
	}
}

// assigned is what the placement says of a container. Of a pod that it does not
// hold only this is sure: whether the static policy would give it CPUs.
func (p *planner) assigned(pod *corev1.Pod, uid string, c *corev1.Container) Assignment {
	if placed, ok := p.at[uid]; ok {
		return placed[c.Name]
	}
	if !p.node.static() {
		return Assignment{}
	}
	n, _ := qos.ExclusiveCPUs(pod, c, p.node.Config.Gates)
	return Assignment{Exclusive: n > 0}
}

// PodUID is the UID by which the kubelet knows the pod: of a mirror pod that of
// the static pod behind it.
//
// kubelet v1.37: pkg/kubelet/config/common.go applyDefaults,
// pkg/kubelet/pod/mirror_client.go CreateMirrorPod.
func PodUID(pod *corev1.Pod) string {
	return cmp.Or(pod.Annotations[kubelet.MirrorAnnotation], string(pod.UID))
}

// render makes a cgroup of a group.
func (n Node) render(g group) (Cgroup, error) {
	path, err := folder(g.name, n.Driver)
	if err != nil {
		return Cgroup{}, err
	}
	c := Cgroup{
		Name: g.name, Path: path, Level: g.level,
		Files: map[string]string{}, Why: map[string]string{}, Unknown: map[string]string{},
	}
	if shares := g.settings.CPUShares; shares != nil && shares.Unknown == "" {
		c.CPUShares = shares.Is
	}
	rendered := g.settings.Render(n.Platform)
	for _, f := range rendered.Files {
		if f.Unknown != "" {
			c.Unknown[f.Name] = f.Unknown
			continue
		}
		c.Files[f.Name], c.Why[f.Name] = f.Is, f.Why
	}
	if n.Driver != Systemd {
		return c, nil
	}
	c.Unit, _ = Unit(path)
	c.Properties = map[string]string{}
	for _, p := range rendered.Properties {
		if p.Unknown == "" {
			c.Properties[p.Name] = p.Is
		}
	}
	return c, nil
}

// runningContainers are the containers that run side by side once the pod has
// started: sidecars, app and ephemeral containers; with initial, the init
// containers that end before that too.
func runningContainers(pod *corev1.Pod, initial bool) []*corev1.Container {
	var list []*corev1.Container
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; initial || qos.IsSidecar(c) {
			list = append(list, c)
		}
	}
	for i := range pod.Spec.Containers {
		list = append(list, &pod.Spec.Containers[i])
	}
	for i := range pod.Spec.EphemeralContainers {
		common := corev1.Container(pod.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		list = append(list, &common)
	}
	return list
}
