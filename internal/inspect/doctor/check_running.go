package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/quantity"
)

// Versions below which something that the kubelet asks for is passed over.
const (
	// AllowedCPUs, by which systemd keeps the cpuset of a slice.
	systemdAllowedCPUs = 244
	// CPUQuotaPeriodUSec, without which cpuCFSQuotaPeriod is lost on a reload.
	systemdQuotaPeriod = 242
)

const noHost = "no host is judged, only the machine that was named"

// throttledShare is the share of quota periods, in percent, from which a
// container that had to wait is told; below it a burst now and then is normal.
const throttledShare = 25

func runningChecks() []Check {
	return []Check{
		{
			ID: "versions", Title: "kernel and systemd know what the kubelet asks of them",
			Explain: `Properties that systemd does not know are passed over, so their values live in
files only and the next daemon-reload may undo them: CPUQuotaPeriodUSec needs 242,
AllowedCPUs 244. Kubernetes asks for kernel 5.8 or later on cgroup v2; memory-backed
volumes stay out of swap from 6.3 on.
opencontainers/cgroups v0.1.0: systemd/common.go, systemd/v2.go.`,
			run: checkVersions,
		},
		{
			ID: "psi", Title: "pressure is told",
			Explain: `The kubelet reports pressure stall information of node, pods and containers on
cgroup v2 (KubeletPSI, locked on since 1.36). Some distributions build it in and
leave it off until the kernel parameter psi=1.`,
			run: checkPSI,
		},
		{
			ID: "daemon-reload", Title: "a daemon-reload of systemd does not undo limits",
			Explain: `On daemon-reload systemd writes again what it knows as properties of its units and
takes controllers away that no unit asks for. What was written into files alone,
as the cgroupfs driver does, is lost below slices that systemd owns; hugetlb has
no property at all. Where systemd answers, each file is held against the property
that it would be written from; a delegated unit whose cpuset stands in its file
only loses it.`,
			run: checkReload,
		},
		{
			ID: "memory-high", Title: "no container is held back at memory.high",
			Explain: `With memory QoS and memoryThrottlingFactor the kubelet sets memory.high between
request and limit. A container at it is slowed down by reclaim long before its
limit, without any OOM kill to see.
Kubelet v1.37: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go.`,
			run: checkMemoryHigh,
		},
		{
			ID: "throttling", Title: "no container waits for its CPU quota most of the time",
			Explain: `A CPU limit makes a quota for each period of 100 ms. A container with many threads
uses it up early and waits, though its average use is low. Containers with
exclusive CPUs have no quota since 1.33.`,
			run: checkThrottling,
		},
		{
			ID: "leaks", Title: "every pod cgroup has a pod",
			Explain: `Cgroups of pods that have ended stay when a process in them can't be killed, or
when they stand in a v1 hierarchy that the kubelet does not know. The kubelet tries
again every two seconds.
Kubelet v1.37: cm/pod_container_manager_linux.go Destroy.`,
			run: checkLeaks,
		},
	}
}

func checkVersions(f *Facts) Result {
	if f.Host == nil || f.Host.Kernel == "" {
		return skip(noHost)
	}
	evidence := []string{"kernel " + f.Host.Kernel}
	if f.Host.Systemd > 0 {
		evidence = append(evidence, fmt.Sprintf("systemd %d", f.Host.Systemd))
	}
	if f.Host.OS != "" {
		evidence = append(evidence, f.Host.OS)
	}
	var found []Result
	older := func(major, minor int, text string) {
		if kernelBefore(f.Host.Kernel, major, minor) {
			found = append(found, Result{Status: Warn, Message: fmt.Sprintf("kernel %s is before %d.%d: %s", f.Host.Kernel, major, minor, text), Fix: fmt.Sprintf("a kernel of %d.%d or later", major, minor)})
		}
	}
	if f.CgroupVersion == 2 {
		older(5, 8, "Kubernetes does not support cgroup v2 on it")
	}
	if on, _ := f.swapOn(); on {
		older(6, 3, "memory-backed volumes of pods, secrets too, may be swapped to disk")
	}
	if f.Driver == cgroups.Systemd && f.Host.Systemd > 0 && f.Host.Systemd < systemdAllowedCPUs {
		lost := "AllowedCPUs"
		if f.Host.Systemd < systemdQuotaPeriod {
			lost += " and CPUQuotaPeriodUSec"
		}
		found = append(found, Result{
			Status: Warn, Message: fmt.Sprintf("systemd %d does not know %s: those values stand in files only", f.Host.Systemd, lost),
			Fix: fmt.Sprintf("systemd %d or later", systemdAllowedCPUs),
		})
	}
	r := worst(ok("kernel and systemd are recent enough"), found)
	r.Evidence = append(r.Evidence, evidence...)
	return r
}

