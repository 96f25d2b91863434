package devicemanager

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// Allocate gives the container the devices that its limits name. Devices of an
// ordinary init container become reusable for the pod's later containers.
// kubelet v1.37: cm/devicemanager/manager.go Allocate
func (m *Manager) Allocate(pod *corev1.Pod, c *corev1.Container, affinity topologymanager.Hint) error {
	uid := string(pod.UID)
	if m.reusable[uid] == nil {
		m.reusable = map[string]map[string]ids{uid: {}}
	}
	if err := m.allocateAll(pod, c, affinity); err != nil {
		return err
	}
	ordinary := slices.ContainsFunc(pod.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.Name && !qos.IsSidecar(&i) })
	for resource, a := range m.pods[uid][c.Name] {
		if ordinary {
			m.reusable[uid][resource] = m.reusable[uid][resource].or(a.ids())
		} else {
			m.reusable[uid][resource] = m.reusable[uid][resource].without(a.ids())
		}
	}
	return nil
}

// allocateAll goes through the limits by rising name, where the kubelet takes
// its map's order.
// kubelet v1.37: cm/devicemanager/manager.go allocateContainerResources
func (m *Manager) allocateAll(pod *corev1.Pod, c *corev1.Container, affinity topologymanager.Hint) error {
	uid := string(pod.UID)
	var names []string
	for _, name := range slices.Sorted(maps.Keys(c.Resources.Limits)) {
		if m.managed(string(name)) && !m.claimed(pod, c.Name, string(name)) {
			names = append(names, string(name))
		}
	}
	write := false
	for _, resource := range names {
		quantity := c.Resources.Limits[corev1.ResourceName(resource)]
		taken, err := m.take(uid, c.Name, resource, int(quantity.Value()), affinity.Affinity)
		if err != nil {
			m.chance.Result = m.chance.Result || len(names) > 1
			return err
		}
		if len(taken) == 0 {
			continue
		}
		perNUMA := kubelet.DevicesPerNUMA{}
		for _, id := range taken.sorted() {
			nodes := m.devices[resource][id].NUMA
			if len(nodes) == 0 {
				nodes = []int{withoutNode}
			}
			for _, node := range nodes {
				perNUMA[int64(node)] = append(perNUMA[int64(node)], id)
			}
		}
		m.record(uid, c.Name, resource, allocation{perNUMA, []byte{}})
		write = true
	}
	if write {
		m.checkpoint()
	}
	return nil
}

// claimed tells whether DRA provides the extended resource.
// kubelet v1.37: cm/devicemanager/manager.go isDRAExtendedResource
func (m *Manager) claimed(pod *corev1.Pod, container, resource string) bool {
	status := pod.Status.ExtendedResourceClaimStatus
	return status != nil && m.gates.Enabled("DRAExtendedResource") &&
		slices.ContainsFunc(status.RequestMappings, func(r corev1.ContainerExtendedResourceRequest) bool {
			return r.ContainerName == container && r.ResourceName == resource
		})
}

// picking is the choice of devices for one resource of one container.
type picking struct {
	m        *Manager
	resource string
	taken    ids
	missing  int
}

// from takes what is missing out of the set, or all of it. The kubelet takes
// members at random.
func (p *picking) from(set ids) (done bool) {
	set = set.without(p.taken)
	if len(set) > p.missing && p.missing > 0 {
		p.m.chance.Devices = true
	}
	if p.m.allocated[p.resource] == nil {
		p.m.allocated[p.resource] = ids{}
	}
	for _, id := range set.sorted() {
		p.m.allocated[p.resource].add(id)
		p.taken.add(id)
		if p.missing--; p.missing == 0 {
			return true
		}
	}
	return false
}

// take chooses the devices of one resource that the container gets beyond those
// it has: reusable ones first, then by the affinity.
// kubelet v1.37: cm/devicemanager/manager.go devicesToAllocate
func (m *Manager) take(uid, container, resource string, required int, affinity topologymanager.Mask) (ids, error) {
	has, recorded := m.pods[uid][container][resource]
	healthy, registered := m.healthy[resource]
	p := &picking{m: m, resource: resource, taken: ids{}, missing: required - len(has.ids())}
	switch {
	case recorded && p.missing != 0:
		return nil, fmt.Errorf("pod %q container %q changed request for resource %q from %d to %d", uid, container, resource, len(has.ids()), required)
	case m.running != nil && m.running(uid, container):
		return nil, nil
	case !registered:
		return nil, fmt.Errorf("cannot allocate unregistered device %s", resource)
	case len(healthy) == 0:
		return nil, fmt.Errorf("no healthy devices present; cannot allocate unhealthy devices %s", resource)
	case len(has.ids().without(healthy)) > 0:
		return nil, fmt.Errorf("previously allocated devices are no longer healthy; cannot allocate unhealthy devices %s", resource)
	case p.missing == 0:
		return nil, nil
	}
	if p.from(m.reusable[uid][resource]) {
		return p.taken, nil
	}
	free := healthy.without(m.allocated[resource])
	if len(free) < p.missing {
		return nil, fmt.Errorf("requested number of devices unavailable for %s. Requested: %d, Available: %d", resource, p.missing, len(free))
	}
	aligned, unaligned, without := m.split(resource, free, affinity)
	sets := []func() ids{
		func() ids { return aligned },
		func() ids { return m.preference(resource, free.or(p.taken), p.taken, required).and(free) },
		func() ids { return unaligned },
		func() ids { return without },
	}
	if p.missing < len(aligned) {
		sets = []func() ids{
			func() ids { return m.preference(resource, aligned.or(p.taken), p.taken, required).and(aligned) },
			func() ids { return aligned },
		}
	}
	for _, set := range sets {
		if p.from(set()) {
			return p.taken, nil
		}
	}
	return nil, fmt.Errorf("unexpectedly allocated less resources than required. Requested: %d, Got: %d", required, required-p.missing)
}

// preference is the answer of a plugin with GetPreferredAllocation.
func (m *Manager) preference(resource string, available, mustInclude ids, size int) ids {
	if !slices.Contains(m.preferred, resource) {
		return nil
	}
	chosen := maps.Clone(mustInclude)
	for _, id := range available.sorted() {
		if len(chosen) >= size {
			break
		}
		chosen.add(id)
	}
	return chosen
}

// split divides free devices by the affinity. Without affinity, or where no
// device of the resource names a node, all stand without topology.
// kubelet v1.37: cm/devicemanager/manager.go filterByAffinity
func (m *Manager) split(resource string, free ids, affinity topologymanager.Mask) (aligned, unaligned, without ids) {
	aligned, unaligned, without = ids{}, ids{}, ids{}
	if affinity == 0 || !m.aligned(resource) {
		return aligned, unaligned, free
	}
	for id := range free {
		switch d := m.devices[resource][id]; {
		case len(d.NUMA) == 0:
			without.add(id)
		case place(d)&affinity != 0:
			aligned.add(id)
		default:
			unaligned.add(id)
		}
	}
	return aligned, unaligned, without
}

var _ topologymanager.Provider = (*Manager)(nil)
