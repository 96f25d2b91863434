package driver

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	oc "github.com/opencontainers/cgroups"
)

func TestResourcesV1(t *testing.T) {
	pids := int64(100)
	unlimited := int64(-1)
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  *oc.Resources
	}{
		{
			name: "pod",
			files: map[string]string{
				"cpu/cpu.shares": "1024", "cpu/cpu.cfs_period_us": "100000", "cpu/cpu.cfs_quota_us": "-1",
				"memory/memory.limit_in_bytes": "1073741824", "pids/pids.max": "100",
				"cpuset/cpuset.cpus": "0-1", "cpuset/cpuset.mems": "0",
			},
			want: &oc.Resources{
				CpuShares: 1024, CpuPeriod: 100000, CpuQuota: -1, Memory: 1 << 30, PidsLimit: &pids,
				CpusetCpus: "0-1", CpusetMems: "0",
			},
		},
		{
			name:  "unlimited",
			files: map[string]string{"pids/pids.max": "max", "memory/memory.limit_in_bytes": "-1"},
			want:  &oc.Resources{PidsLimit: &unlimited, Memory: -1},
		},
		{
			name: "a huge page size once, though it has two files",
			files: map[string]string{
				"hugetlb/hugetlb.2MB.limit_in_bytes":      "4194304",
				"hugetlb/hugetlb.2MB.rsvd.limit_in_bytes": "4194304",
			},
			want: &oc.Resources{HugetlbLimit: []*oc.HugepageLimit{{Pagesize: "2MB", Limit: 4 << 20}}},
		},
		{
			name:  "unbounded huge pages",
			files: map[string]string{"hugetlb/hugetlb.1GB.limit_in_bytes": "max"},
			want:  &oc.Resources{HugetlbLimit: []*oc.HugepageLimit{{Pagesize: "1GB", Limit: math.MaxUint64}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := resourcesV1(tt.files)
			if err != nil {
				t.Fatal(err)
			}
			tt.want.SkipDevices, tt.want.SkipFreezeOnSet = true, true
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestResourcesV1Refuses(t *testing.T) {
	for key, value := range map[string]string{
		"cpu/cpu.shares":                     "-5",
		"cpu/cpu.rt_runtime_us":              "1",
		"memory/memory.limit_in_bytes":       "1Gi",
		"pids/pids.max":                      "",
		"hugetlb/hugetlb.2MB.limit_in_bytes": "-1",
		"cgroup.procs":                       "1",
	} {
		if r, err := resourcesV1(map[string]string{key: value}); err == nil {
			t.Errorf("%s=%q gave %+v, want an error", key, value, r)
		}
	}
}
