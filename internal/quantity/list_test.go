package quantity

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestUnits(t *testing.T) {
	list := corev1.ResourceList{"cpu": resource.MustParse("1500100n"), "memory": resource.MustParse("1500m"), "pods": resource.MustParse("3")}
	for name, want := range map[corev1.ResourceName]int64{"cpu": 2, "memory": 2, "pods": 3, "vendor.com/gpu": 0} {
		if got := Units(name, list[name]); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

func TestAddLeavesWhatItAdds(t *testing.T) {
	one := corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("10E")}
	sum := corev1.ResourceList{}
	Add(sum, one)
	Add(sum, one)
	want := corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("20E")}
	if diff := cmp.Diff(want, sum); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(corev1.ResourceList{"cpu": resource.MustParse("1"), "memory": resource.MustParse("10E")}, one); diff != "" {
		t.Errorf("what was added, -want +got:\n%s", diff)
	}
}

func TestIsHugePages(t *testing.T) {
	for name, want := range map[corev1.ResourceName]bool{"hugepages-2Mi": true, "hugepages-1Gi": true, "hugetlb": false, "memory": false} {
		if got := IsHugePages(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
