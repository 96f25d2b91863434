package cgroups

// Controllers are those of v2 without which the kubelet takes a cgroup for
// missing, as far as the kernel has them; sorted.
//
// kubelet v1.37: cm/cgroup_v2_manager_linux.go getSupportedUnifiedControllers.
func Controllers() []string { return []string{"cpu", "cpuset", "hugetlb", "memory", "pids"} }

// Hierarchies are those of v1 in which a cgroup must stand to exist for the
// kubelet, as far as they are mounted; sorted. Systemd's named one is systemd.
//
// kubelet v1.37: cm/cgroup_v1_manager_linux.go Validate.
func Hierarchies() []string {
	return []string{"cpu", "cpuacct", "cpuset", "hugetlb", "memory", "pids", "systemd"}
}