// kernelBefore compares a release such as 6.1.0-57-cloud; one that can't be read
// is before nothing.
func kernelBefore(release string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(release, "%d.%d", &a, &b); n != 2 {
		return false
	}
	return cmp.Or(cmp.Compare(a, major), cmp.Compare(b, minor)) < 0
}

func checkPSI(f *Facts) Result {
	switch {
	case f.Host == nil || !f.Host.PSIKnown:
		return skip(noHost)
	case f.Host.PSI && f.CgroupVersion == 2:
		return ok("the kernel tells pressure, and the kubelet reports it")
	case f.Host.PSI:
		return Result{Status: Warn, Message: "the kernel tells pressure for the node only: on cgroup v1 pods have none", Fix: "boot with cgroup v2"}
	}
	return Result{
		Status: Warn, Message: "the kernel tells no pressure: /proc/pressure is not there",
		Fix: "boot with the kernel parameter psi=1, on a kernel with CONFIG_PSI", Evidence: []string{"/proc/cmdline: " + strings.Join(f.Host.Cmdline, " ")},
	}
}

func checkReload(f *Facts) Result {
	switch {
	case f.Host == nil:
		return skip(noHost)
	case !f.Host.SystemdRuns:
		return ok("systemd does not run here")
	}
	found := f.reloadResults()
	switch {
	case f.Driver == cgroups.Systemd && f.ReloadsKnown:
		return worst(ok("systemd holds what the files of the kubelet's cgroups read; hugetlb limits stand in files, which it does not touch"), found)
	case f.Driver == cgroups.Systemd:
		return worst(ok("limits are properties of systemd's units; hugetlb limits stand in files, which systemd does not touch"), found)
	}
	for _, g := range f.reservedGroups() {
		if strings.HasSuffix(g.cgroup, ".slice") {
			found = append(found, Result{
				Status: Warn, Message: fmt.Sprintf("%s belongs to systemd, and the cgroupfs driver writes its limits into files only: a daemon-reload undoes them until the kubelet starts again", g.cgroup),
				Fix: setDriver(cgroups.Systemd),
			})
		}
	}
	return worst(Result{
		Status: Warn, Message: "systemd runs as PID 1 and the driver is cgroupfs: two writers share one tree, and a daemon-reload may take controllers away from kubepods",
		Fix: setDriver(cgroups.Systemd),
	}, found)
}

func checkMemoryHigh(f *Facts) Result {
	const fix = "raise the container's memory request, or take memoryThrottlingFactor out of the configuration"
	return f.eachGroup(ok("no cgroup of a pod is at its memory.high"), fix, func(at string, g *Group) string {
		// Reclaim sets in a little below the mark.
		if g.High == nil || g.Memory == nil || *g.High <= 0 || float64(*g.Memory) < float64(*g.High)*0.95 {
			return ""
		}
		return fmt.Sprintf("%s uses %s of memory.high %s: it is slowed down by reclaim", at, amount(*g.Memory), amount(*g.High))
	})
}

// amount prints bytes for people.
func amount(bytes int64) string {
	return quantity.Bytes(*resource.NewQuantity(bytes, resource.BinarySI))
}

func checkThrottling(f *Facts) Result {
	const fix = "raise or remove the CPU limit, or give the container fewer threads (GOMAXPROCS and the like)"
	good := ok("no container waits for its CPU quota in more than %d %% of the periods", throttledShare)
	return f.eachGroup(good, fix, func(at string, g *Group) string {
		if g.Periods == 0 || g.Throttled*100/g.Periods < throttledShare {
			return ""
		}
		return fmt.Sprintf("%s waited for its CPU quota in %d of %d periods (%d %%)", at, g.Throttled, g.Periods, g.Throttled*100/g.Periods)
	})
}

// eachGroup warns, with one way out, of each cgroup of which there is something
// to say, by path; where there is nothing, all is good.
func (f *Facts) eachGroup(good Result, fix string, say func(at string, g *Group) string) Result {
	if f.Cgroups == nil {
		return skip(noTree)
	}
	var found []Result
	for _, at := range slices.Sorted(maps.Keys(f.Cgroups.Groups)) {
		if text := say(at, f.Cgroups.Groups[at]); text != "" {
			found = append(found, Result{Status: Warn, Message: text, Fix: fix})
		}
	}
	return worst(good, found)
}

func checkLeaks(f *Facts) Result {
	switch {
	case f.Cgroups == nil:
		return skip(noTree)
	case len(f.Pods) == 0:
		return skip("no pod is known, so none can be told from a leak")
	}
	var found []Result
	for _, l := range f.Leaks {
		evidence := []string{}
		for _, pid := range l.PIDs {
			evidence = append(evidence, fmt.Sprintf("process %d", pid))
		}
		found = append(found, Result{
			Status: Warn, Message: fmt.Sprintf("%s belongs to no pod: %s", l.Path, l.Why), Evidence: evidence,
			Fix: "kqos inspect " + l.Path + " shows it; end its processes, then remove the folder",
		})
	}
	return worst(ok("all pod cgroups have a pod"), found)
}
