package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/render"
)

// nodeTable has a row for each NUMA node, and one for CPUs that are on none;
// marked adds how the CPUs are used.
func nodeTable(m *machine.Machine, marks machine.Marks, marked bool) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "NUMA", Right: true},
		{Name: "SOCKET"},
		{Name: "CORES", Right: true},
		{Name: "CPUS"},
		{Name: "MEMORY", Right: true},
		{Name: "HUGEPAGES"},
		{Name: "DISTANCES"},
		{Name: "OFFLINE"},
		{Name: "ISOLATED"},
	}}
	states := []machine.State{machine.Reserved, machine.Exclusive, machine.Shared}
	if marked {
		for _, s := range states {
			t.Columns = append(t.Columns, render.Column{Name: strings.ToUpper(string(s))})
		}
	}
	cores := map[int]int{}
	for _, core := range m.Cores() {
		cores[core[0].NUMA]++
	}
	rows := slices.Clone(m.NUMA)
	if slices.ContainsFunc(m.CPUs, func(c machine.CPU) bool { return c.NUMA < 0 }) {
		rows = append(rows, machine.Node{ID: -1})
	}
	for _, n := range rows {
		sockets := map[int]bool{}
		var offline, isolated []int
		byState := map[machine.State][]int{}
		for _, c := range m.CPUs {
			if c.NUMA != n.ID {
				continue
			}
			if c.Online {
				sockets[c.Socket] = true
			} else {
				offline = append(offline, c.ID)
			}
			if c.Isolated {
				isolated = append(isolated, c.ID)
			}
			byState[marks[c.ID].State] = append(byState[marks[c.ID].State], c.ID)
		}
		id := strconv.Itoa(n.ID)
		if n.ID < 0 {
			id = "-"
		}
		row := []string{
			id, idList(slices.Collect(maps.Keys(sockets))), strconv.Itoa(cores[n.ID]), dash(n.CPUs), bytesText(n.Memory),
			hugePagesText(n.HugePages), dash(numbers(n.Distances)), idList(offline), idList(isolated),
		}
		if marked {
			for _, s := range states {
				row = append(row, idList(byState[s]))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// cpuTable has a row for each CPU.
func cpuTable(m *machine.Machine, marks machine.Marks) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "CPU", Right: true},
		{Name: "CORE", Right: true},
		{Name: "SOCKET", Right: true},
		{Name: "NUMA", Right: true},
		{Name: "LLC", Right: true},
		{Name: "UNCORE", Right: true},
		{Name: "ONLINE"},
		{Name: "TYPE"},
		{Name: "STATE"},
		{Name: "WHY NOT SEEN"},
	}}
	uncore := m.UncoreCaches()
	known := func(n int) string {
		if n < 0 {
			return "-"
		}
		return strconv.Itoa(n)
	}
	for _, c := range m.CPUs {
		shared, ok := uncore[c.ID]
		if !ok {
			shared = machine.NoUncore
		}
		state := marks[c.ID].String()
		t.Rows = append(t.Rows, []string{
			strconv.Itoa(c.ID), known(c.Core), known(c.Socket), known(c.NUMA), known(c.LLC), known(shared),
			yesNo(c.Online), dash(string(c.Type)), dash(state), c.Hidden,
		})
	}
	return t
}

// pciTable has a row for each PCI function.
func pciTable(m *machine.Machine) render.Table {
	t := render.Table{Columns: []render.Column{
		{Name: "PCI"}, {Name: "CLASS"}, {Name: "ID"}, {Name: "NUMA", Right: true}, {Name: "NAMES"}, {Name: "FUNCTIONS"}, {Name: "FUNCTION OF"},
	}}
	for _, d := range m.PCI {
		functions := "-"
		if d.MaxFunctions > 0 {
			functions = fmt.Sprintf("%d/%d", d.Functions, d.MaxFunctions)
		}
		numa := "-"
		if d.NUMA >= 0 {
			numa = strconv.Itoa(d.NUMA)
		}
		t.Rows = append(t.Rows, []string{
			d.Address, d.Class, d.Vendor + ":" + d.Device, numa, dash(strings.Join(d.Names, ",")), functions, dash(d.Physical),
		})
	}
	return t
}

// deviceTable has a row for each device of a device plugin.
func deviceTable(m *machine.Machine) render.Table {
	t := render.Table{Columns: []render.Column{{Name: "RESOURCE"}, {Name: "DEVICE"}, {Name: "NUMA"}, {Name: "HEALTHY"}}}
	for _, d := range m.Devices {
		t.Rows = append(t.Rows, []string{d.Resource, d.ID, idList(d.NUMA), yesNo(d.Healthy)})
	}
	return t
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func idList(ids []int) string { return dash(cpuset.New(ids...).String()) }

func dash(text string) string { return or(text, "-") }

func numbers(ns []int) string { return strings.Trim(fmt.Sprint(ns), "[]") }

func bytesText(n int64) string {
	if n == 0 {
		return "-"
	}
	return render.Size(n)
}

func hugePagesText(pages map[string]int64) string {
	var words []string
	for _, size := range slices.Sorted(maps.Keys(pages)) {
		q := resource.MustParse(size) // validated when the machine was read
		words = append(words, fmt.Sprintf("%s:%d", q.String(), pages[size]))
	}
	return dash(strings.Join(words, ","))
}
