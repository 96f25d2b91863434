package machine

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// hardwareCache is one cache that a CPU has access to.
type hardwareCache struct {
	level int
	size  int64
	kind  string // Data, Instruction, Unified
	cpus  []int  // that share it, offline ones left out by the kernel
	id    int    // unknown when the kernel gives none
	// refused says that cAdvisor fails on this cache, and then gives up on all
	// that follow.
	refused bool
}

// caches reads the caches of the CPU in order of their names. What is missing
// of one is noted, not fatal: many ARM and older kernels give no id.
func (t tree) caches(cpu string) []hardwareCache {
	var found []hardwareCache
	for _, name := range t.names(cpu, "cache") {
		if !strings.HasPrefix(name, "index") {
			continue
		}
		c := hardwareCache{id: unknown}
		level, levelErr := t.number(cpu, "cache", name, "level")
		c.level = level
		var typeErr error
		c.kind, typeErr = t.text(cpu, "cache", name, "type")
		size, sizeErr := t.text(cpu, "cache", name, "size")
		kib, ok := strings.CutSuffix(size, "K")
		n, err := strconv.ParseInt(kib, 10, 64)
		if sizeErr == nil && ok && err == nil && n >= 0 && n < 1<<40 {
			c.size = n << 10
		}
		mask, maskErr := t.text(cpu, "cache", name, "shared_cpu_map")
		if maskErr == nil {
			c.cpus, maskErr = parseMask(mask)
		}
		id, idErr := t.number(cpu, "cache", name, "id")
		if idErr == nil {
			c.id = id
		}
		// cAdvisor lib v0.60: utils/sysfs/sysfs.go GetCacheInfo
		c.refused = errors.Join(idErr, levelErr, sizeErr, typeErr, maskErr) != nil || !ok
		found = append(found, c)
	}
	return found
}

// last is the CPU's cache of the highest level that holds data.
func (h *hardwareCPU) last() (hardwareCache, bool) {
	var last hardwareCache
	for _, c := range h.caches {
		if c.kind != "Instruction" && c.level > last.level && len(c.cpus) > 0 {
			last = c
		}
	}
	return last, last.level > 0
}

// lastLevelIDs gives each CPU with a known last level cache that cache's id:
// the kernel's, where these tell the caches apart, else the first CPU of each.
func lastLevelIDs(hardware map[int]*hardwareCPU) map[int]int {
	kernel, first := map[int]int{}, map[int]int{}
	firstOf := map[int]int{} // kernel's id -> first CPU of the cache
	usable := true
	for _, cpu := range slices.Sorted(maps.Keys(hardware)) {
		c, ok := hardware[cpu].last()
		if !ok {
			continue
		}
		first[cpu], kernel[cpu] = c.cpus[0], c.id
		if f, ok := firstOf[c.id]; ok && f != c.cpus[0] || c.id == unknown {
			usable = false
		}
		firstOf[c.id] = c.cpus[0]
	}
	if usable {
		return kernel
	}
	return first
}

// addCaches lists the caches above level 1 that hold data.
func (m *Machine) addCaches(hardware map[int]*hardwareCPU) {
	seen := map[Cache]bool{}
	for _, cpu := range slices.Sorted(maps.Keys(hardware)) {
		for _, c := range hardware[cpu].caches {
			if c.level < 2 || c.kind == "Instruction" || len(c.cpus) == 0 || c.cpus[0] != cpu {
				continue // each cache is told by its first CPU
			}
			cache := Cache{Level: c.level, Size: c.size, CPUs: formatList(c.cpus)}
			if !seen[cache] {
				seen[cache] = true
				m.Caches = append(m.Caches, cache)
			}
		}
	}
	slices.SortStableFunc(m.Caches, func(a, b Cache) int { return cmp.Compare(a.Level, b.Level) })
}
