package cgroups

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The cgroup drivers by the names that the kubelet gives them. Any other text
// acts as cgroupfs.
const (
	Cgroupfs = "cgroupfs"
	Systemd  = "systemd"
)

const (
	sliceSuffix = ".slice"
	rootSlice   = "-.slice"
	podPrefix   = "pod"
)

// Name is a cgroup's internal name: its components from the root down, alike
// under both drivers. The empty name is the root.
type Name []string

// ParseName splits a path in cgroupfs form. The kubelet reads cgroupRoot so,
// whatever the driver: "/kube.slice" under systemd means kube.slice.slice.
//
// kubelet v1.37: cm/cgroup_manager_linux.go ParseCgroupfsToCgroupName.
func ParseName(text string) Name {
	text = strings.TrimPrefix(text, "/")
	if text == "" {
		return Name{}
	}
	return strings.Split(text, "/")
}

// ParseDriverName reads a path in the driver's own form, as the kubelet reads
// systemReservedCgroup and kubeReservedCgroup. Under systemd only the base name
// counts: "/a/b/runtime-kube.slice" is [runtime kube].
//
// kubelet v1.37: cm/cgroup_manager_linux.go ParseSystemdToCgroupName.
func ParseDriverName(driver, text string) Name {
	if driver != Systemd {
		return ParseName(text)
	}
	parts := strings.Split(strings.TrimSuffix(path.Base(text), sliceSuffix), "-")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], "_", "-")
	}
	return parts
}

// Child appends components. It fails where the kubelet panics: on one with a
// slash, which would be a folder more, or an underscore, which could not be
// told from a dash under systemd.
//
// kubelet v1.37: cm/cgroup_manager_linux.go NewCgroupName.
func (n Name) Child(components ...string) (Name, error) {
	for _, c := range components {
		if strings.ContainsAny(c, "/_") {
			return nil, fmt.Errorf("invalid character in component [%q] of CgroupName", c)
		}
	}
	return slices.Concat(n, components), nil
}

// Path is the cgroup's folder below the cgroup mount. Under systemd it fails,
// where the kubelet panics, on an empty component.
//
// kubelet v1.37: cm/cgroup_manager_linux.go ToSystemd, ToCgroupfs.
func (n Name) Path(driver string) (string, error) {
	if driver != Systemd {
		return "/" + path.Join(n...), nil
	}
	if len(n) == 0 || len(n) == 1 && n[0] == "" {
		return "/", nil
	}
	escaped := slices.Clone(n)
	for i := range escaped {
		escaped[i] = strings.ReplaceAll(escaped[i], "-", "_")
	}
	expanded, err := expandSlice(strings.Join(escaped, "-") + sliceSuffix)
	if err != nil {
		return "", fmt.Errorf("error converting cgroup name [%v] to systemd format: %w", []string(n), err)
	}
	return expanded, nil
}

// Unit is the systemd slice that holds the cgroup of a path, and wants the
// slice above it, "-.slice" at the top: slices get Wants=, not Slice=. The root
// has no unit.
//
// kubelet v1.37: cm/cgroup_manager_linux.go libctCgroupConfig.
func Unit(systemdPath string) (unit, wants string) {
	dir, unit := path.Split(systemdPath)
	if dir == "/" {
		return unit, rootSlice
	}
	return unit, path.Base(dir)
}

// expandSlice gives the folder of a slice: a-b.slice lies in /a.slice.
//
// opencontainers/cgroups v0.1.0: systemd/common.go ExpandSlice.
func expandSlice(slice string) (string, error) {
	base, ok := strings.CutSuffix(slice, sliceSuffix)
	if !ok || strings.Contains(slice, "/") {
		return "", fmt.Errorf("invalid slice name: %s", slice)
	}
	if base == "-" {
		return "/", nil
	}
	var folder strings.Builder
	prefix := ""
	for part := range strings.SplitSeq(base, "-") {
		if part == "" {
			return "", fmt.Errorf("invalid slice name: %s", slice)
		}
		folder.WriteString("/" + prefix + part + sliceSuffix)
		prefix += part + "-"
	}
	return folder.String(), nil
}

// Root is the cgroup that holds the pods: kubepods below cgroupRoot, or
// cgroupRoot itself without cgroupsPerQOS.
//
// kubelet v1.37: cm/helpers_linux.go NodeAllocatableRoot.
func Root(cgroupRoot string, cgroupsPerQOS bool) Name {
	root := ParseName(cgroupRoot)
	if cgroupsPerQOS {
		root = append(root, "kubepods")
	}
	return root
}

// Tier is the cgroup that holds the pods of a class. No guaranteed one exists:
// those pods lie in the root of pods itself.
//
// kubelet v1.37: cm/qos_container_manager_linux.go Start.
func Tier(root Name, class corev1.PodQOSClass) Name {
	switch class {
	case corev1.PodQOSBurstable:
		return slices.Concat(root, Name{"burstable"})
	case corev1.PodQOSBestEffort:
		return slices.Concat(root, Name{"besteffort"})
	}
	return slices.Clone(root)
}

// PodName is the pod's own cgroup. It fails where the kubelet panics: on a UID
// with a slash or an underscore.
//
// kubelet v1.37: cm/pod_container_manager_linux.go GetPodContainerName.
func PodName(root Name, class corev1.PodQOSClass, uid string) (Name, error) {
	return Tier(root, class).Child(podPrefix + uid)
}

// IsPod tells whether the kubelet takes the name for a pod's cgroup below root,
// and gives the pod's UID. It only counts components, so that any "pod…" as
// deep as pods lie passes.
//
// kubelet v1.37: cm/pod_container_manager_linux.go IsPodCgroup.
func IsPod(root, name Name) (uid string, ok bool) {
	if depth := len(name) - len(root); depth != 1 && depth != 2 {
		return "", false
	}
	uid, ok = strings.CutPrefix(name[len(name)-1], podPrefix)
	if !ok || strings.Contains(uid, podPrefix) {
		return "", false
	}
	return uid, true
}
