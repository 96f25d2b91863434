package machine

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/quantity"
)

// maxID bounds the numbers of CPUs and nodes: cAdvisor reads a CPU's number
// with 16 bits, and no kernel is built for more.
// cAdvisor lib v0.60: utils/sysfs/sysfs.go isCPUOnline
const maxID = math.MaxUint16

// Validate tells everything about the machine that contradicts itself: numbers
// out of range, double ids, CPUs on nodes that do not exist, nodes without a
// distance.
func (m *Machine) Validate() error {
	var found []error
	bad := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }

	if m.Memory < 0 || m.Swap != nil && *m.Swap < 0 {
		bad("memory and swap: must not be negative")
	}
	nodes := map[int]bool{}
	var memory int64
	for i, n := range m.NUMA {
		switch {
		case n.ID < 0 || n.ID > maxID:
			bad("numa[%d].id: %d is not between 0 and %d", i, n.ID, maxID)
		case nodes[n.ID]:
			bad("numa[%d].id: node %d stands twice", i, n.ID)
		}
		nodes[n.ID] = true
		if n.Memory < 0 || n.Memory > math.MaxInt64-memory {
			bad("numa[%d].memory: %d bytes are negative or more than a machine can hold", i, n.Memory)
		} else {
			memory += n.Memory
		}
		// A kernel may give more: distances to nodes that are offline.
		if len(n.Distances) != 0 && len(n.Distances) < len(m.NUMA) {
			bad("numa[%d].distances: %d distances for %d nodes: give one to a node, in order of their ids, or none", i, len(n.Distances), len(m.NUMA))
		}
		if slices.ContainsFunc(n.Distances, func(d int) bool { return d < 0 }) {
			bad("numa[%d].distances: must not be negative", i)
		}
		found = append(found, hugePagesErrors(fmt.Sprintf("numa[%d].hugepages", i), n.HugePages)...)
	}
	found = append(found, hugePagesErrors("hugepages", m.HugePages)...)
	found = append(found, m.cpuErrors(nodes)...)
	for i, d := range m.Devices {
		if d.Resource == "" || d.ID == "" {
			bad("devices[%d]: resource and id must be given", i)
		}
		if slices.ContainsFunc(d.NUMA, func(n int) bool { return n < 0 || n > maxID }) {
			bad("devices[%d].numa: a node's id is between 0 and %d; leave numa out for a device without affinity", i, maxID)
		}
	}
	return joinFirst(found)
}

func (m *Machine) cpuErrors(nodes map[int]bool) []error {
	var found []error
	bad := func(format string, args ...any) { found = append(found, fmt.Errorf(format, args...)) }
	if len(m.CPUs) == 0 {
		bad("cpus: a machine has at least one CPU")
	}
	seen := map[int]bool{}
	for i, c := range m.CPUs {
		switch {
		case c.ID < 0 || c.ID > maxID:
			bad("cpus[%d].id: %d is not between 0 and %d", i, c.ID, maxID)
		case seen[c.ID]:
			bad("cpus[%d].id: CPU %d stands twice", i, c.ID)
		}
		seen[c.ID] = true
		if c.Online && !nodes[c.NUMA] {
			bad("cpus[%d].numa: CPU %d is on NUMA node %d, which is not in numa", i, c.ID, c.NUMA)
		}
	}
	return found
}

func hugePagesErrors(field string, pages map[string]int64) []error {
	var found []error
	for size, count := range pages {
		q, err := quantity.Parse(size)
		if err != nil || q.Sign() <= 0 {
			found = append(found, fmt.Errorf("%s: %q is not a page size: write it like 2Mi or 1Gi", field, size))
		} else if bytes := q.Value(); count < 0 || count > math.MaxInt64/bytes {
			found = append(found, fmt.Errorf("%s: %d pages of %s are negative or more than a machine can hold", field, count, size))
		}
	}
	slices.SortFunc(found, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return found
}

// joinFirst keeps a message readable when every CPU of a machine is wrong.
func joinFirst(found []error) error {
	const most = 10
	if more := len(found) - most; more > 0 {
		found = append(found[:most:most], fmt.Errorf("and %d more", more))
	}
	return errors.Join(found...)
}
