package driver

import (
	"fmt"
	"path"
	"strings"
)

// unitFolder is where an administrator's unit files stand, which survive a
// reboot.
const unitFolder = "/etc/systemd/system"

// unitMark heads the unit files that kqos writes; it changes and removes no
// other.
const unitMark = "# Made by kqos apply --create-reserved; kqos apply --remove takes it away.\n"

// sliceUnit is the unit file of a reserved cgroup. The kubelet's check wants the
// cpu and cpuset controllers, and systemd hands down what some unit asks for and
// takes the rest back: so AllowedCPUs names all CPUs that the machine may have,
// and on v2 CPUWeight the kernel's default. CPUAccounting alone asks for no
// controller there; on v1, where it does, a CPUWeight would win over the
// CPUShares that kubelet and kqos set.
//
// kubelet v1.37: cm/cgroup_v2_manager_linux.go Validate
// systemd v252: core/cgroup.c unit_get_cgroup_mask, cgroup_context_apply
func sliceUnit(unit, possibleCPUs string, version int) string {
	weight := ""
	if version == 2 {
		weight = "CPUWeight=100\n"
	}
	return unitMark + fmt.Sprintf(`[Unit]
Description=Cgroup %s that the kubelet enforces a reservation on
Documentation=https://kubernetes.io/docs/tasks/administer-cluster/reserve-compute-resources/
DefaultDependencies=no
Before=slices.target kubelet.service

[Slice]
CPUAccounting=yes
%sIOAccounting=yes
MemoryAccounting=yes
TasksAccounting=yes
AllowedCPUs=%s
`, unit, weight, possibleCPUs)
}

// handingUnit is the name of the service beside a slice.
func handingUnit(unit string) string {
	return "kqos-" + strings.TrimSuffix(unit, ".slice") + ".service"
}

// handingService is the unit file of a service that starts the slice before the
// kubelet and gives it what systemd does not manage: on v2 the hugetlb
// controller, on v1 its folders in the hierarchies of cpuset and hugetlb.
func handingService(unit, at string, version int) string {
	return unitMark + fmt.Sprintf(`[Unit]
Description=Make cgroup %[1]s fit for the kubelet
DefaultDependencies=no
Requires=%[1]s
After=%[1]s
Before=kubelet.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/sh -c '%[2]s'

[Install]
WantedBy=multi-user.target
`, unit, handingScript(at, version))
}

func handingScript(at string, version int) string {
	if version == 1 {
		return fmt.Sprintf(`cd %s; for c in cpuset hugetlb; do test -d $$c || continue; mkdir -p $$c%s; done`, mountpoint, at)
	}
	var parents []string
	for up := path.Dir(at); ; up = path.Dir(up) {
		parents = append([]string{path.Join(mountpoint, up)}, parents...)
		if up == "/" {
			break
		}
	}
	return fmt.Sprintf(`for p in %s; do for c in cpu cpuset memory pids hugetlb; do echo +$$c >$$p/cgroup.subtree_control || :; done; done`,
		strings.Join(parents, " "))
}
