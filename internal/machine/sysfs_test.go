package machine

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What a kernel shows of a machine must read back as that machine.
func TestDetectReadsBackRegularMachines(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		sockets := rapid.IntRange(1, 3).Draw(rt, "sockets")
		numa := sockets * rapid.IntRange(1, 3).Draw(rt, "numa per socket")
		llc := numa * rapid.IntRange(1, 2).Draw(rt, "llc per node")
		want := (&totals{
			sockets: sockets, numa: numa, llc: llc,
			cores:     llc * rapid.IntRange(1, 3).Draw(rt, "cores per llc"),
			threads:   rapid.IntRange(1, 2).Draw(rt, "threads"),
			numbering: rapid.SampledFrom([]string{"", numberingCompact, numberingInterleaved}).Draw(rt, "numbering"), distances: usualDistances(),

			hugePages: map[string][]int64{"2Mi": {rapid.Int64Range(0, 100).Draw(rt, "pages")}, "1Gi": {0}},
		}).machine()
		for i := range want.CPUs {
			if i > 0 && rapid.IntRange(0, 9).Draw(rt, "offline") == 0 {
				c := &want.CPUs[i]
				c.Online, c.Core, c.Socket, c.LLC = false, unknown, unknown, unknown
			}
		}
		noSwap := int64(0)
		want.Swap = &noSwap
		if err := want.finish(); err != nil {
			rt.Fatal(err)
		}
		got, err := detectIn(t.Context(), captureOf(want).files(t))
		if err != nil {
			rt.Fatal(err)
		}
		got.Caches = nil
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("machine (-want +got):\n%s", diff)
		}
	})
}

// An irregular machine by hand: see the comment of the capture.
func TestDetectIrregular(t *testing.T) {
	got, err := detectIn(t.Context(), readCapture(t, "irregular").files(t))
	if err != nil {
		t.Fatal(err)
	}
	none, swap, zero, one := NoUncore, int64(2<<20), 0, 1
	want := &Machine{
		APIVersion: APIVersion, Kind: Kind, Memory: 8 << 20, Swap: &swap,
		HugePages: map[string]int64{"2Mi": 3},
		CPUs: []CPU{
			{ID: 0, Online: true, Type: Performance, Uncore: &none, Die: &zero},
			{ID: 1, Online: true, Type: Performance, Uncore: &none, Die: &zero},
			{ID: 2, Online: true, Core: 4, Isolated: true, Type: Efficiency, Uncore: &none, Die: &one},
			{ID: 3, Core: -1, Socket: -1, LLC: -1},
			{ID: 4, Core: 5, LLC: 4, NUMA: -1, Type: Efficiency, Hidden: "on no NUMA node in /sys", Die: &one},
		},
		NUMA: []Node{
			{ID: 0, Memory: 4 << 20, HugePages: map[string]int64{"2Mi": 1}, Distances: []int{10, 20}, CPUs: "0-2"},
			{ID: 7, Memory: 4 << 20, Distances: []int{20, 10}},
		},
		Caches: []Cache{{Level: 2, Size: 2 << 20, CPUs: "0-1"}, {Level: 2, CPUs: "2"}, {Level: 3, Size: 8 << 20, CPUs: "0-2"}, {Level: 3, Size: 8 << 20, CPUs: "4"}},
		PCI: []PCIDevice{
			{Address: "0000:3b:00.0", Class: "network", Vendor: "8086", Device: "1592", NUMA: 7, Names: []string{"eth0"}, Functions: 1, MaxFunctions: 64},
			{Address: "0000:3b:00.1", Class: "network", Vendor: "8086", Device: "1889", NUMA: 7, Physical: "0000:3b:00.0"},
			{Address: "0000:5e:00.0", Class: "nvme", NUMA: -1, Names: []string{"nvme0"}},
		},
		Assumptions: []string{"1 CPU online that the kubelet does not see, taken as offline"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("machine (-want +got):\n%s", diff)
	}
}

func TestDetectAssumes(t *testing.T) {
	base := captureOf((&totals{sockets: 2, numa: 2, llc: 2, cores: 4, threads: 1, distances: usualDistances()}).machine())
	tests := []struct {
		name   string
		change func(capture)
		want   string
		numa   []Node
	}{
		{"no links to CPUs", func(c capture) {
			drop(c, "/node0/cpu", "/node1/cpu")
			c["sys/devices/system/node/node0/cpulist"] = "0-1"
			c["sys/devices/system/node/node1/cpumap"] = "0000000c"
		}, "no links from NUMA nodes to CPUs", []Node{
			{Memory: 2 * gib, CPUs: "0-1", Distances: []int{10, 21}}, {ID: 1, Memory: 2 * gib, CPUs: "2-3", Distances: []int{21, 10}},
		}},
		{"no NUMA", func(c capture) { drop(c, "/system/node/") }, "each socket counts as a node", []Node{{CPUs: "0-1"}, {ID: 1, CPUs: "2-3"}}},
		{"masked /sys", func(c capture) { drop(c, "sys/") }, "as in some containers", []Node{{CPUs: "0-1"}, {ID: 1, CPUs: "2-3"}}},
		{"too few distances", func(c capture) { c["sys/devices/system/node/node1/distance"] = "10" }, "1 for 2 nodes", []Node{
			{Memory: 2 * gib, CPUs: "0-1", Distances: []int{10, 21}}, {ID: 1, Memory: 2 * gib, CPUs: "2-3"},
		}},
		{"no meminfo", func(c capture) { drop(c, "proc/meminfo") }, "the sum over the NUMA nodes", nil},
		{"links that lead nowhere", func(c capture) {
			for name := range c {
				if strings.Contains(name, "/node0/cpu") || strings.Contains(name, "/node1/cpu") {
					c[name] = "-> ."
				}
			}
		}, "would not start its CPU manager", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := maps.Clone(base)
			tt.change(c)
			m, err := detectIn(t.Context(), c.files(t))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(strings.Join(m.Assumptions, "\n"), tt.want) {
				t.Errorf("assumptions are %q, want one with %q", m.Assumptions, tt.want)
			}
			if diff := cmp.Diff(tt.numa, m.NUMA); tt.numa != nil && diff != "" {
				t.Errorf("numa (-want +got):\n%s", diff)
			}
		})
	}
}

