package fleet

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/quantity"
)

// amounts are whole numbers of resources as schedulers count them: millicores of
// cpu, and bytes or pieces of all else.
type amounts map[corev1.ResourceName]int64

// amountsOf reads a list.
func amountsOf(list corev1.ResourceList) amounts {
	if len(list) == 0 {
		return nil
	}
	a := make(amounts, len(list))
	for name, q := range list {
		a[commonName(name)] = quantity.Units(name, q)
	}
	return a
}

// commonName lets the names that every object has share their text.
func commonName(name corev1.ResourceName) corev1.ResourceName {
	switch name {
	case corev1.ResourceCPU:
		return corev1.ResourceCPU
	case corev1.ResourceMemory:
		return corev1.ResourceMemory
	case corev1.ResourceEphemeralStorage:
		return corev1.ResourceEphemeralStorage
	case corev1.ResourcePods:
		return corev1.ResourcePods
	}
	return name
}

// plus adds b and returns the sum, which may be a itself.
func (a amounts) plus(b amounts) amounts {
	if len(b) == 0 {
		return a
	}
	if a == nil {
		a = make(amounts, len(b))
	}
	for name, n := range b {
		a[name] = add(a[name], n)
	}
	return a
}

// minus takes b from what a has, in place; what a does not have stays out.
func (a amounts) minus(b amounts) {
	for name, n := range b {
		if have, ok := a[name]; ok {
			a[name] = have - n
		}
	}
}

// add ends at the largest number instead of wrapping.
func add(a, b int64) int64 {
	if b > 0 && a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// list gives the amounts as quantities.
func (a amounts) list() corev1.ResourceList {
	list := corev1.ResourceList{}
	for name, n := range a {
		list[name] = *quantityOf(name, n)
	}
	return list
}

func quantityOf(name corev1.ResourceName, n int64) *resource.Quantity {
	switch {
	case name == corev1.ResourceCPU:
		return resource.NewMilliQuantity(n, resource.DecimalSI)
	case name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || quantity.IsHugePages(name):
		return resource.NewQuantity(n, resource.BinarySI)
	}
	return resource.NewQuantity(n, resource.DecimalSI)
}
