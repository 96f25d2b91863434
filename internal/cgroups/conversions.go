package cgroups

import (
	"math"
)

// Bounds of cpu.shares and cpu.weight, and what a CPU counts.
const (
	// MinShares and maxShares bound cpu.shares.
	//
	// kernel: kernel/sched/sched.h MIN_SHARES, MAX_SHARES.
	MinShares = 2
	maxShares = 1 << 18
	// maxWeight is the largest cpu.weight; 1 is the least.
	maxWeight = 10000
	// defaultPeriod is the CFS period in µs of a kubelet, and of the kernel.
	defaultPeriod = 100_000
	// minQuota is the least CFS quota in µs that the kernel takes.
	minQuota     = 1000
	sharesPerCPU = 1024
	millisPerCPU = 1000
)

// MilliCPUToShares converts a cpu request to cpu.shares, 2 to 262144. The
// product overflows above 2^53 millicores, as the kubelet's does.
//
// kubelet v1.37: cm/helpers_linux.go MilliCPUToShares.
func MilliCPUToShares(milli int64) uint64 {
	return uint64(min(max(milli*sharesPerCPU/millisPerCPU, MinShares), maxShares))
}

// MilliCPUToQuota converts a cpu limit to a CFS quota in µs for a period in µs:
// 0 for no limit, else at least 1000. The product may overflow, as the
// kubelet's does.
//
// kubelet v1.37: cm/helpers_linux.go MilliCPUToQuota.
func MilliCPUToQuota(milli, period int64) int64 {
	if milli == 0 {
		return 0
	}
	return max(milli*period/millisPerCPU, minQuota)
}

// SharesToWeight converts cpu.shares to the cpu.weight of a cgroup that the
// kubelet writes: linear, so that 1024 gives 39.
//
// kubelet v1.37: cm/cgroup_manager_linux.go getCPUWeight.
func SharesToWeight(shares uint64) uint64 {
	if shares >= maxShares {
		return maxWeight
	}
	return 1 + (shares-MinShares)*(maxWeight-1)/(maxShares-MinShares)
}

// SharesToWeightRuntime converts cpu.shares to the cpu.weight of a container,
// which the runtime writes: a curve on which 1024 gives 100. 0 means unset.
// runc before 1.3.2 used [SharesToWeight].
//
// opencontainers/cgroups v0.1.0: utils.go ConvertCPUSharesToCgroupV2Value.
func SharesToWeightRuntime(shares uint64) uint64 {
	switch {
	case shares == 0:
		return 0
	case shares <= MinShares:
		return 1
	case shares >= maxShares:
		return maxWeight
	}
	l := math.Log2(float64(shares))
	return uint64(math.Ceil(math.Pow(10, (l*l+125*l)/612.0-7.0/34.0)))
}
