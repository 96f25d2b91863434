package driver

import (
	"strings"
	"testing"
)

func TestUnits(t *testing.T) {
	slice := sliceUnit("runtime-kube.slice", "0-7", 2)
	for _, want := range []string{unitMark, "Before=slices.target kubelet.service\n", "[Slice]\n", "CPUWeight=100\n", "AllowedCPUs=0-7\n"} {
		if !strings.Contains(slice, want) {
			t.Errorf("slice unit lacks %q:\n%s", want, slice)
		}
	}
	if v1 := sliceUnit("kube.slice", "0-7", 1); strings.Contains(v1, "CPUWeight") {
		t.Errorf("on v1 CPUWeight would win over CPUShares:\n%s", v1)
	}
	service := handingService("runtime-kube.slice", "/runtime.slice/runtime-kube.slice", 2)
	for _, want := range []string{
		unitMark, "Requires=runtime-kube.slice\n", "Before=kubelet.service\n",
		"for p in /sys/fs/cgroup /sys/fs/cgroup/runtime.slice; do", "hugetlb", "WantedBy=multi-user.target\n",
	} {
		if !strings.Contains(service, want) {
			t.Errorf("service lacks %q:\n%s", want, service)
		}
	}
	v1 := handingService("kube.slice", "/kube.slice", 1)
	if !strings.Contains(v1, "mkdir -p $$c/kube.slice") || strings.Contains(v1, "subtree_control") {
		t.Errorf("v1 service:\n%s", v1)
	}
	if got := handingUnit("kube.slice"); got != "kqos-kube.service" {
		t.Errorf("handingUnit = %s", got)
	}
}
