package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/kubelet"
)

const noTree = "the cgroup tree of the host is unknown"

func cgroupChecks() []Check {
	return []Check{
		{
			ID: "cgroup-version", Title: "the kubelet runs on this cgroup version",
			Explain: `Since 1.35 failCgroupV1 is true by default: a kubelet on a host with cgroup v1, or
a hybrid one, ends at once. Memory QoS, PSI of pods and swap for pods need v2.
Kubelet v1.37: apis/config/validation/validation_linux.go.`,
			run: checkVersion,
		},
		{
			ID: "controllers", Title: "the controllers are there, and handed down to pods",
			Explain: `On v2 the kubelet takes a cgroup for missing when its cgroup.controllers lacks one
of cpu, cpuset, hugetlb, memory and pids that the root has: then it makes
kubepods again, or says that a reserved cgroup or a pod's has gone. On v1 it
needs cpu, cpuacct, cpuset and memory mounted.
Kubelet v1.37: cm/cgroup_v2_manager_linux.go Validate,
cm/container_manager_linux.go validateSystemRequirements.`,
			run: checkControllers,
		},
		{
			ID: "cgroup-root", Title: "cgroupRoot exists in every hierarchy",
			Explain: `The kubelet makes kubepods below cgroupRoot but never cgroupRoot itself. The name
is read in cgroupfs form whatever the driver: with systemd, /kube means
/kube.slice, and /kube.slice means /kube.slice.slice.
Kubelet v1.37: cm/container_manager_linux.go NewContainerManager.`,
			run: checkRoot,
		},
		{
			ID: "driver-agreement", Title: "kubelet and runtime use the same cgroup driver",
			Explain: `The kubelet asks the runtime over CRI and takes its answer over cgroupDriver of
its configuration; only a runtime that has no answer leaves the field in force.
When the two work differently, pods lie in both shapes (/kubepods/… and
/kubepods.slice/…), containers fail to start or are killed again and again, and
systemd undoes limits.
Kubelet v1.37: cmd/kubelet/app/server.go getCgroupDriverFromCRI.`,
			run: checkDrivers,
		},
		reservedCheck(), reservedUseCheck(),
	}
}

// leaveV1 is the way out for a host with cgroup v1.
const leaveV1 = "boot with cgroup v2 (kernel parameter systemd.unified_cgroup_hierarchy=1), or for the time being set failCgroupV1: false"

func checkVersion(f *Facts) Result {
	switch {
	case f.Host != nil && f.Cgroups == nil && f.CgroupVersion == 2:
		return skip(noTree)
	case f.CgroupVersion == 2:
		return ok("cgroup v2")
	}
	var found []Result
	for _, finding := range f.findings("failCgroupV1") {
		found = append(found, Result{Status: Fail, Message: finding.Message, Fix: leaveV1})
	}
	return worst(Result{
		Status: Warn, Message: "cgroup v1 with failCgroupV1: false: support is in maintenance and will be removed; no memory QoS, no swap for pods, no PSI",
		Fix: "boot with cgroup v2 (kernel parameter systemd.unified_cgroup_hierarchy=1)",
	}, found)
}

func checkControllers(f *Facts) Result {
	if f.Cgroups == nil {
		return skip(noTree)
	}
	if f.Cgroups.Version == 1 {
		return f.checkMounted()
	}
	have := f.Cgroups.group("/").Controllers
	var found []Result
	for _, controller := range cgroups.Controllers() {
		if slices.Contains(have, controller) || controller == "hugetlb" && !f.hugePages() {
			continue
		}
		status, fix := Warn, "a kernel with the controller "+controller
		if controller == "memory" || controller == "cpu" {
			status = Fail
		}
		if controller == "memory" {
			fix = "boot with the kernel parameters cgroup_enable=memory (Raspberry Pi: also cgroup_memory=1)"
		}
		found = append(found, Result{
			Status: status, Message: fmt.Sprintf("the kernel offers no %s controller on cgroup v2", controller), Fix: fix,
			Evidence: []string{path.Join(mount, "cgroup.controllers") + ": " + strings.Join(have, " ")},
		})
	}
	for _, at := range f.podRoots() {
		found = append(found, f.handedDown(at)...)
	}
	return worst(Result{
		Status: OK, Message: "all controllers of the kubelet reach the cgroups of pods",
		Evidence: []string{path.Join(mount, "cgroup.controllers") + ": " + strings.Join(have, " ")},
	}, found)
}

