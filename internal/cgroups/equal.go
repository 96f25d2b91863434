package cgroups

import (
	"path"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"
)

// Equal says whether a control file that reads have is as if want had been
// written to it: the kernel keeps memory in whole pages, huge pages in whole
// huge pages, and prints sets and limits in its own form. file is a key of
// Cgroup.Files. The host's page size may be any that Linux has; Live.Holds knows
// it better.
func Equal(file, want, have string) bool { return equal(file, want, have, 0) }

func equal(file, want, have string, pageSize uint64) bool {
	want, have = strings.TrimSpace(want), strings.TrimSpace(have)
	if want == have {
		return true
	}
	name := path.Base(file)
	switch {
	case strings.HasPrefix(name, "cpuset."):
		return equalSets(want, have)
	case name == "cpu.max":
		return equalQuotas(want, have)
	case name == memoryOOMGroup: // a switch, which no page size rounds
		return false
	case strings.HasPrefix(name, "memory.") || strings.HasPrefix(name, "hugetlb."):
		return equalAmounts(name, want, have, pageSize)
	case name == "pids.max":
		return unlimited(want) && unlimited(have)
	}
	return false
}

func equalSets(want, have string) bool {
	w, err := cpuset.Parse(want)
	if err != nil {
		return false
	}
	h, err := cpuset.Parse(have)
	return err == nil && w.Equals(h)
}

// equalQuotas compares `QUOTA PERIOD`; a period left out is the kernel's
// default of 100 ms.
func equalQuotas(want, have string) bool {
	full := func(s string) string {
		f := strings.Fields(s)
		if len(f) == 1 {
			f = append(f, "100000")
		}
		return strings.Join(f, " ")
	}
	return full(want) == full(have)
}

// equalAmounts compares bytes as the kernel keeps them.
//
// kernel: mm/page_counter.c page_counter_memparse drops the part of a page;
// mm/hugetlb_cgroup.c hugetlb_cgroup_write drops the part of a huge page.
func equalAmounts(name, want, have string, pageSize uint64) bool {
	if unlimited(want) || unlimited(have) {
		return unlimited(want) && unlimited(have)
	}
	w, err := strconv.ParseUint(want, 10, 64)
	if err != nil {
		return false
	}
	h, err := strconv.ParseUint(have, 10, 64)
	if err != nil {
		return false
	}
	units := []uint64{pageSize}
	if pageSize == 0 { // those that Linux builds have on amd64 and arm64
		units = []uint64{4 << 10, 16 << 10, 64 << 10}
	}
	if size, ok := strings.CutPrefix(name, "hugetlb."); ok {
		size, _, _ = strings.Cut(size, ".")
		units = []uint64{hugePageBytes(size)}
	}
	for _, unit := range units {
		if unit > 0 && h == w-w%unit {
			return true
		}
	}
	return false
}

// hugePageBytes reads a size as the kernel names hugetlb files, such as 2MB; 0
// when it is none.
func hugePageBytes(size string) uint64 {
	for suffix, factor := range map[string]uint64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30} {
		if n, err := strconv.ParseUint(strings.TrimSuffix(size, suffix), 10, 32); err == nil && strings.HasSuffix(size, suffix) {
			return n * factor
		}
	}
	return 0
}

// unlimited says whether a limit is none: max, -1, or what v1 reads back for
// it, the greatest number of whole (huge) pages in an int64.
func unlimited(value string) bool {
	if value == "max" || value == "-1" {
		return true
	}
	n, err := strconv.ParseUint(value, 10, 64)
	// The greatest huge page is 16 GiB; no limit within one of 2^63 is meant as one.
	return err == nil && n >= 1<<63-16<<30
}
