package machine

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// machineInfo is what is read of cAdvisor's MachineInfo. Later generations
// added fields: socket_id (0.33), distances (0.48), uncore_caches and ids of
// caches (0.41), swap_capacity (0.44).
// cAdvisor lib v0.60: model/machine.go
type machineInfo struct {
	NumCores       int                `json:"num_cores"`
	NumSockets     int                `json:"num_sockets"`
	MemoryCapacity uint64             `json:"memory_capacity"`
	SwapCapacity   *uint64            `json:"swap_capacity"`
	HugePages      []machineInfoPages `json:"hugepages"`
	Topology       []machineInfoNode  `json:"topology"`
}

type machineInfoPages struct {
	PageSize uint64 `json:"page_size"` // KiB
	NumPages uint64 `json:"num_pages"`
}

type machineInfoNode struct {
	ID        int                `json:"node_id"`
	Memory    uint64             `json:"memory"`
	HugePages []machineInfoPages `json:"hugepages"`
	Cores     []machineInfoCore  `json:"cores"`
	Caches    []machineInfoCache `json:"caches"`
	Distances []int              `json:"distances"`
}

type machineInfoCore struct {
	ID      int                `json:"core_id"`
	Threads []int              `json:"thread_ids"`
	Uncore  []machineInfoCache `json:"uncore_caches"`
	Socket  *int               `json:"socket_id"`
}

type machineInfoCache struct {
	ID    int    `json:"id"`
	Size  uint64 `json:"size"`
	Type  string `json:"type"`
	Level int    `json:"level"`
}

func parseMachineInfo(data []byte) (*Machine, error) {
	var info machineInfo
	if err := json.Unmarshal(data, &info); err != nil {
		return nil, fmt.Errorf("reading a cadvisor MachineInfo: %w", err)
	}
	m := &Machine{Memory: clamp(info.MemoryCapacity)}
	if info.SwapCapacity != nil {
		swap := clamp(*info.SwapCapacity)
		m.Swap = &swap
	}
	for _, n := range info.Topology {
		m.NUMA = append(m.NUMA, Node{ID: n.ID, Memory: clamp(n.Memory), HugePages: pagesOf(n.HugePages), Distances: n.Distances})
	}
	if len(info.Topology) == 0 && info.NumCores > 0 && info.NumCores <= maxID {
		info.Topology = []machineInfoNode{{Memory: info.MemoryCapacity, Cores: make([]machineInfoCore, info.NumCores)}}
		for i := range info.NumCores {
			info.Topology[0].Cores[i] = machineInfoCore{ID: i, Threads: []int{i}, Socket: new(int)}
		}
		m.NUMA = []Node{{Memory: m.Memory}}
		m.assume("one socket and NUMA node, a core to a CPU: the MachineInfo has no topology, and the kubelet's CPU manager would know no CPU")
	}
	hardware, seen := info.cpus(m)
	m.addCPUs(hardware, seen)
	m.addCaches(hardware)
	if info.NumCores > 0 && info.NumCores != m.NumCPUs() {
		m.counts().CPUs = info.NumCores
	}
	if info.NumSockets > 0 && info.NumSockets != m.NumSockets() {
		m.counts().Sockets = info.NumSockets
	}
	if m.Memory == 0 {
		m.sumMemory("the MachineInfo")
	}
	if pages := pagesOf(info.HugePages); pages != nil && !maps.Equal(pages, m.HugePageCounts()) {
		m.HugePages = pages
	}
	if err := m.finish(); err != nil {
		return nil, fmt.Errorf("reading a cadvisor MachineInfo: %w", err)
	}
	return m, nil
}

// sharedCache is a cache with the node that it belongs to, wholeMachine for one
// that cores of several nodes may name.
type sharedCache struct {
	machineInfoCache
	node int
}

const wholeMachine = -1

// cpus rebuilds what the hardware must have looked like: a cache of the node is
// shared by all of it, an uncore cache by the cores that name it.
func (info *machineInfo) cpus(m *Machine) (map[int]*hardwareCPU, map[int]seenCPU) {
	hardware, seen := map[int]*hardwareCPU{}, map[int]seenCPU{}
	sharers, last := map[sharedCache][]int{}, map[int]sharedCache{}
	for _, n := range info.Topology {
		for _, core := range n.Cores {
			socket := n.ID
			if core.Socket != nil {
				socket = *core.Socket
			} else {
				m.assume("sockets: one for each NUMA node, as this generation of cadvisor does not tell")
			}
			cache, uncore := sharedCache{lastOf(n.Caches), n.ID}, NoUncore
			if len(core.Uncore) > 0 {
				uncore, cache = core.Uncore[0].ID, sharedCache{core.Uncore[0], wholeMachine}
			}
			for _, id := range core.Threads {
				hardware[id] = &hardwareCPU{online: true, core: core.ID, socket: socket, numa: n.ID, die: unknown}
				seen[id] = seenCPU{numa: n.ID, socket: socket, core: core.ID, uncore: uncore}
				if cache.Level > 0 {
					sharers[cache], last[id] = append(sharers[cache], id), cache
				}
			}
		}
	}
	for _, cpus := range sharers {
		slices.Sort(cpus)
	}
	for id, c := range last {
		hardware[id].caches = []hardwareCache{{level: c.Level, size: clamp(c.Size), kind: "Unified", cpus: sharers[c], id: c.ID}}
	}
	return hardware, seen
}

func lastOf(caches []machineInfoCache) machineInfoCache {
	var last machineInfoCache
	for _, c := range caches {
		if c.Level > last.Level {
			last = c
		}
	}
	return last
}

func pagesOf(list []machineInfoPages) map[string]int64 {
	var pages map[string]int64
	for _, p := range list {
		if p.PageSize == 0 || p.PageSize > 1<<40 {
			continue
		}
		if pages == nil {
			pages = map[string]int64{}
		}
		pages[pageSize(int64(p.PageSize))] = clamp(p.NumPages)
	}
	return pages
}

// clamp keeps a number that no machine has from turning negative; validation
// then refuses it.
func clamp(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