// handedDown finds a pods' root that exists and lacks controllers that the root
// has.
func (f *Facts) handedDown(at string) []Result {
	g := f.Cgroups.group(at)
	if len(g.In) == 0 {
		return nil
	}
	missing := f.Cgroups.lacking(g)
	if len(missing) == 0 {
		return nil
	}
	var commands, stops []string
	for _, up := range ancestors(at) {
		var lacks []string
		for _, controller := range missing {
			if !slices.Contains(f.Cgroups.group(up).Enabled, controller) {
				lacks = append(lacks, "+"+controller)
			}
		}
		if lacks != nil {
			file := path.Join(mount, up, "cgroup.subtree_control")
			stops = append(stops, file+": "+strings.Join(f.Cgroups.group(up).Enabled, " "))
			commands = append(commands, fmt.Sprintf("echo %s > %s", strings.Join(lacks, " "), file))
		}
	}
	return []Result{{
		Status: Fail, Message: fmt.Sprintf("cgroup %s has some missing controllers: %s", at, strings.Join(missing, ", ")),
		Fix: "restart the kubelet, which hands them down, or by hand:\n" + strings.Join(commands, "\n"), Evidence: stops,
	}}
}

// hugePages tells whether any are preallocated: else nobody misses the
// controller.
func (f *Facts) hugePages() bool {
	if f.Machine == nil {
		return false
	}
	for _, count := range f.Machine.HugePageCounts() {
		if count > 0 {
			return true
		}
	}
	return false
}

// checkMounted looks for the v1 hierarchies.
//
// kubelet v1.37: cm/container_manager_linux.go validateSystemRequirements.
func (f *Facts) checkMounted() Result {
	c := f.Cgroups
	var missing []string
	for _, controller := range []string{"cpu", "cpuacct", "cpuset", "memory"} {
		if _, mounted := c.Mounts[controller]; !mounted {
			missing = append(missing, controller)
		}
	}
	if missing != nil {
		return Result{
			Status: Fail, Message: fmt.Sprintf("system validation failed - Following Cgroup subsystem not mounted: %v", missing),
			Fix: "boot with cgroup v2, or mount the hierarchies below " + mount,
		}
	}
	var absent []string
	for _, controller := range []string{"pids", "hugetlb"} {
		if _, mounted := c.Mounts[controller]; !mounted && (controller == "pids" || f.hugePages()) {
			absent = append(absent, controller)
		}
	}
	if absent != nil {
		return Result{
			Status: Warn, Message: fmt.Sprintf("not mounted, so nothing limits it: %s", strings.Join(absent, ", ")),
			Fix: "boot with cgroup v2, or mount the hierarchies below " + mount,
		}
	}
	return ok("all hierarchies that the kubelet needs are mounted")
}

// podRoots are the paths of kubepods under both drivers.
func (f *Facts) podRoots() []string {
	name := cgroups.Root(f.Config.CgroupRoot, f.Config.PerQOS())
	var roots []string
	for _, driver := range []string{cgroups.Systemd, cgroups.Cgroupfs} {
		if at, err := name.Path(driver); err == nil && at != "/" {
			roots = append(roots, at)
		}
	}
	return roots
}

func checkRoot(f *Facts) Result {
	missing, stop := f.rootError()
	switch {
	case f.Cgroups == nil:
		return skip(noTree)
	case stop == nil && strings.Trim(f.Config.CgroupRoot, "/") == "":
		return ok("cgroupRoot is the root itself")
	case stop == nil:
		return ok("cgroupRoot %s exists", f.Config.CgroupRoot)
	}
	at, _ := cgroups.ParseName(f.Config.CgroupRoot).Path(f.Driver)
	return Result{
		Status: Fail, Message: "invalid configuration: " + stop.Error(),
		Fix: f.makeCgroup(at, missing), Evidence: []string{"cgroupRoot: " + f.Config.CgroupRoot + " means " + at + " under " + f.Driver},
	}
}

