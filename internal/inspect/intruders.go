package inspect

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/utils/cpuset"
)

// Intruder may run on CPUs that belong to one container alone.
type Intruder struct {
	// PID of the process, or 0 for an interrupt.
	PID int
	// IRQ is the number of an interrupt, or empty.
	IRQ string
	// Comm is the name of the thread, or what the interrupt belongs to.
	Comm string
	// CPUs of the owner that it may run on.
	CPUs cpuset.CPUSet
	// Owner has those CPUs.
	Owner string
}

// Exclusive is a container's right to CPUs.
type Exclusive struct {
	// Owner names the container for people, such as shop/database/postgres.
	Owner string
	CPUs  cpuset.CPUSet
	// Path of the container's cgroup, or the pod's. Home is the one whose processes
	// are no intruders: the pod's where its containers share the CPUs.
	Path, Home string
}

// perCPU is set on kernel threads that the kernel itself nails to a CPU
// (PF_NO_SETAFFINITY, include/linux/sched.h): they are part of every CPU.
const perCPU = 0x04000000

// Intruders lists threads and interrupts below root's proc that may run where
// only an owner should. Processes that vanish while they are read are passed
// over.
func Intruders(ctx context.Context, root string, owners []Exclusive) ([]Intruder, error) {
	proc := filepath.Join(root, "proc")
	dirs, err := os.ReadDir(proc)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // a captured node need not have it
	}
	if err != nil {
		return nil, fmt.Errorf("reading processes: %w", err)
	}
	var found []Intruder
	for _, dir := range dirs {
		pid, err := strconv.Atoi(dir.Name())
		if err != nil || pid == os.Getpid() && root == "/" { // this process only looks
			continue
		}
		if err := ctx.Err(); err != nil {
			return found, fmt.Errorf("looking for intruders: %s before process %d", reason(err), pid)
		}
		found = append(found, processIntrusions(proc, pid, owners)...)
	}
	irqs, err := interruptIntrusions(proc, owners)
	return append(found, irqs...), err
}

// processIntrusions looks at each thread, since each has an affinity of its
// own; threads alike in name and CPUs are told once.
func processIntrusions(proc string, pid int, owners []Exclusive) []Intruder {
	base := filepath.Join(proc, strconv.Itoa(pid))
	var found []Intruder
	lies := sync.OnceValue(func() []string { return cgroupsOf(base) })
	for _, tid := range entries(filepath.Join(base, "task")) {
		status, err := readFile(filepath.Join(base, "task", tid, "status"))
		if err != nil {
			continue
		}
		allowed, err := cpuset.Parse(statusField(status, "Cpus_allowed_list"))
		if err != nil || allowed.IsEmpty() {
			continue
		}
		comm := statusField(status, "Name")
		for _, o := range owners {
			cpus := allowed.Intersection(o.CPUs)
			if cpus.IsEmpty() || within(lies(), o.Home) || nailed(filepath.Join(base, "task", tid)) {
				continue
			}
			found = append(found, Intruder{PID: pid, Comm: comm, CPUs: cpus, Owner: o.Owner})
		}
	}
	slices.SortFunc(found, compareIntruders)
	return slices.CompactFunc(found, func(a, b Intruder) bool { return compareIntruders(a, b) == 0 })
}

func compareIntruders(a, b Intruder) int {
	return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.CPUs.String(), b.CPUs.String()))
}

// statusField reads a line "Name:\tvalue" of /proc/PID/status.
func statusField(status []byte, name string) string {
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte(name+":")); ok {
			return string(bytes.TrimSpace(value))
		}
	}
	return ""
}

// cgroupsOf lists the cgroups that a process lies in, one for each hierarchy.
func cgroupsOf(base string) []string {
	text, err := readFile(filepath.Join(base, "cgroup"))
	if err != nil {
		return nil
	}
	var paths []string
	for line := range strings.Lines(string(text)) {
		if parts := strings.SplitN(strings.TrimSpace(line), ":", 3); len(parts) == 3 {
			paths = append(paths, parts[2])
		}
	}
	return paths
}

// within tells whether one of the paths is a cgroup or lies below it.
func within(paths []string, cgroup string) bool {
	return cgroup != "" && slices.ContainsFunc(paths, func(p string) bool {
		return p == cgroup || strings.HasPrefix(p, cgroup+"/")
	})
}

// nailed tells whether the kernel bound the thread to its CPU for good: the
// flags are the seventh field after the name in parentheses.
func nailed(task string) bool {
	text, err := readFile(filepath.Join(task, "stat"))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&perCPU != 0
}

// interruptIntrusions reads where each interrupt may be delivered.
func interruptIntrusions(proc string, owners []Exclusive) ([]Intruder, error) {
	var found []Intruder
	names := interruptNames(proc)
	list, err := os.ReadDir(filepath.Join(proc, "irq"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // hidden from containers
	}
	if err != nil {
		return nil, fmt.Errorf("reading interrupts: %w", err)
	}
	for _, e := range list {
		text, err := readFile(filepath.Join(proc, "irq", e.Name(), "smp_affinity_list"))
		if err != nil {
			continue
		}
		allowed, err := cpuset.Parse(strings.TrimSpace(string(text)))
		if err != nil || names[e.Name()] == "" {
			continue // nobody registered it
		}
		for _, o := range owners {
			if cpus := allowed.Intersection(o.CPUs); !cpus.IsEmpty() {
				found = append(found, Intruder{IRQ: e.Name(), Comm: names[e.Name()], CPUs: cpus, Owner: o.Owner})
			}
		}
	}
	return found, nil
}

// interruptNames reads the last words of /proc/interrupts, by number.
func interruptNames(proc string) map[string]string {
	names := map[string]string{}
	text, err := readFile(filepath.Join(proc, "interrupts"))
	if err != nil {
		return names
	}
	for line := range strings.Lines(string(text)) {
		number, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		if fields := strings.Fields(rest); ok && len(fields) > 0 {
			names[number] = fields[len(fields)-1]
		}
	}
	return names
}
