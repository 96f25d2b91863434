package doctor

import (
	"fmt"
	"strings"

	"github.com/kqos/kqos/internal/kubelet"
)

// draCPU is the name, and so the plugin folder, of the driver that gives CPUs away
// over DRA.
//
// kubernetes-sigs/dra-driver-cpu: cmd/dracpu/app.go driverName.
const draCPU = "dra.cpu"

func placersCheck() Check {
	return Check{
		ID: "cpu-placers", Title: "one manager alone gives CPUs away, and reserved ones stay reserved",
		Explain: `The static policy and a DRA driver for CPUs do not know of one another: both give
the same CPU away (kubernetes-sigs/dra-driver-cpu#140). With static and without
its option strict-cpu-reservation, pods without CPUs of their own run on the
reserved CPUs as well.
Kubelet v1.37: cm/cpumanager/policy_static.go NewStaticPolicy.`,
		run: checkPlacers,
	}
}

func checkPlacers(f *Facts) Result {
	switch {
	case f.ConfigError != nil:
		return skip(noConfig)
	case f.Config.CPUManagerPolicy != kubelet.CPUPolicyStatic:
		return ok("cpuManagerPolicy %s gives no CPUs away", f.Config.CPUManagerPolicy)
	case f.Host == nil:
		return skip(noHost)
	}
	for _, plugin := range f.Host.Plugins {
		if plugin == draCPU {
			return Result{
				Status: Fail, Message: "cpuManagerPolicy static and the DRA driver dra.cpu both give CPUs away, each without the other",
				Fix: "set cpuManagerPolicy: none, or uninstall the driver", Evidence: []string{"/" + kubeletDir + "/plugins/" + plugin},
			}
		}
	}
	if f.Config.CPUManagerPolicyOptions[kubelet.OptionStrictReservation] != "true" {
		return ok("the static policy alone gives CPUs away; pods without CPUs of their own run on reserved ones too (strict-cpu-reservation is off)")
	}
	return ok("the static policy alone gives CPUs away, and no pod runs on reserved ones")
}

func deviceLinksCheck() Check {
	return Check{
		ID: "device-links", Title: "systemd finds the devices of GPUs",
		Explain: `Under the systemd driver a daemon-reload writes the list of allowed devices anew,
and systemd looks them up in /dev/char. A driver that makes /dev/nvidia* without
links there has its containers lose the GPU ("Failed to initialize NVML: Unknown
Error", NVIDIA/nvidia-container-toolkit#48).`,
		run: checkDeviceLinks,
	}
}

func checkDeviceLinks(f *Facts) Result {
	switch {
	case f.Host == nil:
		return skip(noHost)
	case f.Driver != "systemd" || !f.Host.SystemdRuns:
		return ok("systemd does not manage the devices of containers here")
	case len(f.Host.Unlinked) == 0:
		return ok("no device of a GPU lacks its link in /dev/char")
	}
	return Result{
		Status: Warn, Message: fmt.Sprintf("%s: no link in /dev/char, so a daemon-reload takes the GPU away from running containers", strings.Join(f.Host.Unlinked, ", ")),
		Fix: "nvidia-ctk system create-dev-char-symlinks --create-all, at each boot (a udev rule)",
	}
}
