package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

func synthetic(t interface{ Fatal(...any) }, text string) *machine.Machine {
	m, err := machine.ParseSynthetic(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMachineTree(t *testing.T) {
	m := synthetic(t, "sockets=2,numa=2,llc=2,cores=8,threads=2,memory=64Gi,hugepages-1Gi=4")
	m.CPUs[15].Online, m.CPUs[15].Core, m.CPUs[15].Socket = false, -1, -1
	m.CPUs[7].Isolated = true
	m.NUMA = append(m.NUMA, machine.Node{ID: 4, Memory: 1 << 30})
	m.PCI = []machine.PCIDevice{
		{Address: "0000:3b:00.0", Class: "network", NUMA: 0, Names: []string{"eth0"}, Functions: 2, MaxFunctions: 8},
		{Address: "0000:3b:02.0", Class: "network", NUMA: 0, Physical: "0000:3b:00.0"},
		{Address: "0000:5e:00.0", Class: "gpu", Vendor: "10de", Device: "20b5", NUMA: 1},
		{Address: "0000:5f:00.0", Class: "gpu", Vendor: "10de", Device: "20b5", NUMA: 1},
		{Address: "0000:00:02.0", Class: "nvme", NUMA: -1},
	}
	m.Devices = []machine.Device{{Resource: "example.com/fpga", ID: "a"}, {Resource: "example.com/fpga", ID: "b", Healthy: true}}
	marks := m.Marks(machine.Use{
		Reserved:  cpuset.New(0, 8),
		Shared:    cpuset.New(1, 2, 9, 10, 4, 5, 6, 7, 12, 13, 14),
		Exclusive: map[string]cpuset.CPUSet{"default/web/app": cpuset.New(3, 11)},
	})
	var out bytes.Buffer
	if err := MachineTree(&out, m, marks, Style{}); err != nil {
		t.Fatal(err)
	}
	want := `machine  64Gi  2 sockets, 3 NUMA nodes, 8 cores, 15 CPUs
├─package 0
│ └─NUMA node 0  32Gi  2 × 1Gi pages
│   ├─network 0000:3b:00.0 eth0  2 of 8 functions
│   └─last level cache 0
│     ├─core 0  CPUs 0,8  2 threads  reserved
│     ├─cores 1-2  CPUs 1-2,9-10  2 threads  shared
│     └─core 3  CPUs 3,11  2 threads  exclusive default/web/app
├─package 1
│ └─NUMA node 1  32Gi  2 × 1Gi pages
│   ├─gpu 10de:20b5 × 2 from 0000:5e:00.0
│   └─last level cache 1
│     ├─cores 0-2  CPUs 4-6,12-14  2 threads  shared
│     └─core 3  CPUs 7  shared, isolated
├─NUMA node 4  1Gi  no CPUs
├─offline  CPUs 15
├─nvme 0000:00:02.0
└─example.com/fpga × 2, 1 unhealthy
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}

// Whatever the machine: well-formed XML, every CPU once, nothing outside its
// box, no two boxes over one another.
func TestMachineSVGPlacesEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sockets := rapid.IntRange(1, 3).Draw(t, "sockets")
		numa := sockets * rapid.IntRange(1, 3).Draw(t, "numa")
		cores := numa * 2 * rapid.IntRange(1, 5).Draw(t, "cores")
		threads := rapid.IntRange(1, 4).Draw(t, "threads")
		m := synthetic(t, fmt.Sprintf("sockets=%d,numa=%d,llc=%d,cores=%d,threads=%d", sockets, numa, numa*2, cores, threads))
		for i := range m.CPUs {
			if rapid.IntRange(0, 9).Draw(t, "offline") == 0 {
				m.CPUs[i].Online, m.CPUs[i].Core, m.CPUs[i].Socket = false, -1, -1
			}
		}
		root := measure(m, m.Layout(), cellFor(m))
		inside(t, root)

		var out bytes.Buffer
		if err := MachineSVG(&out, m, m.Marks(machine.Use{}), "a title"); err != nil {
			t.Fatal(err)
		}
		notes := map[string]int{}
		for _, text := range wellFormed(t, out.Bytes()) {
			if strings.HasPrefix(text, "CPU ") {
				id, _, _ := strings.Cut(text, ",")
				notes[id]++
			}
		}
		for _, c := range m.CPUs {
			if n := notes[fmt.Sprintf("CPU %d", c.ID)]; n != 1 {
				t.Fatalf("CPU %d is drawn %d times", c.ID, n)
			}
		}
	})
}

func inside(t *rapid.T, s *shape) {
	for i, a := range s.inner {
		if a.x < 0 || a.y < 0 || a.x+a.w > s.w || a.y+a.h > s.h {
			t.Fatalf("%s %d does not fit in %s", a.box.Kind, a.box.ID, s.box.Kind)
		}
		for _, b := range s.inner[:i] {
			if a.x < b.x+b.w && b.x < a.x+a.w && a.y < b.y+b.h && b.y < a.y+a.h {
				t.Fatalf("%s %d lies over %d", a.box.Kind, a.box.ID, b.box.ID)
			}
		}
		inside(t, a)
	}
}

// wellFormed returns the texts of an XML document.
func wellFormed(t interface{ Fatal(...any) }, data []byte) []string {
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
}

func TestMachineSVGMarks(t *testing.T) {
	m := synthetic(t, "cores=4")
	owner := "default/<web>&\x00\x1b/app"
	marks := m.Marks(machine.Use{
		Reserved:  cpuset.New(0),
		Shared:    cpuset.New(1),
		Exclusive: map[string]cpuset.CPUSet{owner: cpuset.New(2)},
	})
	var out bytes.Buffer
	if err := MachineSVG(&out, m, marks, ""); err != nil {
		t.Fatal(err)
	}
	texts := strings.Join(wellFormed(t, out.Bytes()), "\n")
	for _, want := range []string{
		"reserved · 1 CPU · 0", "exclusive default/<web>&  /app · 1 CPU · 2", "shared · 1 CPU · 1", "online · 1 CPU · 3",
		"CPU 2, core 2, socket 0, NUMA node 0, exclusive default/<web>&  /app",
	} {
		if !strings.Contains(texts, want) {
			t.Errorf("no %q in the picture", want)
		}
	}
	if !strings.Contains(out.String(), `class="owner0"`) || !strings.Contains(out.String(), "prefers-color-scheme: dark") {
		t.Error("no colour for the owner, or none for the dark")
	}
}

func TestOwnerLetters(t *testing.T) {
	for i, want := range map[int]string{0: "a", 25: "z", 26: "aa", 27: "ab", 26 + 26*26: "aaa"} {
		if got := ownerLetters(i); got != want {
			t.Errorf("owner %d: got %s, want %s", i, got, want)
		}
	}
}
