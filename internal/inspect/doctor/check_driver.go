package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
)

func checkDrivers(f *Facts) Result {
	words := slices.Concat(f.Drivers, f.liveShapes())
	shapes := f.podShapes()
	quoted := f.Config.Written["cgroupDriver"] && !known(f.Config.CgroupDriver)
	if len(words)+len(shapes) == 0 && !quoted {
		return skip("nobody tells a cgroup driver: no runtime answers, no configuration names one, no pods are there")
	}
	var evidence []string
	for _, w := range words {
		evidence = append(evidence, fmt.Sprintf("%s: %s (%s)", w.From, w.Driver, w.Of))
	}
	var found []Result
	if len(shapes) > 1 {
		found = append(found, Result{
			Status: Fail, Message: "cgroups of pods lie in both shapes at once: " + strings.Join(shapes, " and "),
			Fix: "drain the node, stop kubelet and runtime, make both use one driver (" + setDriver(f.Driver) + "), and reboot",
		})
	}
	runtime := driversOf(words, PartyRuntime)
	switch {
	case len(runtime) > 1:
		found = append(found, Result{
			Status: Fail, Message: "what is known of the runtime's driver disagrees: " + strings.Join(runtime, " and "),
			Fix: "restart the runtime after its configuration changed, and remove containers of the time before; " + setDriver(f.Driver),
		})
	case len(runtime) == 1 && runtime[0] != f.Driver:
		found = append(found, Result{
			Status: Fail, Message: fmt.Sprintf("the kubelet uses the %s driver and the runtime %s", f.Driver, runtime[0]),
			Fix: setDriver(f.Driver),
		})
	}
	if quoted {
		found = append(found, Result{
			Status: Warn, Message: fmt.Sprintf("cgroupDriver: %q is neither systemd nor cgroupfs: without an answer of the runtime the kubelet acts as with cgroupfs", f.Config.CgroupDriver),
			Fix: "write the word alone, without quotes inside: cgroupDriver: systemd",
		})
	}
	if kubelet := driversOf(f.Drivers, PartyKubelet); len(found) == 0 && len(kubelet) == 1 && kubelet[0] != f.Driver {
		found = append(found, Result{
			Status: Warn, Message: fmt.Sprintf("cgroupDriver: %s of the configuration is void: the runtime says %s, and its answer wins", kubelet[0], f.Driver),
			Fix: "set cgroupDriver: " + f.Driver,
		})
	}
	result := worst(ok("kubelet and runtime use %s", f.Driver), found)
	result.Evidence = append(result.Evidence, evidence...)
	return result
}

func known(driver string) bool { return driver == cgroups.Systemd || driver == cgroups.Cgroupfs }

func setDriver(driver string) string {
	on := "true"
	if driver != cgroups.Systemd {
		on = "false"
	}
	return fmt.Sprintf("containerd: SystemdCgroup = %s, CRI-O: cgroup_manager = %q, kubelet: cgroupDriver: %s", on, driver, driver)
}

// driversOf are the drivers that a party is said to use, each once.
func driversOf(words []DriverWord, of Party) []string {
	var drivers []string
	for _, w := range words {
		if w.Of == of && !slices.Contains(drivers, w.Driver) {
			drivers = append(drivers, w.Driver)
		}
	}
	return drivers
}
