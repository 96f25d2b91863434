package cli

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
	quantities "github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/render"
)

func (o *inspectOptions) view(v *cgroupInspection) view {
	flat := flatTable(v)
	shown := view{object: v, csv: &flat, pictures: map[string]func(io.Writer, render.Style) error{}}
	for i := range v.Cgroups {
		shown.names = append(shown.names, "cgroup"+v.Cgroups[i].Path)
	}
	shown.text = func(w io.Writer, s render.Style) error {
		return printTables(w, s, o.treeTable(v, s), driftTable(v, s), leakTable(v), intruderTable(v, s.Wide), alignmentTable(v, s))
	}
	shown.pictures["tree"] = shown.text
	return shown
}

// usageColumns are those after the cgroup's own.
func usageColumns() []render.Column {
	return []render.Column{
		{Name: "CPU", Right: true},
		{Name: "MEMORY", Right: true},
		{Name: "LIMIT", Right: true},
		{Name: "PIDS", Right: true},
		{Name: "THROTTLED", Right: true},
		{Name: "OOM", Right: true},
		{Name: "PRESSURE"},
		{Name: "CPUS"},
		{Name: "PEAK", Right: true, Wide: true},
		{Name: "SWAP", Right: true, Wide: true},
		{Name: "HUGEPAGES", Wide: true},
		{Name: "WEIGHT", Right: true, Wide: true},
		{Name: "QUOTA", Wide: true},
		{Name: "MEMS", Wide: true},
		{Name: "DRIFT"},
	}
}

func usageCells(c *inspectedCgroup, drift int, s render.Style) []string {
	u := &c.Usage
	state := "-"
	switch {
	case c.Missing:
		state = s.Paint(render.Red, "missing")
	case drift > 0:
		state = s.Paint(render.Yellow, strconv.Itoa(drift))
	}
	oom := countText(u.OOMKills)
	if deref(u.OOMKills) > 0 {
		oom = s.Paint(render.Red, oom)
	}
	return []string{
		quantityText(u.CPU, func(q resource.Quantity) string { return q.String() }), quantityText(u.Memory, quantities.Bytes),
		limitText(c.file("memory.max", "memory/memory.limit_in_bytes")), countText(u.PIDs), throttledText(u, s), oom, pressureText(u, s),
		dash(c.file("cpuset.cpus.effective", "cpuset/cpuset.effective_cpus")),
		quantityText(u.MemoryPeak, quantities.Bytes), quantityText(u.Swap, quantities.Bytes), hugePagesUse(u),
		dash(c.file("cpu.weight", "cpu/cpu.shares")), dash(c.file("cpu.max", "cpu/cpu.cfs_quota_us")),
		dash(c.file("cpuset.mems.effective", "cpuset/cpuset.effective_mems")), state,
	}
}

// file is a control file by its name on v2 or on v1.
func (c *inspectedCgroup) file(v2, v1 string) string { return or(c.Files[v2], c.Files[v1]) }

func countText(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

// limitText shows bytes, and max where there is no limit.
func limitText(text string) string {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case text == "":
		return "-"
	case err != nil || cgroups.Equal("memory.max", "max", text):
		return "max"
	}
	return render.Size(n)
}

// throttledText is the share of quota periods that were cut short.
func throttledText(u *inspectedUsage, s render.Style) string {
	periods := deref(u.Periods)
	if periods == 0 {
		return "-"
	}
	share := 100 * float64(deref(u.ThrottledPeriods)) / float64(periods)
	return pressed(share, s)
}

// Shares from which a person should look: a task in ten, and half of the time.
const notable, grave = 10, 50

func pressed(share float64, s render.Style) string {
	text := strconv.FormatFloat(share, 'f', 0, 64) + "%"
	switch {
	case share >= grave:
		return s.Paint(render.Red, text)
	case share >= notable:
		return s.Paint(render.Yellow, text)
	}
	return text
}

func pressureText(u *inspectedUsage, s render.Style) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(u.Pressure)) {
		if share := u.Pressure[name]; share >= 1 {
			words = append(words, name+" "+pressed(share, s))
		}
	}
	return dash(strings.Join(words, ", "))
}

func hugePagesUse(u *inspectedUsage) string {
	var words []string
	for _, size := range slices.Sorted(maps.Keys(u.HugePages)) {
		words = append(words, size+" "+quantities.Bytes(u.HugePages[size]))
	}
	return dash(strings.Join(words, ", "))
}

// title is a cgroup's line in the tree: its owner where one is known.
func (c *inspectedCgroup) title() string {
	base := path.Base(c.Path)
	switch {
	case c.Level == cgroups.LevelPod && c.Pod != nil && c.Pod.Name != "":
		return c.Pod.Namespace + "/" + c.Pod.Name
	case c.Level == cgroups.LevelContainer && c.Container != "" && inspect.Identify(path.Dir(c.Path)).Level != cgroups.LevelContainer:
		return c.Container
	case c.Sandbox:
		return "sandbox"
	case c.Level == cgroups.LevelContainer && c.Container == "" && strings.Contains(base, c.ContainerID):
		return "container " + c.ContainerID[:min(len(c.ContainerID), 12)]
	case c.Path == "/":
		return "/"
	}
	return base
}

// treeTable draws the tree with a cgroup on each line.
func (o *inspectOptions) treeTable(v *cgroupInspection, s render.Style) render.Table {
	return rowsOf(v, o.outline(v, "", s), s)
}

// rowsOf gives lines of the tree their columns.
func rowsOf(v *cgroupInspection, listed []outlined, s render.Style) render.Table {
	t := render.Table{Columns: slices.Concat([]render.Column{{Name: "CGROUP"}}, usageColumns())}
	for _, l := range listed {
		t.Rows = append(t.Rows, slices.Concat([]string{l.text}, usageCells(&v.Cgroups[l.cgroup], l.drift, s)))
	}
	return t
}

// flatTable is a row for each cgroup with all that is known.
func flatTable(v *cgroupInspection) render.Table {
	t := render.Table{Columns: slices.Concat([]render.Column{
		{Name: "PATH"}, {Name: "LEVEL"}, {Name: "NAMESPACE"}, {Name: "POD"}, {Name: "CONTAINER"},
	}, usageColumns())}
	for i := range v.Cgroups {
		c := &v.Cgroups[i]
		pod := cgroups.PodRef{}
		if c.Pod != nil {
			pod = *c.Pod
		}
		t.Rows = append(t.Rows, slices.Concat(
			[]string{c.Path, string(c.Level), pod.Namespace, or(pod.Name, pod.UID), or(c.Container, c.ContainerID)},
			usageCells(c, len(c.Drift), render.Style{})))
	}
	return t
}

// place names a cgroup for people.
func (c *inspectedCgroup) place() string {
	if c.Pod == nil || c.Pod.Name == "" {
		return c.Path
	}
	return strings.TrimSuffix(fmt.Sprintf("%s/%s: %s", c.Pod.Namespace, c.Pod.Name, c.Container), ": ")
}