// Where cAdvisor gives up, the kubelet knows no CPU; what the hardware has is
// told all the same.
func TestDetectWhatTheKubeletCannotRead(t *testing.T) {
	base := captureOf((&totals{sockets: 1, numa: 2, llc: 2, cores: 2, threads: 1, distances: usualDistances()}).machine())
	tests := []struct{ name, content, want string }{
		{"cpu/cpu1/topology/core_id", "x", `core_id: "x" is not a number`},
		{"node/node1/distance", "10 far", `distances of NUMA node 1: "far" is not a number`},
		{"node/node1/distance", "", `distances of NUMA node 1: "" is not a number`},
		{"node/node0/meminfo", "nothing", "memory of NUMA node 0: no MemTotal"},
	}
	for _, tt := range tests {
		c := maps.Clone(base)
		c["sys/devices/system/"+tt.name] = tt.content
		m, err := detectIn(t.Context(), c.files(t))
		if err != nil {
			t.Error(err)
			continue
		}
		told := strings.Join(m.Assumptions, "\n")
		if !strings.Contains(told, "knows no CPU") || !strings.Contains(told, tt.want) {
			t.Errorf("%s: assumptions are %q, want one with %q", tt.name, told, tt.want)
		}
		if len(m.NUMA) != 2 || m.Online().Size() != 0 || m.CPUs[0].Hidden == "" {
			t.Errorf("%s: %d nodes, CPUs %s online, CPU 0 hidden: %q", tt.name, len(m.NUMA), m.Online(), m.CPUs[0].Hidden)
		}
	}
}

