package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/qos"
	"github.com/kqos/kqos/internal/render"
)

// podTable gets a row for each pod.
func podTable() *render.Table {
	return &render.Table{Columns: []render.Column{
		{Name: "NAMESPACE"},
		{Name: "NAME"},
		{Name: "KIND"},
		{Name: "CLASS"},
		{Name: "CPU", Right: true},
		{Name: "CPU-LIMIT", Right: true},
		{Name: "MEMORY", Right: true},
		{Name: "MEMORY-LIMIT", Right: true},
		{Name: "OOM-SCORE", Right: true},
		{Name: "OWN-CPUS", Right: true},
		{Name: "TO RAISE THE CLASS"},
		{Name: "CGROUP", Wide: true},
		{Name: "SOURCE", Wide: true},
	}}
}

// row shows the pod; the cells that only the wide form shows are left out of the
// other.
func (p *podClassification) row(driver string, s render.Style) []string {
	cpu, memory := boundLimits(p)
	cells := []string{
		or(p.Namespace, corev1.NamespaceDefault), p.Name, p.Source.Kind, s.Paint(classColor(p.QOSClass), string(p.QOSClass)),
		p.sum(p.Requests, corev1.ResourceCPU), cpu, p.sum(p.Requests, corev1.ResourceMemory), memory,
		scores(p.Containers), ownCPUs(p.Containers), shortReason(p.Reasons),
	}
	if s.Wide {
		cells = append(cells, cgroupPath(p, driver), fmt.Sprintf("%s:%d", p.Source.File, p.Source.Document))
	}
	return cells
}

func classColor(class corev1.PodQOSClass) render.Color {
	switch class {
	case corev1.PodQOSGuaranteed:
		return render.Green
	case corev1.PodQOSBestEffort:
		return render.Red
	}
	return render.Yellow
}

// boundLimits are the limits that the pod's cgroup gets.
func boundLimits(p *podClassification) (cpu, memory string) {
	cpu, memory = "none", "none"
	if p.cpuBound {
		cpu = p.sum(p.Limits, corev1.ResourceCPU)
	}
	if p.memoryBound {
		memory = p.sum(p.Limits, corev1.ResourceMemory)
	}
	return cpu, memory
}

// sum is an effective amount of the pod.
func (p *podClassification) sum(list corev1.ResourceList, name corev1.ResourceName) string {
	if slices.Contains(p.overflows, name) {
		return "overflow"
	}
	return quantity(list, name)
}

func quantity(list corev1.ResourceList, name corev1.ResourceName) string {
	q, ok := list[name]
	if !ok {
		return "-"
	}
	return q.String()
}

// scores are the lowest and highest score of the pod's containers.
func scores(containers []containerClassification) string {
	var all []int64
	for i := range containers {
		if score := containers[i].OOMScoreAdj; score != nil {
			all = append(all, *score)
		}
	}
	if len(all) == 0 {
		return "-"
	}
	low, high := slices.Min(all), slices.Max(all)
	if low == high {
		return strconv.FormatInt(low, 10)
	}
	return fmt.Sprintf("%d..%d", low, high)
}

func ownCPUs(containers []containerClassification) string {
	sum := 0
	for i := range containers {
		sum += containers[i].ExclusiveCPUs
	}
	if sum == 0 {
		return "-"
	}
	return strconv.Itoa(sum)
}

// shortReason is the first fix and how many more are needed.
func shortReason(reasons []qos.Reason) string {
	if len(reasons) == 0 {
		return ""
	}
	text := reasonText(&reasons[0])
	if more := len(reasons) - 1; more > 0 {
		text += fmt.Sprintf(" (+%d more)", more)
	}
	return text
}

func reasonText(r *qos.Reason) string {
	if r.Container == "" {
		return r.Fix
	}
	return r.Container + ": " + r.Fix
}

func cgroupPath(p *podClassification, driver string) string {
	switch {
	case p.Cgroup.Cgroupfs == nil:
		return "-"
	case driver == cgroups.Systemd:
		return p.Cgroup.Systemd.Path
	}
	return p.Cgroup.Cgroupfs.Path
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// containerTable gets a row for each container.
func containerTable() *render.Table {
	return &render.Table{Columns: []render.Column{
		{Name: "POD"},
		{Name: "CONTAINER"},
		{Name: "TYPE"},
		{Name: "REQUESTS"},
		{Name: "LIMITS"},
		{Name: "OOM-SCORE", Right: true},
		{Name: "OWN-CPUS", Right: true},
		{Name: "WHY"},
	}}
}

func (p *podClassification) containerRows() (rows [][]string) {
	for j := range p.Containers {
		c := &p.Containers[j]
		rows = append(rows, []string{
			p.fullName(), c.Name, string(c.Type), resources(c.Requests), resources(c.Limits),
			scores(p.Containers[j : j+1]), ownCPUs(p.Containers[j : j+1]), c.ExclusiveWhy,
		})
	}
	return rows
}

func (p *podClassification) fullName() string { return namedIn(p.Namespace, p.Name) }

func resources(list corev1.ResourceList) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		words = append(words, fmt.Sprintf("%s=%s", name, quantity(list, name)))
	}
	return or(strings.Join(words, ","), "-")
}

// reasonTable gets everything that keeps pods out of the next better class.
func reasonTable() *render.Table {
	return &render.Table{Columns: []render.Column{{Name: "POD"}, {Name: "CONTAINER"}, {Name: "NOT IN A BETTER CLASS BECAUSE"}, {Name: "FIX"}}}
}

func (p *podClassification) reasonRows() (rows [][]string) {
	for j := range p.Reasons {
		r := &p.Reasons[j]
		rows = append(rows, []string{p.fullName(), or(r.Container, "-"), r.Message, r.Fix})
	}
	return rows
}
