package machine

import (
	"context"
	"fmt"
	"path"
	"strings"
)

// unknown stands for a number that the kernel does not tell, as for the core of
// an offline CPU.
const unknown = -1

// hardwareCPU is a CPU as the kernel describes it.
type hardwareCPU struct {
	online   bool
	isolated bool
	kind     CoreType
	// unknown (-1) each when the kernel does not tell.
	core, socket, die, numa int
	caches                  []hardwareCache
	// noCaches says that it has no folder of caches at all.
	noCaches bool
}

func (h *hardwareCPU) hiddenWhy() string {
	switch {
	case h.core == unknown || h.socket == unknown:
		return "no core or package in /sys"
	case h.numa == unknown:
		return "on no NUMA node in /sys"
	}
	return "not found below its NUMA node in /sys"
}

// hardware reads all CPUs that the kernel knows, offline ones included.
func (t tree) hardware(ctx context.Context) (map[int]*hardwareCPU, error) {
	cpus := map[int]*hardwareCPU{}
	add := func(id int) { cpus[id] = &hardwareCPU{core: unknown, socket: unknown, die: unknown, numa: unknown} }
	for _, n := range t.numbered("cpu", cpuDir) {
		add(n.id)
	}
	for _, file := range []string{"present", "online"} {
		present, err := t.list(cpuDir, file)
		if err != nil {
			return nil, err
		}
		for _, id := range present {
			if cpus[id] == nil {
				add(id)
			}
		}
	}
	if err := t.markOnline(cpus); err != nil {
		return nil, err
	}
	for id, c := range cpus {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		t.readTopology(id, c)
	}
	for _, n := range t.numbered("node", nodeDir) {
		for _, c := range t.nodeCPUs(n.name) {
			if h := cpus[c.id]; h != nil && h.numa == unknown {
				h.numa = n.id
			}
		}
	}
	return cpus, t.markKinds(cpus)
}

// markOnline follows the list of online CPUs, else each CPU's own file; CPU 0
// of many kernels has none and is online.
func (t tree) markOnline(cpus map[int]*hardwareCPU) error {
	online, err := t.list(cpuDir, "online")
	if err != nil {
		return err
	}
	for _, id := range online {
		cpus[id].online = true
	}
	if t.has(cpuDir, "online") {
		return nil
	}
	for id, c := range cpus {
		text, err := t.text(cpuDir, fmt.Sprintf("cpu%d", id), "online")
		c.online = err != nil || text != "0"
	}
	return nil
}

// readTopology reads what files tell; a number that does not parse stays
// unknown, and kubeletView says what comes of it.
func (t tree) readTopology(id int, c *hardwareCPU) {
	dir := path.Join(cpuDir, fmt.Sprintf("cpu%d", id))
	for file, into := range map[string]*int{"core_id": &c.core, "physical_package_id": &c.socket, "die_id": &c.die} {
		if n, err := t.number(dir, "topology", file); err == nil {
			*into = n
		}
	}
	c.noCaches = !t.has(dir, "cache")
	// Without the list of online CPUs cAdvisor takes all for online.
	if c.online || !t.has(cpuDir, "online") {
		c.caches = t.caches(dir)
	}
}

// markKinds notes isolated CPUs and the kinds of a hybrid machine's cores.
func (t tree) markKinds(cpus map[int]*hardwareCPU) error {
	isolated, err := t.isolated()
	if err != nil {
		return err
	}
	for _, id := range isolated {
		if c := cpus[id]; c != nil {
			c.isolated = true
		}
	}
	// x86 has a performance counter unit for each kind of core.
	efficient, err := t.list("devices/cpu_atom/cpus")
	if err != nil {
		return err
	}
	performant, err := t.list("devices/cpu_core/cpus")
	if err != nil {
		return err
	}
	if len(efficient) == 0 || len(performant) == 0 {
		t.markCapacities(cpus)
		return nil
	}
	for ids, kind := range map[*[]int]CoreType{&efficient: Efficiency, &performant: Performance} {
		for _, id := range *ids {
			if c := cpus[id]; c != nil {
				c.kind = kind
			}
		}
	}
	return nil
}

// littleCapacity is the share of the strongest core's cpu_capacity below which
// a core counts as efficient. Favoured cores of one kind differ by less.
const littleCapacity = 0.8

// markCapacities tells big from little cores by the kernel's cpu_capacity.
func (t tree) markCapacities(cpus map[int]*hardwareCPU) {
	capacity := map[int]int{}
	least, most := 0, 0
	for id := range cpus {
		n, err := t.number(cpuDir, fmt.Sprintf("cpu%d", id), "cpu_capacity")
		if err != nil || n <= 0 {
			continue
		}
		capacity[id] = n
		if most = max(most, n); least == 0 || n < least {
			least = n
		}
	}
	limit := littleCapacity * float64(most)
	if len(capacity) != len(cpus) || float64(least) >= limit {
		return
	}
	for id, n := range capacity {
		cpus[id].kind = Performance
		if float64(n) < limit {
			cpus[id].kind = Efficiency
		}
	}
}

// isolated reads the kernel's list, else isolcpus= of its command line, whose
// value may begin with flags such as "nohz,domain,".
func (t tree) isolated() ([]int, error) {
	if t.has(cpuDir, "isolated") {
		return t.list(cpuDir, "isolated")
	}
	cmdline, err := t.procText("cmdline")
	if err != nil {
		return nil, nil //nolint:nilerr // an old kernel's copy without a command line isolates nothing
	}
	for word := range strings.FieldsSeq(cmdline) {
		value, ok := strings.CutPrefix(word, "isolcpus=")
		if !ok {
			continue
		}
		if i := strings.IndexAny(value, "0123456789"); i >= 0 {
			if ids, err := parseList(value[i:]); err == nil {
				return ids, nil
			}
		}
	}
	return nil, nil
}
