package cli

import (
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
)

// cgroupInspection is the contract of inspect.
type cgroupInspection struct {
	typeMeta
	Driver        string `json:"driver"`
	CgroupVersion int    `json:"cgroupVersion"`
	// Config is the file that the wanted state was computed from.
	Config string `json:"config,omitempty"`
	// Target is the part that was asked for.
	Target    string                     `json:"target,omitempty"`
	Cgroups   []inspectedCgroup          `json:"cgroups"`
	Leaks     []inspectedLeak            `json:"leaks"`
	Intruders []inspectedIntruder        `json:"intruders"`
	Alignment map[string]inspectedPlaces `json:"alignment"`
	// Notes say what could not be told.
	Notes []string `json:"notes,omitempty"`
}

type inspectedCgroup struct {
	Path        string            `json:"path"`
	Level       cgroups.Level     `json:"level,omitempty"`
	Pod         *cgroups.PodRef   `json:"pod,omitempty"`
	Container   string            `json:"container,omitempty"`
	ContainerID string            `json:"containerID,omitempty"`
	Sandbox     bool              `json:"sandbox,omitempty"`
	Missing     bool              `json:"missing,omitempty"`
	Usage       inspectedUsage    `json:"usage"`
	Files       map[string]string `json:"files"`
	Drift       []inspect.Drift   `json:"drift,omitempty"`
	// Writers names who wrote files that are right in more than one way.
	Writers map[string]string `json:"writers,omitempty"`
}

// inspectedUsage leaves out what this kernel or cgroup does not tell.
type inspectedUsage struct {
	// CPU is the number of CPUs in use over the sample, CPUSeconds all the time
	// used since the cgroup was made.
	CPU        *resource.Quantity           `json:"cpu,omitempty"`
	CPUSeconds *float64                     `json:"cpuSeconds,omitempty"`
	Memory     *resource.Quantity           `json:"memory,omitempty"`
	MemoryPeak *resource.Quantity           `json:"memoryPeak,omitempty"`
	Swap       *resource.Quantity           `json:"swap,omitempty"`
	HugePages  map[string]resource.Quantity `json:"hugepages,omitempty"`
	PIDs       *int64                       `json:"pids,omitempty"`
	// Throttled is in seconds; ThrottledPeriods of Periods were cut short.
	Throttled        *float64           `json:"throttled,omitempty"`
	ThrottledPeriods *int64             `json:"throttledPeriods,omitempty"`
	Periods          *int64             `json:"periods,omitempty"`
	OOMKills         *int64             `json:"oomKills,omitempty"`
	Pressure         map[string]float64 `json:"pressure,omitempty"`
}

type inspectedLeak struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	PIDs []int  `json:"pids"`
}

// inspectedIntruder has a PID or the number of an IRQ.
type inspectedIntruder struct {
	PID   int    `json:"pid,omitempty"`
	IRQ   string `json:"irq,omitempty"`
	Comm  string `json:"comm"`
	CPUs  string `json:"cpus"`
	Owner string `json:"owner"`
}

type inspectedPlaces struct {
	Path string `json:"path"`
	CPUs string `json:"cpus"`
	// SharedCores are the CPUs whose core siblings are not the container's.
	SharedCores string `json:"sharedCores"`
	LLCs        []int  `json:"llcs"`
	NUMA        []int  `json:"numa"`
	Sockets     []int  `json:"sockets"`
	// Memory is where its pages lie, by NUMA node.
	Memory map[string]resource.Quantity `json:"memory,omitempty"`
}

// result puts a report into the contract's form.
func (o *inspectOptions) result(s *survey, r *inspect.Report) *cgroupInspection {
	v := &cgroupInspection{
		typeMeta: kind("CgroupInspection"), Driver: s.node.driver, CgroupVersion: s.node.cgroupVersion,
		Config: s.node.config.Source, Target: s.target,
		Cgroups: []inspectedCgroup{}, Leaks: []inspectedLeak{}, Intruders: []inspectedIntruder{}, Alignment: map[string]inspectedPlaces{},
		Notes: slices.Concat(s.notes, r.Notes),
	}
	for i := range r.Cgroups {
		c := &r.Cgroups[i]
		v.Cgroups = append(v.Cgroups, inspectedCgroup{
			Path: c.Path, Level: c.Level, Pod: c.Pod, Container: c.Container, ContainerID: c.ContainerID, Sandbox: c.Sandbox, Missing: c.Missing,
			Usage: usageOf(c), Files: c.Files, Drift: c.Drift, Writers: c.Writers,
		})
	}
	for _, l := range r.Leaks {
		v.Leaks = append(v.Leaks, inspectedLeak{l.Path, l.Why, append([]int{}, l.PIDs...)})
	}
	for _, i := range r.Intruders {
		v.Intruders = append(v.Intruders, inspectedIntruder{i.PID, i.IRQ, i.Comm, i.CPUs.String(), i.Owner})
	}
	for i := range r.Placed {
		p := &r.Placed[i]
		places := inspectedPlaces{
			Path: p.Path, CPUs: p.CPUs.String(), SharedCores: p.SharedCores.String(), LLCs: p.LLCs, NUMA: p.NUMA, Sockets: p.Sockets,
		}
		for node, n := range p.Memory {
			if places.Memory == nil {
				places.Memory = map[string]resource.Quantity{}
			}
			places.Memory[strconv.Itoa(node)] = *byteQuantity(&n)
		}
		v.Alignment[p.Owner] = places
	}
	o.order(v)
	return v
}

func usageOf(c *inspect.Cgroup) inspectedUsage {
	u := c.Usage
	used := inspectedUsage{
		CPUSeconds: seconds(u.CPU), Memory: byteQuantity(u.Memory), MemoryPeak: byteQuantity(u.Peak), Swap: byteQuantity(u.Swap),
		PIDs: u.PIDs, Throttled: seconds(u.Throttled), ThrottledPeriods: u.ThrottledPeriods, Periods: u.Periods,
		OOMKills: u.OOMKills, Pressure: u.Pressure,
	}
	if c.Rate != nil {
		used.CPU = resource.NewMilliQuantity(int64(math.Round(*c.Rate*1000)), resource.DecimalSI)
	}
	for size, n := range u.HugePages {
		if used.HugePages == nil {
			used.HugePages = map[string]resource.Quantity{}
		}
		used.HugePages[size] = *byteQuantity(&n)
	}
	return used
}

func byteQuantity(n *int64) *resource.Quantity {
	if n == nil {
		return nil
	}
	return resource.NewQuantity(*n, resource.BinarySI)
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	s := d.Seconds()
	return &s
}

// drifted tells whether anything is not as wanted. What is unverified is no
// finding: the kubelet may want just that.
func (v *cgroupInspection) drifted() bool {
	return slices.ContainsFunc(v.Cgroups, func(c inspectedCgroup) bool {
		return slices.ContainsFunc(c.Drift, func(d inspect.Drift) bool { return !d.Unverified })
	})
}
