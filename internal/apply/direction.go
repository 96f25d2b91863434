package apply

import (
	"errors"
	"math"
	"os"
	"path"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
)

// lowers says whether a change takes something away from those who live in the
// cgroup: a lower limit, or a CPU or NUMA node less. Weights and protections
// only share out and lower nothing.
func lowers(c cgroups.Change) bool {
	if isCPUSet(c.File) {
		from, err := cpuset.Parse(c.From)
		if err != nil {
			return false
		}
		to, err := cpuset.Parse(c.To)
		// An empty v2 cpuset means the parent's.
		return err == nil && !to.IsEmpty() && (from.IsEmpty() || !from.IsSubsetOf(to))
	}
	if !limits(c.File) {
		return false
	}
	from, ok := amount(c.From)
	if !ok {
		return false
	}
	to, ok := amount(c.To)
	return ok && to < from
}

func isCPUSet(file string) bool {
	_, name := cgroups.SplitFile(file)
	return name == "cpuset.cpus" || name == "cpuset.mems"
}

// limits says whether a file caps an amount.
func limits(file string) bool {
	name := path.Base(file)
	return cgroups.UseFile(file) != "" || name == "cpu.max" || name == "cpu.cfs_quota_us" || name == "memory.high"
}

// amount reads a limit; max and -1 are the greatest. Of `QUOTA PERIOD` it gives
// the share of a CPU.
func amount(value string) (float64, bool) {
	fields := strings.Fields(value)
	if len(fields) == 0 || len(fields) > 2 {
		return 0, false
	}
	if fields[0] == "max" || fields[0] == "-1" {
		return math.Inf(1), true
	}
	n, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		return 0, false
	}
	if len(fields) == 2 {
		period, err := strconv.ParseFloat(fields[1], 64)
		if err != nil || period <= 0 {
			return 0, false
		}
		n /= period
	}
	return n, true
}

func notThere(err error) bool { return errors.Is(err, os.ErrNotExist) }
