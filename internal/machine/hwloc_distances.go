package machine

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// distances is a matrix between NUMA nodes.
type distances struct {
	indexes, values []int
	reading         bool
}

// isLatency tells distances as the kernel gives them from bandwidths.
func isLatency(attr map[string]string) bool {
	const meansLatency = 1 << 2 // hwloc/distances.h HWLOC_DISTANCES_KIND_MEANS_LATENCY
	kind, err := strconv.Atoi(attr["kind"])
	return attr["name"] == "NUMALatency" || attr["name"] == "" && err == nil && kind&meansLatency != 0
}

// numbers reads a row of a distance matrix.
func (r *hwlocReader) numbers(name string, e xml.StartElement) error {
	var text string
	if err := r.decoder.DecodeElement(&text, &e); err != nil {
		return err
	}
	for word := range strings.FieldsSeq(text) {
		n, err := strconv.ParseUint(word, 10, 31)
		if err != nil {
			return fmt.Errorf("%s: %q is not a number", name, word)
		}
		if name == "indexes" {
			r.matrix.indexes = append(r.matrix.indexes, int(n))
		} else {
			r.matrix.values = append(r.matrix.values, int(n))
		}
	}
	return nil
}

// addDistances orders the matrix by the ids of the nodes, the order of the
// kernel. A matrix that is not one distance to a node is left aside.
func (r *hwlocReader) addDistances(m *Machine) error {
	slices.SortFunc(m.NUMA, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	count := len(r.matrix.indexes)
	if count == 0 {
		return nil
	}
	if len(r.matrix.values) != count*count {
		return fmt.Errorf("%d distances between %d NUMA nodes", len(r.matrix.values), count)
	}
	for i, from := range m.NUMA {
		row := slices.Index(r.matrix.indexes, from.ID)
		var found []int
		for _, to := range m.NUMA {
			if column := slices.Index(r.matrix.indexes, to.ID); row >= 0 && column >= 0 {
				found = append(found, r.matrix.values[row*count+column])
			}
		}
		if len(found) == len(m.NUMA) {
			m.NUMA[i].Distances = found
		}
	}
	return nil
}
