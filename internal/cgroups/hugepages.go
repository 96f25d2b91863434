package cgroups

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/quantity"
)

// unlimitedHugePages is the limit that lifts one: the kubelet writes 2^62, which
// the kernel keeps as it is a whole number of pages of every size.
//
// kubelet v1.37: cm/qos_container_manager_linux.go setHugePagesUnbounded.
const unlimitedHugePages = 1 << 62

// hugePageLimits reads the limits out of hugepages-* resources, by page size in
// bytes. Two names of one size, 2Mi and 2048Ki, add up; a name that is no
// quantity counts as size 0.
//
// kubelet v1.37: cm/helpers_linux.go HugePageLimits.
func hugePageLimits(list corev1.ResourceList, why string) map[int64]Value[int64] {
	limits := map[int64]Value[int64]{}
	for name, amount := range list {
		text, ok := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
		if !ok {
			continue
		}
		size, _ := quantity.Parse(text)
		sum := limits[size.Value()].Is + amount.Value()
		limits[size.Value()] = Value[int64]{Is: sum, Why: why + " of " + string(name)}
	}
	return limits
}

// PageSizeName is a huge page size in bytes as cgroup files name it, such as
// 2MB. A size that is no small number of a unit has none, and the kubelet
// passes over it.
//
// kubelet v1.37: apis/core/v1/helper/helpers.go HugePageUnitSizeFromByteSize.
func PageSizeName(size int64) (name string, ok bool) {
	units := []string{"B", "KB", "MB", "GB", "TB", "PB"}
	i, last := 0, len(units)-1
	for size%1024 == 0 && i < last {
		size /= 1024
		i++
	}
	if size > 1024 && i < last {
		return "", false
	}
	return strconv.FormatInt(size, 10) + units[i], true
}

// PageSizeNames converts sizes as Kubernetes names them, such as 2Mi, to those
// of cgroup files, such as 2MB.
func PageSizeNames(sizes []string) ([]string, error) {
	names := make([]string, 0, len(sizes))
	for _, s := range sizes {
		size, err := quantity.Parse(s)
		if err != nil {
			return nil, fmt.Errorf("reading huge page size %q: %w", s, err)
		}
		name, ok := PageSizeName(size.Value())
		if !ok {
			return nil, fmt.Errorf("reading huge page size %q: not a whole number of a unit, write 2Mi or 1Gi", s)
		}
		names = append(names, name)
	}
	return names, nil
}
