package placement

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager/state"
)

// describe reads back what the managers gave to an admitted pod.
func (k *kubelet) describe(pod *v1.Pod, result *EventResult) {
	uid := string(pod.UID)
	for i := range pod.Spec.InitContainers {
		c := &pod.Spec.InitContainers[i]
		result.Containers = append(result.Containers, k.container(pod, c, kindOf(c)))
	}
	for i := range pod.Spec.Containers {
		result.Containers = append(result.Containers, k.container(pod, &pod.Spec.Containers[i], ""))
	}
	k.describePod(uid, result)
}

func (k *kubelet) container(pod *v1.Pod, c *v1.Container, kind string) Container {
	uid := string(pod.UID)
	placed := Container{Name: c.Name, Kind: kind, CPUs: k.cpus.GetCPUAffinity(uid, c.Name).String()}
	_, placed.Exclusive = k.cpus.State().GetCPUSet(uid, c.Name)
	var mems []string
	for id := range k.memory.GetMemoryNUMANodes(klog.Background(), pod, c) {
		mems = append(mems, strconv.Itoa(id))
	}
	placed.Mems = strings.Join(mems, ",")
	if k.policy.memory == "Static" {
		placed.Memory = memoryOf(k.memory.State().GetMemoryBlocks(uid, c.Name))
	}
	for resource, devices := range k.devices.GetDevices(uid, c.Name) {
		if placed.Devices == nil {
			placed.Devices = map[string][]string{}
		}
		ids := []string{}
		for id := range devices {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		placed.Devices[resource] = ids
	}
	if k.policy.topology != "none" {
		hint := k.affinity(uid, c.Name)
		placed.Affinity = &Affinity{Preferred: hint.Preferred}
		if hint.NUMANodeAffinity != nil {
			placed.Affinity.NUMA = hint.NUMANodeAffinity.GetBits()
		}
	}
	return placed
}

func kindOf(c *v1.Container) string {
	if c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways {
		return "sidecar"
	}
	return "init"
}

func memoryOf(blocks []state.Block) []Memory {
	var list []Memory
	for _, b := range blocks {
		list = append(list, Memory{NUMA: b.NUMAAffinity, Type: b.Type, Size: b.Size})
	}
	slices.SortStableFunc(list, func(a, b Memory) int { return cmp.Compare(a.Type, b.Type) })
	return list
}

// state is what the node has left to give.
func (p *player) state() State {
	s := State{Default: p.k.cpus.State().GetDefaultCPUSet().String()}
	if p.k.policy.memory != "Static" {
		return s
	}
	s.NUMA = map[string]NUMAState{}
	for id, node := range p.k.memory.State().GetMachineState() {
		free := map[v1.ResourceName]uint64{}
		for typ, table := range node.MemoryMap {
			free[typ] = table.Free
		}
		s.NUMA[strconv.Itoa(id)] = NUMAState{Cells: slices.Clone(node.Cells), N: node.NumberOfAssignments, Free: free}
	}
	return s
}