// rootError is why the kubelet refuses cgroupRoot.
func (f *Facts) rootError() (missing []string, stop error) {
	if f.Cgroups == nil || !f.Config.PerQOS() {
		return nil, nil
	}
	return f.Cgroups.validate(cgroups.ParseName(f.Config.CgroupRoot), f.Driver)
}

// makeCgroup is how a person makes a cgroup fit for the kubelet until the next
// boot, or with systemd for good.
func (f *Facts) makeCgroup(at string, missing []string) string {
	if f.Driver == cgroups.Systemd {
		unit, _ := cgroups.Unit(at)
		text := fmt.Sprintf(`as /etc/systemd/system/%[1]s:
  [Slice]
  CPUAccounting=yes
  MemoryAccounting=yes
  TasksAccounting=yes
  AllowedCPUs=%[2]s
systemctl daemon-reload && systemctl start %[1]s`, unit, f.allCPUs())
		return text + f.beyondSystemd(at, missing)
	}
	if f.Cgroups.Version == 1 {
		return "mkdir -p " + strings.Join(missing, " ")
	}
	var lines []string
	for _, up := range ancestors(at) {
		lines = append(lines, fmt.Sprintf("mkdir -p %[1]s && for c in %[2]s; do echo +$c > %[1]s/cgroup.subtree_control; done", path.Join(mount, up), strings.Join(cgroups.Controllers(), " ")))
	}
	return strings.Join(append(lines, "mkdir -p "+path.Join(mount, at)), "\n")
}

// beyondSystemd hands down what systemd does not manage: hugetlb on v2, the
// folders of cpuset and hugetlb on v1.
func (f *Facts) beyondSystemd(at string, missing []string) string {
	if f.Cgroups.Version == 1 {
		var folders []string
		for _, folder := range missing {
			if strings.HasPrefix(folder, mount+"/cpuset/") || strings.HasPrefix(folder, mount+"/hugetlb/") {
				folders = append(folders, folder)
			}
		}
		if folders == nil {
			return ""
		}
		return "\nmkdir -p " + strings.Join(folders, " ")
	}
	if !slices.Contains(f.Cgroups.group("/").Controllers, "hugetlb") {
		return ""
	}
	var text strings.Builder
	for _, up := range ancestors(at) {
		fmt.Fprintf(&text, "\necho +hugetlb > %s", path.Join(mount, up, "cgroup.subtree_control"))
	}
	return text.String()
}

// allCPUs are those that a slice is to name so that systemd keeps the cpuset
// controller on for it.
func (f *Facts) allCPUs() string {
	if f.Node.CPUs.IsEmpty() {
		return "0-$(($(nproc --all)-1))"
	}
	return f.Node.CPUs.String()
}

// reservedGroups are the reserved cgroups that the configuration has the kubelet
// enforce, in its order, with the words of its error.
//
// kubelet v1.37: cm/node_container_manager_linux.go enforceNodeAllocatableCgroups.
func (f *Facts) reservedGroups() []reservedGroup {
	c := f.Config
	var groups []reservedGroup
	for _, g := range []reservedGroup{
		{word: kubelet.EnforceSystemReserved, title: "System Reserved", cgroup: c.SystemReservedCgroup, field: "systemReserved"},
		{word: kubelet.EnforceKubeReserved, title: "Kube Reserved", cgroup: c.KubeReservedCgroup, field: "kubeReserved"},
		{word: kubelet.EnforceSystemReservedCompressible, title: "System Reserved Compressible", cgroup: c.SystemReservedCgroup, field: "systemReserved"},
		{word: kubelet.EnforceKubeReservedCompressible, title: "Kube Reserved Compressible", cgroup: c.KubeReservedCgroup, field: "kubeReserved"},
	} {
		if slices.Contains(c.EnforceNodeAllocatable, g.word) {
			groups = append(groups, g)
		}
	}
	return groups
}

type reservedGroup struct{ word, title, cgroup, field string }
