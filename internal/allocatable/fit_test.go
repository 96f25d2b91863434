package allocatable_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/allocatable"
)

func TestRoom(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse(memory)}
	}
	capacity := list("4", "8Gi")
	capacity["pods"] = resource.MustParse("4")
	room := (&allocatable.Result{Allocatable: capacity}).Room()
	for _, step := range []struct {
		requests        corev1.ResourceList
		reason, message string
	}{
		{list("3", "1Gi"), "", ""},
		{list("1500m", "1Gi"), "OutOfcpu", "Node didn't have enough resource: cpu, requested: 1500, used: 3000, capacity: 4000"},
		{list("1", "8Gi"), "OutOfmemory", "Node didn't have enough resource: memory, requested: 8589934592, used: 1073741824, capacity: 8589934592"},
		{list("1", "7Gi"), "", ""},
		{list("0", "0"), "", ""}, // nothing is left, and nothing asked for
		{corev1.ResourceList{"ephemeral-storage": resource.MustParse("1Gi")}, "", ""}, // the capacity is unknown
		{nil, "OutOfpods", "Node didn't have enough resource: pods, requested: 1, used: 4, capacity: 4"},
	} {
		reason, message := "", ""
		if short := room.Take(step.requests); short != nil {
			reason, message = short.Reason(), short.Message()
		}
		if reason != step.reason || message != step.message {
			t.Errorf("taking %v: got %q %q, want %q %q", step.requests, reason, message, step.reason, step.message)
		}
	}
}

// What is not named is left to others, and what is named comes after the three.
func TestShortOfTheRest(t *testing.T) {
	of := func(memory, pages string) corev1.ResourceList {
		return corev1.ResourceList{"memory": resource.MustParse(memory), "hugepages-2Mi": resource.MustParse(pages)}
	}
	for _, tt := range []struct {
		requests corev1.ResourceList
		rest     []corev1.ResourceName
		want     corev1.ResourceName
	}{
		{of("1Gi", "8Mi"), nil, ""},
		{of("1Gi", "8Mi"), []corev1.ResourceName{"hugepages-1Gi", "hugepages-2Mi"}, "hugepages-2Mi"},
		{of("1Gi", "4Mi"), []corev1.ResourceName{"hugepages-2Mi"}, ""},
		{of("9Gi", "8Mi"), []corev1.ResourceName{"hugepages-2Mi"}, "memory"},
	} {
		got := corev1.ResourceName("")
		if short := allocatable.Short(of("8Gi", "6Mi"), tt.requests, of("0", "2Mi"), 0, tt.rest...); short != nil {
			got = short.Resource
		}
		if got != tt.want {
			t.Errorf("%v, asking for %v too: short of %q, want %q", tt.requests, tt.rest, got, tt.want)
		}
	}
}
