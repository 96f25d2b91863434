package inspect

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/machine"
)

// Alignment says how a container's own CPUs and memory lie on the machine.
type Alignment struct {
	// SharedCores lists the container's CPUs whose core siblings somebody else
	// may use.
	SharedCores cpuset.CPUSet
	// LLCs, NUMA and Sockets are the ids of the caches, nodes and sockets that the
	// CPUs lie on.
	LLCs, NUMA, Sockets []int
	// Memory is the bytes that the container's processes have on each NUMA node;
	// nil where /proc does not tell.
	Memory map[int]int64
}

// align compares a container's CPUs with the machine. Offline siblings do not
// count.
func align(m *machine.Machine, cpus cpuset.CPUSet) Alignment {
	var a Alignment
	var shared []int
	for _, core := range m.Cores() {
		var own, others []int
		for _, c := range core {
			switch {
			case cpus.Contains(c.ID):
				own = append(own, c.ID)
				a.LLCs = append(a.LLCs, c.LLC)
				a.NUMA = append(a.NUMA, c.NUMA)
				a.Sockets = append(a.Sockets, c.Socket)
			case c.Online:
				others = append(others, c.ID)
			}
		}
		if len(others) > 0 {
			shared = append(shared, own...)
		}
	}
	a.SharedCores = cpuset.New(shared...)
	for _, ids := range []*[]int{&a.LLCs, &a.NUMA, &a.Sockets} {
		slices.Sort(*ids)
		*ids = slices.Compact(*ids)
	}
	return a
}

// memoryPlaces sums where the pages of processes lie, by NUMA node, in bytes.
// Pages that processes share count once for each. A process that vanished, or
// that may not be read, is passed over; if none can be read, the error says why.
func memoryPlaces(root string, pids []int) (map[int]int64, error) {
	places := map[int]int64{}
	var failed []error
	read := 0
	for _, pid := range pids {
		f, err := os.Open(filepath.Join(root, "proc", strconv.Itoa(pid), "numa_maps"))
		if err == nil {
			err = addPlaces(places, bufio.NewScanner(f))
			f.Close()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("reading where the memory of process %d lies: %w", pid, err))
			continue
		}
		read++
	}
	if read == 0 {
		return nil, errors.Join(failed...)
	}
	return places, nil
}

// addPlaces reads lines such as
// "7f00 default anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4".
func addPlaces(places map[int]int64, lines *bufio.Scanner) error {
	lines.Buffer(nil, 1<<20) // a mapped file's name can be long
	for lines.Scan() {
		pages := map[int]int64{}
		size := int64(4)
		for field := range strings.FieldsSeq(lines.Text()) {
			key, value, _ := strings.Cut(field, "=")
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				continue
			}
			if node, ok := strings.CutPrefix(key, "N"); ok {
				if id, err := strconv.Atoi(node); err == nil {
					pages[id] += n
				}
			}
			if key == "kernelpagesize_kB" {
				size = n
			}
		}
		for node, n := range pages {
			places[node] += n * size << 10
		}
	}
	return lines.Err()
}