// What a CPU lacks in /sys tells whether cAdvisor sees it, and others with it.
func TestDetectMissingTopology(t *testing.T) {
	base := captureOf((&totals{sockets: 2, numa: 2, llc: 4, cores: 8, threads: 1, distances: usualDistances()}).machine())
	const cpus = "sys/devices/system/cpu/"
	for name, tt := range map[string]struct {
		change func(capture)
		online string
		uncore map[int]int
	}{
		"all there": {func(capture) {}, "0-7", map[int]int{0: 0, 2: 1, 4: 2, 6: 3}},
		"no package, without NUMA": {func(c capture) {
			drop(c, "/system/node/", "cpu3/topology/physical_package_id")
		}, "0-2,4-7", map[int]int{0: 0}},
		"a core without package, without NUMA": {func(c capture) {
			drop(c, "/system/node/")
			c[cpus+"cpu3/topology/physical_package_id"] = "x"
		}, "", nil},
		"no package, and a core that is no number": {func(c capture) {
			drop(c, "cpu3/topology/physical_package_id")
			c[cpus+"cpu3/topology/core_id"] = "x"
		}, "", nil},
		"no core, and a package that is no number": {func(c capture) {
			drop(c, "cpu3/topology/core_id")
			c[cpus+"cpu3/topology/physical_package_id"] = "x"
		}, "0-2,4-7", nil},
		"no caches from CPU 6 on": {func(c capture) { drop(c, "cpu6/cache/") }, "0-7", map[int]int{4: 2, 6: NoUncore, 7: NoUncore}},
	} {
		c := maps.Clone(base)
		tt.change(c)
		m, err := detectIn(t.Context(), c.files(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := m.Online().String(); got != tt.online {
			t.Errorf("%s: the kubelet sees %q, want %q", name, got, tt.online)
		}
		for cpu, want := range tt.uncore {
			if got := m.UncoreCaches()[cpu]; got != want {
				t.Errorf("%s: uncore cache of CPU %d is %d, want %d", name, cpu, got, want)
			}
		}
	}
}

func TestDetectRefuses(t *testing.T) {
	base := captureOf((&totals{sockets: 1, numa: 2, llc: 1, cores: 2, threads: 1, distances: usualDistances()}).machine())
	tests := []struct {
		name   string
		change func(capture)
		want   string
	}{
		{"online", func(c capture) { c["sys/devices/system/cpu/online"] = "0-4000000000" }, `"4000000000" is not a number between 0 and 65535`},
		{"nothing", func(c capture) { drop(c, "sys/", "proc/"); c["x"] = "" }, "not a copy of a node's /sys"},
		{"no CPUs", func(c capture) {
			drop(c, "sys/devices/system/cpu", "proc/", "/node0/cpu", "/node1/cpu")
		}, "no CPUs in sys/devices/system/cpu nor in proc/cpuinfo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := maps.Clone(base)
			tt.change(c)
			_, err := detectIn(t.Context(), c.files(t))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestDetectStaysInItsFolder(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("MemTotal: 4096 kB\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for name, content := range captureOf((&totals{sockets: 1, numa: 1, llc: 1, cores: 1, threads: 1, distances: usualDistances()}).machine()) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(target, path)
		} else if name == "proc/meminfo" {
			err = os.Symlink(secret, path)
		} else {
			err = os.WriteFile(path, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	m, err := Load(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if m.Memory != gib || m.Source != root {
		t.Errorf("memory %d, source %s: a link led out of the folder", m.Memory, m.Source)
	}
}

func drop(c capture, parts ...string) {
	for name := range c {
		for _, part := range parts {
			if strings.Contains(name, part) {
				delete(c, name)
			}
		}
	}
}

func FuzzDetect(f *testing.F) {
	f.Add("sys/devices/system/cpu/online", "0-1023,9")
	f.Add("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 99999999999999999999 kB")
	f.Add("sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_map", "ffffffff,00000000")
	base := captureOf((&totals{sockets: 2, numa: 2, llc: 2, cores: 4, threads: 2, distances: usualDistances()}).machine())
	f.Fuzz(func(t *testing.T, name, content string) {
		c := maps.Clone(base)
		if !fs.ValidPath(name) || len(name) > 100 || strings.ContainsRune(name, 0) || strings.ContainsRune(content, 0) {
			return // no capture holds such a file
		}
		c[name] = content
		if m, err := detectIn(t.Context(), c.files(t)); err == nil && m.Validate() != nil {
			t.Errorf("read an invalid machine: %v", m.Validate())
		}
	})
}
