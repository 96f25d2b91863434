package cli

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/render"
)

func allocatableView(v *nodeAllocatable) view {
	exact := resourceTable(v, true)
	var names []string
	for _, name := range resourceOrder(v.Capacity) {
		names = append(names, string(name))
	}
	return view{object: v, names: names, csv: &exact, text: func(w io.Writer, s render.Style) error {
		tables := []render.Table{resourceTable(v, s.Wide), enforcedTable(v), reservedTable(v)}
		if s.Wide {
			tables = []render.Table{exact, termsTable(v.Terms), filesTable(v), reservedTable(v)}
		}
		return printTables(w, s, tables...)
	}}
}

// printTables prints tables below each other, those without rows left out.
func printTables(w io.Writer, s render.Style, tables ...render.Table) error {
	printed := false
	for _, t := range tables {
		if len(t.Rows) == 0 {
			continue
		}
		if printed {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		printed = true
		if err := t.Print(w, s); err != nil {
			return err
		}
	}
	return nil
}

// resourceTable leads from capacity to allocatable, one resource a row.
func resourceTable(v *nodeAllocatable, exact bool) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "RESOURCE"},
		{Name: "CAPACITY", Right: true},
		{Name: "SYSTEM-RESERVED", Right: true},
		{Name: "KUBE-RESERVED", Right: true},
		{Name: "EVICTION", Right: true},
		{Name: "HUGEPAGES", Right: true},
		{Name: "ALLOCATABLE", Right: true},
	}}
	for _, name := range resourceOrder(v.Capacity) {
		row := []string{string(name)}
		for _, q := range []resource.Quantity{
			v.Capacity[name], v.SystemReserved[name], v.KubeReserved[name], v.EvictionReservation[name], hugePagesOf(v, name), v.Allocatable[name],
		} {
			row = append(row, amount(name, q, exact))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// hugePagesOf is what huge pages take of memory.
func hugePagesOf(v *nodeAllocatable, name corev1.ResourceName) resource.Quantity {
	var sum resource.Quantity
	if name != corev1.ResourceMemory {
		return sum
	}
	for _, t := range v.Terms {
		if isHugePages(t.Name) && t.Resource == name {
			sum.Sub(t.Amount)
		}
	}
	return sum
}

// resourceOrder has what pods ask for most first.
func resourceOrder(list corev1.ResourceList) []corev1.ResourceName {
	rank := func(name corev1.ResourceName) int {
		order := []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "", corev1.ResourcePods, allocatable.ResourcePID}
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return slices.Index(order, "")
	}
	names := slices.Sorted(maps.Keys(list))
	slices.SortStableFunc(names, func(a, b corev1.ResourceName) int { return rank(a) - rank(b) })
	return names
}

func termsTable(terms []allocatable.Term) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "RESOURCE"}, {Name: "TERM"}, {Name: "AMOUNT", Right: true}, {Name: "FROM"}}}
	for _, term := range terms {
		t.Rows = append(t.Rows, []string{string(term.Resource), term.Name, term.Amount.String(), term.From})
	}
	return t
}

// enforcedTable shows the limits as amounts.
func enforcedTable(v *nodeAllocatable) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "ENFORCED ON"}, {Name: "MEMORY", Right: true}, {Name: "CPU", Right: true}, {Name: "PIDS", Right: true}, {Name: "CPUSET"},
	}}
	for _, c := range v.Enforced {
		e := c.amounts
		row := []string{c.Path}
		for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceCPU, allocatable.ResourcePID} {
			cell := "-"
			if q, ok := e.Resources[name]; ok {
				cell = amount(name, q, false)
			}
			if name == allocatable.ResourcePID && e.AssumedPIDs {
				cell = "assumed " + cell
			}
			row = append(row, cell)
		}
		cpus := "-"
		if e.CPUs != nil {
			cpus = e.CPUs.String()
		}
		t.Rows = append(t.Rows, append(row, cpus))
	}
	return t
}

// filesTable shows the limits as written.
func filesTable(v *nodeAllocatable) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "ENFORCED ON"}, {Name: "FILE"}, {Name: "VALUE", Right: true}, {Name: "WHY"}}}
	for _, c := range v.Enforced {
		for _, file := range slices.Sorted(maps.Keys(c.Files)) {
			t.Rows = append(t.Rows, []string{c.Path, file, c.Files[file], c.Why[file]})
		}
	}
	return t
}

// reservedTable shows what no container gets exclusively.
func reservedTable(v *nodeAllocatable) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "RESERVED"}, {Name: "WHICH"}}}
	if v.ReservedCPUs != "" {
		t.Rows = append(t.Rows, []string{"CPU IDs", v.ReservedCPUs})
	}
	for _, m := range v.ReservedMemory {
		var limits []string
		for _, name := range slices.Sorted(maps.Keys(m.Limits)) {
			q := m.Limits[name]
			limits = append(limits, string(name)+"="+q.String())
		}
		t.Rows = append(t.Rows, []string{fmt.Sprintf("NUMA node %d", m.NumaNode), strings.Join(limits, ",")})
	}
	return t
}
