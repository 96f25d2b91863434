// Package devicemanager gives containers the devices of device plugins as the
// kubelet's device manager does. The inventory is that of the machine: one
// plugin for each resource.
//
//	m := devicemanager.New(devicemanager.Config{Machine: mach})
//	m.Start(nil)
//	m.Register()
//	err := m.Allocate(pod, &pod.Spec.Containers[0], affinity)
//	fmt.Println(m.Devices(string(pod.UID), "app")) // map[vendor.com/gpu:[gpu0]]
//
// Where the kubelet picks at random among equivalent devices, the smallest ids
// are taken and Chance tells so.
package devicemanager

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// withoutNode is the NUMA node under which a device without one is recorded.
const withoutNode = -1

// Config is what a device manager is made of.
type Config struct {
	Machine *machine.Machine
	// Preferred are the resources whose plugin answers GetPreferredAllocation:
	// must-include devices first, then the smallest ids, shorter ones first.
	Preferred []string
	Gates     kubelet.Gates
}

// Manager is the device manager of one kubelet. It is a
// topologymanager.Provider.
type Manager struct {
	gates     kubelet.Gates
	nodeIDs   []int
	inventory []machine.Device
	preferred []string

	// devices are those that the plugins reported, by resource and id; none
	// before they registered.
	devices map[string]map[string]machine.Device
	// healthy has an entry for every resource that a plugin ever registered.
	healthy map[string]ids
	// allocated are the devices in use. It is made anew from pods only when a
	// pod is dropped.
	allocated map[string]ids
	pods      map[string]containers
	// reusable are the devices of ordinary init containers of the pod being
	// admitted.
	reusable map[string]map[string]ids

	// running tells which containers run while the kubelet's sources are not
	// ready; nil once they are.
	running func(podUID, container string) bool

	file   *kubelet.DeviceManagerState
	chance Chance
}

// containers are the devices of a pod by container and resource.
type containers map[string]map[string]allocation

type allocation struct {
	perNUMA  kubelet.DevicesPerNUMA
	response []byte
}

func (a allocation) ids() ids {
	set := ids{}
	for _, list := range a.perNUMA {
		set.add(list...)
	}
	return set
}

// Chance tells what the kubelet leaves to chance in the answers so far.
type Chance struct {
	// Devices: which of several equivalent devices a container got.
	Devices bool
	// Result: which of several resources of a container was refused first, and
	// so what was left allocated.
	Result bool
}

// New makes the manager. The kubelet's has no way to fail here that a
// simulation could meet.
// kubelet v1.37: cm/devicemanager/manager.go newManagerImpl
func New(c Config) *Manager {
	m := &Manager{gates: c.Gates, inventory: c.Machine.Devices, preferred: c.Preferred}
	for _, n := range c.Machine.NUMA {
		m.nodeIDs = append(m.nodeIDs, n.ID)
	}
	slices.Sort(m.nodeIDs)
	return m
}

// Start takes over what an earlier kubelet left, nil for nothing. Resources
// that were registered then exist without healthy devices until Register.
// kubelet v1.37: cm/devicemanager/manager.go readCheckpoint
func (m *Manager) Start(s *kubelet.DeviceManagerState) {
	m.devices, m.healthy = map[string]map[string]machine.Device{}, map[string]ids{}
	m.pods, m.reusable = map[string]containers{}, map[string]map[string]ids{}
	m.file = nil
	if s != nil {
		for _, e := range s.Entries {
			m.record(e.PodUID, e.ContainerName, e.ResourceName, allocation{e.DeviceIDs, e.AllocResp})
		}
		for resource := range s.Registered {
			m.healthy[resource] = ids{}
		}
	}
	m.recount()
}

// Register lets the plugins report the machine's devices.
// kubelet v1.37: cm/devicemanager/manager.go genericDeviceUpdateCallback
func (m *Manager) Register() {
	fresh := map[string]bool{}
	for _, d := range m.inventory {
		if !fresh[d.Resource] {
			fresh[d.Resource] = true
			m.devices[d.Resource], m.healthy[d.Resource] = map[string]machine.Device{}, ids{}
		}
		m.devices[d.Resource][d.ID] = d
		if d.Healthy {
			m.healthy[d.Resource].add(d.ID)
		}
	}
	if len(fresh) > 0 {
		m.checkpoint()
	}
}

// Recovering makes the manager let containers through that run already, as
// while the kubelet's sources are not ready; nil ends that.
func (m *Manager) Recovering(running func(podUID, container string) bool) { m.running = running }

