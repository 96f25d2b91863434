package inspect

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
)

func write(t testing.TB, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// process writes one thread of a process.
func process(t *testing.T, root string, pid, tid int, comm, cpus, cgroup string, flags uint64) {
	t.Helper()
	base := fmt.Sprintf("proc/%d/", pid)
	task := base + fmt.Sprintf("task/%d/", tid)
	write(t, root, map[string]string{
		base + "cgroup": "0::" + cgroup + "\n",
		task + "status": "Name:\t" + comm + "\nPid:\t1\nCpus_allowed_list:\t" + cpus + "\n",
		task + "stat":   fmt.Sprintf("%d (%s) a)) S 2 0 0 0 -1 %d 0 0", tid, comm, flags),
	})
}

func TestIntruders(t *testing.T) {
	root := t.TempDir()
	process(t, root, 1, 1, "systemd", "0-7", "/init.scope", 0)
	process(t, root, 10, 10, "postgres", "2-3", "/kubepods/pod1/c", 0)
	process(t, root, 10, 11, "postgres", "2", "/kubepods/pod1/c", 0)
	process(t, root, 20, 20, "ksoftirqd/2", "2", "/", perCPU)
	process(t, root, 30, 30, "agent", "0-1", "/system.slice", 0)
	process(t, root, 30, 31, "worker", "3", "/system.slice", 0)
	process(t, root, 30, 32, "worker", "3", "/system.slice", 0)
	write(t, root, map[string]string{
		"proc/irq/9/smp_affinity_list":  "0-1\n",
		"proc/irq/27/smp_affinity_list": "0-7\n",
		"proc/irq/28/smp_affinity_list": "0-7\n",
		"proc/interrupts":               "   CPU0 CPU1\n 9: 1 2 IO-APIC 9-fasteoi acpi\n27: 1 2 PCI-MSI eth0-rx-1\n",
		"proc/40/nothing":               "",
	})
	owner := Exclusive{Owner: "shop/database/postgres", CPUs: cpuset.New(2, 3), Path: "/kubepods/pod1/c", Home: "/kubepods/pod1/c"}
	got, err := Intruders(t.Context(), root, []Exclusive{owner})
	if err != nil {
		t.Fatal(err)
	}
	want := []Intruder{
		{PID: 1, Comm: "systemd", CPUs: cpuset.New(2, 3), Owner: owner.Owner},
		{PID: 30, Comm: "worker", CPUs: cpuset.New(3), Owner: owner.Owner},
		{IRQ: "27", Comm: "eth0-rx-1", CPUs: cpuset.New(2, 3), Owner: owner.Owner},
	}
	same := cmp.Comparer(func(a, b cpuset.CPUSet) bool { return a.Equals(b) })
	if d := cmp.Diff(want, got, same); d != "" {
		t.Error("-want +got:\n" + d)
	}
}
