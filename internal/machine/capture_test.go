package machine

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/kqos/kqos/internal/archive"
)

// capture is a copy of /sys and /proc: contents by path. A content "-> x" is a
// link to x.
type capture map[string]string

// readCapture reads a capture that stands in testdata as a text archive.
func readCapture(t testing.TB, name string) capture {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	c := capture{}
	for _, f := range txtar.Parse(data).Files {
		c[f.Name] = string(f.Data)
	}
	return c
}

// tar packs the capture.
func (c capture) tar(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(c)) {
		h := &tar.Header{Name: name, Mode: 0o444, Size: int64(len(c[name])), Typeflag: tar.TypeReg}
		if target, ok := strings.CutPrefix(c[name], "-> "); ok {
			h.Typeflag, h.Linkname, h.Size = tar.TypeSymlink, strings.TrimSpace(target), 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write([]byte(c[name])); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (c capture) files(t testing.TB) *archive.FS {
	t.Helper()
	files, err := archive.Read(t.Context(), bytes.NewReader(c.tar(t)))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// captureOf writes the /sys and /proc that a kernel on the machine would show.
func captureOf(m *Machine) capture {
	c := capture{}
	c["sys/devices/system/cpu/online"] = m.Online().String() + "\n"
	c["sys/devices/system/cpu/present"] = m.where(func(CPU) bool { return true }).String() + "\n"
	c["proc/meminfo"] = fmt.Sprintf("MemTotal:  %d kB\nSwapTotal: 0 kB\n", m.Memory>>10)
	sharers := map[int][]int{}
	for _, cpu := range m.CPUs {
		sharers[cpu.LLC] = append(sharers[cpu.LLC], cpu.ID)
	}
	for _, cpu := range m.CPUs {
		dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/", cpu.ID)
		c[dir+"uevent"] = ""
		c[fmt.Sprintf("sys/devices/system/node/node%d/cpu%d", cpu.NUMA, cpu.ID)] = fmt.Sprintf("-> ../../cpu/cpu%d", cpu.ID)
		if !cpu.Online {
			continue
		}
		c["proc/cpuinfo"] += fmt.Sprintf("processor\t: %d\nphysical id\t: %d\ncore id\t\t: %d\n\n", cpu.ID, cpu.Socket, cpu.Core)
		c[dir+"topology/core_id"] = strconv.Itoa(cpu.Core) + "\n"
		c[dir+"topology/physical_package_id"] = strconv.Itoa(cpu.Socket) + "\n"
		for index, kind := range []string{"Data", "Instruction", "Unified", "Unified"} {
			cache := fmt.Sprintf("%scache/index%d/", dir, index)
			c[cache+"type"], c[cache+"size"] = kind+"\n", "32K\n"
			c[cache+"level"] = strconv.Itoa(max(1, index)) + "\n"
			c[cache+"id"] = strconv.Itoa(cpu.ID) + "\n"
			c[cache+"shared_cpu_map"] = mask([]int{cpu.ID})
			if index == 3 {
				c[cache+"id"] = strconv.Itoa(cpu.LLC) + "\n"
				c[cache+"shared_cpu_map"] = mask(sharers[cpu.LLC])
			}
		}
	}
	for _, n := range m.NUMA {
		dir := fmt.Sprintf("sys/devices/system/node/node%d/", n.ID)
		c[dir+"meminfo"] = fmt.Sprintf("Node %d MemTotal: %d kB\n", n.ID, n.Memory>>10)
		c[dir+"distance"] = strings.Trim(fmt.Sprint(n.Distances), "[]") + "\n"
		for size, count := range n.HugePages {
			kib := map[string]int{"2Mi": 2048, "1Gi": 1 << 20}[size]
			c[fmt.Sprintf("%shugepages/hugepages-%dkB/nr_hugepages", dir, kib)] = strconv.FormatInt(count, 10) + "\n"
		}
	}
	return c
}

// mask writes CPUs as the kernel's words of 32 bits.
func mask(ids []int) string {
	words := make([]uint32, slices.Max(ids)/32+1)
	for _, id := range ids {
		words[len(words)-1-id/32] |= 1 << (id % 32)
	}
	var text []string
	for _, w := range words {
		text = append(text, fmt.Sprintf("%08x", w))
	}
	return strings.Join(text, ",") + "\n"
}