// Name is device.
func (m *Manager) Name() string { return "device" }

// Chance tells what was left to chance so far.
func (m *Manager) Chance() Chance { return m.chance }

// Devices are the ids of a container's devices by resource, sorted as plugins
// sort them.
func (m *Manager) Devices(podUID, container string) map[string][]string {
	found := map[string][]string{}
	for resource, a := range m.pods[podUID][container] {
		found[resource] = a.ids().sorted()
	}
	return found
}

// Free are the healthy devices that no container has, by resource.
func (m *Manager) Free() map[string][]string {
	free := map[string][]string{}
	for resource, healthy := range m.healthy {
		free[resource] = healthy.without(m.allocated[resource]).sorted()
	}
	return free
}

// Pods are the UIDs of the pods with devices, sorted.
func (m *Manager) Pods() []string { return slices.Sorted(maps.Keys(m.pods)) }

// RemoveStale frees the devices of pods that are not active. Only then are the
// used devices counted anew.
// kubelet v1.37: cm/devicemanager/manager.go UpdateAllocatedDevices
func (m *Manager) RemoveStale(active func(podUID string) bool) {
	before := len(m.pods)
	maps.DeleteFunc(m.pods, func(uid string, _ containers) bool { return !active(uid) })
	if len(m.pods) < before {
		m.recount()
	}
}

// File is what the checkpoint file held when it was last written; nil when it
// was not written since Start.
func (m *Manager) File() *kubelet.DeviceManagerState { return m.file }

// AllocatePod does nothing: devices know no pod-level resources.
func (m *Manager) AllocatePod(*corev1.Pod, topologymanager.Hint) error { return nil }

func (m *Manager) record(uid, container, resource string, a allocation) {
	if m.pods[uid] == nil {
		m.pods[uid] = containers{}
	}
	if m.pods[uid][container] == nil {
		m.pods[uid][container] = map[string]allocation{}
	}
	m.pods[uid][container][resource] = a
}

// recount makes the used devices anew from what containers have.
func (m *Manager) recount() {
	m.allocated = map[string]ids{}
	for _, containers := range m.pods {
		for _, resources := range containers {
			for resource, a := range resources {
				if m.allocated[resource] == nil {
					m.allocated[resource] = ids{}
				}
				m.allocated[resource].add(a.ids().sorted()...)
			}
		}
	}
}

// checkpoint keeps what the file would hold from now on, in a fixed order.
// kubelet v1.37: cm/devicemanager/manager.go writeCheckpoint
func (m *Manager) checkpoint() {
	m.file = &kubelet.DeviceManagerState{Registered: map[string][]string{}}
	for _, uid := range slices.Sorted(maps.Keys(m.pods)) {
		for _, container := range slices.Sorted(maps.Keys(m.pods[uid])) {
			for _, resource := range slices.Sorted(maps.Keys(m.pods[uid][container])) {
				a := m.pods[uid][container][resource]
				m.file.Entries = append(m.file.Entries, kubelet.PodDevices{
					PodUID: uid, ContainerName: container, ResourceName: resource, DeviceIDs: a.perNUMA, AllocResp: a.response,
				})
			}
		}
	}
	for resource, healthy := range m.healthy {
		// The kubelet writes an empty list, never null.
		m.file.Registered[resource] = append([]string{}, healthy.sorted()...)
	}
}

// managed tells whether a plugin registered the resource or a container has
// devices of it; any other resource is none of the manager's.
// kubelet v1.37: cm/devicemanager/manager.go isDevicePluginResource
func (m *Manager) managed(resource string) bool {
	_, registered := m.healthy[resource]
	_, allocated := m.allocated[resource]
	return registered || allocated
}

// ids is a set of device ids of one resource.
type ids map[string]bool

func (s ids) add(list ...string) {
	for _, id := range list {
		s[id] = true
	}
}

// without is s minus other.
func (s ids) without(other ids) ids {
	rest := ids{}
	for id := range s {
		if !other[id] {
			rest[id] = true
		}
	}
	return rest
}

// and is what s and other share.
func (s ids) and(other ids) ids {
	shared := ids{}
	for id := range s {
		if other[id] {
			shared[id] = true
		}
	}
	return shared
}

// or is s and other together.
func (s ids) or(other ids) ids {
	both := maps.Clone(s)
	if both == nil {
		both = ids{}
	}
	maps.Copy(both, other)
	return both
}

// sorted lists shorter ids first, then by bytes: gpu2 before gpu10.
func (s ids) sorted() []string {
	return slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
}
