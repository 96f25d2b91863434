package inspect

import (
	"strconv"
	"strings"
	"time"

	"github.com/kqos/kqos/internal/cgroups"
)

// Usage is what a cgroup and all below it use. A nil figure is one that this
// kernel or cgroup does not tell.
type Usage struct {
	// CPU is the time used since the cgroup was made.
	CPU *time.Duration
	// Memory and Peak are bytes, page cache included.
	Memory, Peak *int64
	// Swap is bytes swapped out.
	Swap *int64
	// PIDs counts processes and threads.
	PIDs *int64
	// Throttled is the time that the CPU quota made runnable tasks wait, and
	// Periods and ThrottledPeriods how many quota periods there were.
	Throttled                 *time.Duration
	Periods, ThrottledPeriods *int64
	// OOMKills counts tasks killed for memory.
	OOMKills *int64
	// HugePages are bytes of huge pages by size, such as 2MB; sizes of which none
	// are in use are left out.
	HugePages map[string]int64
	// Pressure is the share of the last 10 seconds, in percent, in which some
	// task waited for cpu, memory or io.
	Pressure map[string]float64
}

// Usage reads what there is.
func (h *Hierarchy) Usage(path string) Usage { return h.usage(path, nil, nil) }

// usage is Usage where control files of the cgroup were read already, and what
// its parent uses: where a limit is 0, as the kubelet sets those of swap and huge
// pages for most, nothing is in use, and that is not read. Nor is the pressure on
// a child of one without any; nil leaves that open.
func (h *Hierarchy) usage(path string, files map[string]string, above *Usage) Usage {
	u := h.usage1
	if h.version == 2 {
		u = h.usage2
	}
	used := u(path, files, above)
	used.HugePages = h.hugePages(path, files)
	return used
}

func (h *Hierarchy) usage2(path string, files map[string]string, above *Usage) Usage {
	cpu, events := h.flat(path, "cpu.stat"), h.flat(path, "memory.events")
	u := Usage{
		CPU: cpu.micros("usage_usec"), Throttled: cpu.micros("throttled_usec"),
		Periods: cpu.count("nr_periods"), ThrottledPeriods: cpu.count("nr_throttled"),
		Memory: h.number(path, "memory.current"), Peak: h.number(path, "memory.peak"),
		PIDs:     h.number(path, "pids.current"),
		OOMKills: events.count("oom_kill"),
	}
	if files["memory.swap.max"] == "0" {
		u.Swap = new(int64)
	} else {
		u.Swap = h.number(path, "memory.swap.current")
	}
	for _, resource := range []string{"cpu", "memory", "io"} {
		share, ok := 0.0, above.calm(resource)
		if !ok {
			share, ok = h.pressure(path, resource+".pressure")
		}
		if ok {
			if u.Pressure == nil {
				u.Pressure = map[string]float64{}
			}
			u.Pressure[resource] = share
		}
	}
	return u
}

// calm tells that no task waited, so that none waits below either: a task that
// stalls in a cgroup stalls in all above it. The kernel brings the shares of each
// cgroup up to date on its own, every 2 seconds: by no more can they disagree.
//
// kernel: Documentation/accounting/psi.rst, kernel/sched/psi.c PSI_FREQ
func (u *Usage) calm(resource string) bool {
	if u == nil {
		return false
	}
	share, told := u.Pressure[resource]
	return told && share == 0
}

func (h *Hierarchy) usage1(path string, _ map[string]string, _ *Usage) Usage {
	cpu, oom := h.flat(path, "cpu/cpu.stat"), h.flat(path, "memory/memory.oom_control")
	u := Usage{
		Periods: cpu.count("nr_periods"), ThrottledPeriods: cpu.count("nr_throttled"),
		Memory: h.number(path, "memory/memory.usage_in_bytes"), Peak: h.number(path, "memory/memory.max_usage_in_bytes"),
		PIDs: h.number(path, "pids/pids.current"), OOMKills: oom.count("oom_kill"),
	}
	u.CPU = h.cpu(path)
	if nanos := cpu.count("throttled_time"); nanos != nil {
		d := time.Duration(*nanos)
		u.Throttled = &d
	}
	if both := h.number(path, "memory/memory.memsw.usage_in_bytes"); both != nil && u.Memory != nil {
		swap := max(*both-*u.Memory, 0)
		u.Swap = &swap
	}
	return u
}

// refresh reads one figure anew, those that go with it too. A key that is none
// reads nothing.
func (h *Hierarchy) refresh(u *Usage, path, key string) {
	memory, pids := "memory.current", "pids.current"
	if h.version == 1 {
		memory, pids = "memory/memory.usage_in_bytes", "pids/pids.current"
	}
	switch key {
	case "cpu":
		u.CPU = h.cpu(path)
	case "memory":
		u.Memory = h.number(path, memory)
	case "pids":
		u.PIDs = h.number(path, pids)
	case "throttled", "oom", "pressure":
		*u = h.usage(path, nil, nil)
	}
}

// hugePages reads what is in use of each size.
func (h *Hierarchy) hugePages(path string, files map[string]string) map[string]int64 {
	var used map[string]int64
	for _, size := range h.pageSizes {
		limit := h.hugePageLimit(size)
		if files[limit] == "0" {
			continue
		}
		if n := h.number(path, cgroups.UseFile(limit)); n != nil && *n > 0 {
			if used == nil {
				used = map[string]int64{}
			}
			used[size] = *n
		}
	}
	return used
}

// cpu is the time that the cgroup has used.
func (h *Hierarchy) cpu(path string) *time.Duration {
	if h.version == 2 {
		return h.flat(path, "cpu.stat").micros("usage_usec")
	}
	nanos := h.number(path, "cpuacct/cpuacct.usage")
	if nanos == nil {
		return nil
	}
	d := time.Duration(*nanos)
	return &d
}

// number reads a file that holds one; nil where it is not there or says max.
func (h *Hierarchy) number(path, key string) *int64 {
	text, err := h.figure(path, key)
	if err != nil {
		return nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return nil
	}
	return &n
}

// flat is a file of lines "key value".
type flat string

// flat is empty where the file is not there.
func (h *Hierarchy) flat(path, key string) flat {
	text, err := h.figure(path, key)
	if err != nil {
		return ""
	}
	return flat(text)
}

// count is nil where no line has the key and a number.
func (f flat) count(key string) *int64 {
	for line := range strings.Lines(string(f)) {
		value, ok := strings.CutPrefix(line, key)
		if !ok || !strings.HasPrefix(value, " ") {
			continue
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil {
			return &n
		}
	}
	return nil
}

func (f flat) micros(key string) *time.Duration {
	n := f.count(key)
	if n == nil {
		return nil
	}
	d := time.Duration(*n) * time.Microsecond
	return &d
}

// pressure reads avg10 of the line "some avg10=0.12 avg60=… total=…".
func (h *Hierarchy) pressure(path, key string) (float64, bool) {
	text, err := h.figure(path, key)
	if err != nil {
		return 0, false // PSI is off, or the kernel is too old
	}
	_, rest, ok := strings.Cut(text, "some avg10=")
	value, _, _ := strings.Cut(rest, " ")
	share, err := strconv.ParseFloat(value, 64)
	return share, ok && err == nil
}

// numbers reads whitespace-separated integers and passes over what is none.
func numbers(text string) []int {
	var all []int
	for field := range strings.FieldsSeq(text) {
		if n, err := strconv.Atoi(field); err == nil {
			all = append(all, n)
		}
	}
	return all
}
