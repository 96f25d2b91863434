package driver

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	oc "github.com/opencontainers/cgroups"
)

// resourcesV2 hands control files to the library as they are: it sets the
// systemd property of each that has one, then writes the file.
func resourcesV2(files map[string]string) *oc.Resources {
	return &oc.Resources{Unified: files, SkipDevices: true}
}

// resourcesV1 is the inverse of how the library renders resources into v1
// files. SkipFreezeOnSet keeps it from freezing processes, as in the kubelet.
func resourcesV1(files map[string]string) (*oc.Resources, error) {
	r := &oc.Resources{SkipDevices: true, SkipFreezeOnSet: true}
	for key, value := range files {
		if err := setV1(r, key, value); err != nil {
			return nil, fmt.Errorf("writing %q to %s: %w", value, key, err)
		}
	}
	return r, nil
}

func setV1(r *oc.Resources, key, value string) error {
	number := func() (int64, error) {
		if value == "max" {
			return -1, nil
		}
		return strconv.ParseInt(value, 10, 64)
	}
	var err error
	switch key {
	case "cpu/cpu.shares":
		r.CpuShares, err = strconv.ParseUint(value, 10, 64)
	case "cpu/cpu.cfs_period_us":
		r.CpuPeriod, err = strconv.ParseUint(value, 10, 64)
	case "cpu/cpu.cfs_quota_us":
		r.CpuQuota, err = number()
	case "memory/memory.limit_in_bytes":
		r.Memory, err = number()
	case "memory/memory.memsw.limit_in_bytes":
		r.MemorySwap, err = number()
	case "cpuset/cpuset.cpus":
		r.CpusetCpus = value
	case "cpuset/cpuset.mems":
		r.CpusetMems = value
	case "pids/pids.max":
		var limit int64
		limit, err = number()
		r.PidsLimit = &limit
	default:
		return setV1Hugetlb(r, key, value)
	}
	return err
}

// setV1Hugetlb takes hugetlb.<size>.limit_in_bytes. The library writes the
// reservation limit of a size along with it, so that one is done as well.
func setV1Hugetlb(r *oc.Resources, key, value string) error {
	size, ok := strings.CutPrefix(key, "hugetlb/hugetlb.")
	if !ok {
		return fmt.Errorf("kqos writes no such file")
	}
	size, ok = strings.CutSuffix(size, ".limit_in_bytes")
	if !ok {
		return fmt.Errorf("kqos writes no such file")
	}
	size = strings.TrimSuffix(size, ".rsvd")
	limit := uint64(math.MaxUint64)
	if value != "max" {
		var err error
		if limit, err = strconv.ParseUint(value, 10, 64); err != nil {
			return err
		}
	}
	for _, have := range r.HugetlbLimit {
		if have.Pagesize == size {
			have.Limit = limit
			return nil
		}
	}
	r.HugetlbLimit = append(r.HugetlbLimit, &oc.HugepageLimit{Pagesize: size, Limit: limit})
	return nil
}
