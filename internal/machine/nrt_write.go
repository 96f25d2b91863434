package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/cpuset"
)

// NRT is the machine as a NodeResourceTopology object of the given name: a zone
// for each NUMA node. The reserved CPUs are not allocatable; memory in huge
// pages is not allocatable as memory. Nothing is in use.
func (m *Machine) NRT(name string, reserved cpuset.CPUSet, attributes ...NRTAttribute) *NodeResourceTopology {
	object := &NodeResourceTopology{
		TypeMeta:   metav1.TypeMeta{APIVersion: nrtAPIVersion, Kind: nrtKind},
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Attributes: attributes,
		Zones:      []NRTZone{},
	}
	for _, n := range m.NUMA {
		zone := NRTZone{Name: zoneName(n.ID), Type: nrtZoneType}
		for j, other := range m.NUMA {
			if j < len(n.Distances) {
				zone.Costs = append(zone.Costs, NRTCost{zoneName(other.ID), int64(n.Distances[j])})
			}
		}
		zone.Resources = append(m.nodeResources(n, reserved), m.deviceResources(n.ID)...)
		if list := m.listCPUs(n.ID); list != "" {
			zone.Attributes = []NRTAttribute{{nrtCPUs, list}}
		}
		object.Zones = append(object.Zones, zone)
	}
	return object
}

func zoneName(id int) string { return fmt.Sprintf("node-%d", id) }

func (m *Machine) nodeResources(n Node, reserved cpuset.CPUSet) []NRTResource {
	cpus := m.CPUsOf(n.ID)
	free := int64(cpus.Difference(reserved).Size())
	list := []NRTResource{amountOf("cpu", resource.NewQuantity(int64(cpus.Size()), resource.DecimalSI), resource.NewQuantity(free, resource.DecimalSI))}
	memory := n.Memory
	var huge []NRTResource
	for _, size := range slices.Sorted(maps.Keys(n.HugePages)) {
		page := resource.MustParse(size) // validated
		bytes := page.Value() * n.HugePages[size]
		memory -= bytes
		q := resource.NewQuantity(bytes, resource.BinarySI)
		huge = append(huge, amountOf("hugepages-"+size, q, q))
	}
	list = append(list, amountOf("memory", resource.NewQuantity(n.Memory, resource.BinarySI), resource.NewQuantity(max(memory, 0), resource.BinarySI)))
	return append(list, huge...)
}

// deviceResources counts the devices whose first node is the one given.
func (m *Machine) deviceResources(numa int) []NRTResource {
	all, healthy := map[string]int64{}, map[string]int64{}
	for _, d := range m.Devices {
		if len(d.NUMA) == 0 || d.NUMA[0] != numa {
			continue
		}
		all[d.Resource]++
		if d.Healthy {
			healthy[d.Resource]++
		}
	}
	var list []NRTResource
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, amountOf(name, resource.NewQuantity(all[name], resource.DecimalSI), resource.NewQuantity(healthy[name], resource.DecimalSI)))
	}
	return list
}

func amountOf(name string, capacity, allocatable *resource.Quantity) NRTResource {
	c, a := intstr.FromString(capacity.String()), intstr.FromString(allocatable.String())
	return NRTResource{Name: name, Capacity: c, Allocatable: a, Available: a}
}

// listCPUs is the attribute from which parseNRT reads the CPUs again.
func (m *Machine) listCPUs(numa int) string {
	var words []string
	for _, c := range m.CPUs {
		if c.Online && c.NUMA == numa {
			words = append(words, fmt.Sprintf("%d:%d:%d:%d", c.ID, c.Core, c.Socket, c.LLC))
		}
	}
	return strings.Join(words, " ")
}
