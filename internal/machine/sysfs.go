package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/kqos/kqos/internal/quantity"
)

// Paths in /sys.
const (
	cpuDir  = "devices/system/cpu"
	nodeDir = "devices/system/node"
)

// Detect reads the machine whose /sys and /proc stand below hostRoot; a folder
// that is itself a copy of /sys will do, and so will an archive of a node's
// files. Links are not followed out of it.
func Detect(ctx context.Context, hostRoot string) (*Machine, error) {
	if info, err := os.Stat(hostRoot); err == nil && info.Mode().IsRegular() {
		return Load(ctx, hostRoot)
	}
	root, err := os.OpenRoot(hostRoot)
	if err != nil {
		return nil, fmt.Errorf("detecting the machine: %w", err)
	}
	defer root.Close()
	m, err := detectIn(ctx, root.FS())
	if err != nil {
		return nil, fmt.Errorf("detecting the machine below %s: %w", hostRoot, err)
	}
	m.Source = hostRoot
	if filepath.Clean(hostRoot) == "/" {
		m.Source = "this host"
	}
	return m, nil
}

// detectIn reads the machine whose sys and proc stand in the file system.
func detectIn(ctx context.Context, files fs.FS) (*Machine, error) {
	t, err := openTree(files)
	if err != nil {
		return nil, err
	}
	m := &Machine{}
	cpuinfo := t.cpuinfo()
	hardware, err := t.hardware(ctx)
	if err != nil {
		return nil, err
	}
	if len(hardware) == 0 {
		hardware = cpuinfo.cpus()
		m.assume("cores and sockets from /proc/cpuinfo: /sys shows no CPUs, as in some containers")
	}
	if len(hardware) == 0 {
		return nil, errors.New("no CPUs in sys/devices/system/cpu nor in proc/cpuinfo")
	}
	seen, failed := t.kubeletView(m, hardware)
	if failed != nil {
		m.assume("the kubelet cannot read this machine and knows no CPU: %v", failed)
	}
	m.dropShortDistances()
	m.addCPUs(hardware, seen)
	m.addCaches(hardware)
	if sockets := cpuinfo.sockets(t); sockets != 0 && sockets != m.NumSockets() {
		m.counts().Sockets = sockets
	}
	if err := t.addMemory(m); err != nil {
		return nil, err
	}
	m.PCI = t.pci()
	if cpuinfo.s390x {
		m.assume("books and drawers of an s390x machine are left aside: the kubelet there tells cores apart by them too")
	}
	return m, m.finish()
}

func (m *Machine) counts() *Counts {
	if m.Counts == nil {
		m.Counts = &Counts{}
	}
	return m.Counts
}

// seenCPU is what cAdvisor makes of one CPU.
type seenCPU struct{ numa, socket, core, uncore int }

// addCPUs makes the CPUs: of the hardware all, of the kubelet's view their
// place.
func (m *Machine) addCPUs(hardware map[int]*hardwareCPU, seen map[int]seenCPU) {
	llc := lastLevelIDs(hardware)
	uncore := map[int]int{}
	for _, id := range slices.Sorted(maps.Keys(hardware)) {
		h := hardware[id]
		c := CPU{
			ID: id, Core: h.core, Socket: h.socket, NUMA: h.numa, LLC: h.socket,
			Isolated: h.isolated, Type: h.kind,
		}
		if l, ok := llc[id]; ok {
			c.LLC = l
		}
		if s, ok := seen[id]; ok {
			c.Online, c.NUMA, c.Socket, c.Core = true, s.numa, s.socket, s.core
			uncore[id] = s.uncore
		} else if h.online {
			c.Hidden = h.hiddenWhy()
		} else {
			c.LLC = unknown
		}
		if h.die != unknown && severalDies(hardware) {
			die := h.die
			c.Die = &die
		}
		m.CPUs = append(m.CPUs, c)
	}
	m.settleUncore(uncore)
	if hidden := len(m.where(func(c CPU) bool { return c.Hidden != "" }).List()); hidden > 0 {
		m.assume("%s online that the kubelet does not see, taken as offline", quantity.Count(hidden, "CPU"))
	}
}

// settleUncore notes the uncore caches that cAdvisor reports where the rule
// over the last level caches gives another.
func (m *Machine) settleUncore(actual map[int]int) {
	derived := m.UncoreCaches()
	for i := range m.CPUs {
		c := &m.CPUs[i]
		if id, ok := actual[c.ID]; ok && id != derived[c.ID] {
			c.Uncore = &id
		}
	}
}

func severalDies(hardware map[int]*hardwareCPU) bool {
	die := map[int]int{}
	for _, h := range hardware {
		if h.die == unknown {
			continue
		}
		if d, ok := die[h.socket]; ok && d != h.die {
			return true
		}
		die[h.socket] = h.die
	}
	return false
}
