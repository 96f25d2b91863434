package cgroups

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
)

func TestEnforced(t *testing.T) {
	cpus := cpuset.New(0, 1)
	for _, tt := range []struct {
		name, driver, path string
		e                  allocatable.Enforced
		files              map[string]string
	}{
		{
			name: "kubepods", driver: Cgroupfs, path: "/kubepods",
			e: allocatable.Enforced{
				Group: allocatable.GroupKubepods, Cgroup: "/", CPUs: &cpus, ResetProtection: true,
				Resources: corev1.ResourceList{
					"cpu": resource.MustParse("2"), "memory": resource.MustParse("1Gi"),
					"pid": resource.MustParse("0"), "hugepages-2Mi": resource.MustParse("4Mi"),
				},
			},
			files: map[string]string{
				"memory.max": "1073741824", "cpu.weight": "79", "pids.max": "1", "cpuset.cpus": "0-1",
				"hugetlb.2MB.max": "4194304", "hugetlb.2MB.rsvd.max": "4194304", "hugetlb.1GB.max": "0", "hugetlb.1GB.rsvd.max": "0",
				"memory.min": "0", "memory.low": "0",
			},
		},
		{
			name: "reserved under systemd", driver: Systemd, path: "/system.slice",
			e: allocatable.Enforced{
				Group: allocatable.GroupSystemReserved, Cgroup: "/a/system", ProtectMemory: true,
				Resources: corev1.ResourceList{"memory": resource.MustParse("1Gi")},
			},
			files: map[string]string{
				"memory.max": "1073741824", "memory.min": "1073741824",
				"hugetlb.2MB.max": "0", "hugetlb.2MB.rsvd.max": "0", "hugetlb.1GB.max": "0", "hugetlb.1GB.rsvd.max": "0",
			},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path, err := EnforcedName(tt.e, true, tt.driver).Path(tt.driver)
			if err != nil || path != tt.path {
				t.Errorf("path %q, error %v, want %q", path, err, tt.path)
			}
			got := map[string]string{}
			for _, f := range EnforcedSettings(tt.e).Render(Platform{Driver: tt.driver, Version: 2, PageSizes: []string{"2MB", "1GB"}}).Files {
				got[f.Name] = f.Is
			}
			if diff := cmp.Diff(tt.files, got); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
		})
	}
}
