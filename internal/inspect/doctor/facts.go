package doctor

import (
	"errors"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate"
)

// Facts are all that the checks judge. What is unknown is nil or empty, and the
// checks that need it skip.
type Facts struct {
	// Config is what the kubelet would work with; the defaults where ConfigError
	// says why it can't load its own.
	Config      *kubelet.Config
	ConfigError error
	// Driver is the one that the kubelet would use, and Drivers who says which.
	Driver  string
	Drivers []DriverWord
	// Node is what allocatable is computed on, and Machine the hardware of it,
	// nil when unknown.
	Node    allocatable.Node
	Machine *machine.Machine
	// CgroupVersion is the one to be judged, 1 or 2.
	CgroupVersion int
	// Cgroups is nil where the host's tree is unknown or of another version.
	Cgroups *Cgroups
	// States are the checkpoint files by name, StateDir their folder as the host
	// names it, empty when there is none, and Kubelet the process id of a running kubelet, or 0.
	States   simulate.Files
	StateDir string
	Kubelet  int
	// meant is the Options' Meant.
	meant func(kubelet.Finding) string
	// stateFolder is where the folder is reached.
	stateFolder string
	// devicePlace is the folder below it in which the device manager's lies.
	devicePlace string
	// Pods are the UIDs of the pods that the kubelet has folders for; nil when
	// there is no such folder.
	Pods map[string]bool
	// Host is what else was read of the host; nil when no host is judged.
	Host *Host
	// Leaks are pod cgroups of no pod.
	Leaks []inspect.Leak
	// Reloads are what a daemon-reload would change; ReloadsKnown says that systemd
	// was asked and answered.
	Reloads      []Reload
	ReloadsKnown bool
}

// Host is what files outside the cgroups tell of a host.
type Host struct {
	// Swaps are the swap devices, SwapsKnown says that the kernel told them.
	Swaps      []string
	SwapsKnown bool
	// Kernel is its release, such as 6.1.0-57; Cmdline its parameters.
	Kernel  string
	Cmdline []string
	// OS is PRETTY_NAME of os-release.
	OS string
	// SystemdRuns as PID 1; Systemd is its version, 0 when unknown.
	SystemdRuns bool
	Systemd     int
	// Plugins are the kubelet's plugins by folder, such as dra.cpu.
	Plugins []string
	// Unlinked are the device files of GPUs that have no link in /dev/char, which
	// is where systemd looks for them.
	Unlinked []string
	// PSI says whether /proc/pressure is there.
	PSI bool
	// PSIKnown is false where /proc itself is not there.
	PSIKnown bool
}

// DriverWord is one source's word on the cgroup driver.
type DriverWord struct {
	// From is a file with its field, a socket, or the shape of live names.
	From string
	// Driver is systemd or cgroupfs.
	Driver string
	// Of says whose driver it is.
	Of Party
}

// Party is who works with a driver.
type Party string

// The two that must agree.
const (
	PartyKubelet Party = "kubelet"
	PartyRuntime Party = "runtime"
)

// findings are those of allocatable on the node, by the field that they name.
func (f *Facts) findings(fields ...string) []kubelet.Finding {
	var kept []kubelet.Finding
	for _, found := range allocatable.CheckOn(f.Config, f.Node) {
		for _, field := range fields {
			if found.Field == field {
				kept = append(kept, found)
			}
		}
	}
	return kept
}

// spec is the kubelet whose start is tried. Pods that only checkpoint files name
// count as running: nobody else knows them.
func (f *Facts) spec() simulate.Spec {
	return simulate.Spec{Config: f.Config, Machine: f.Machine, Dir: f.StateDir, CgroupVersion: f.CgroupVersion, KeepUnknown: true}
}

// untried says why no start can be tried; empty where one can.
func (f *Facts) untried() string {
	if f.Machine == nil {
		return noMachine
	}
	if err := simulate.CheckMachine(f.Config.MemoryManagerPolicy, f.Machine); err != nil {
		return err.Error()
	}
	return ""
}

// start tries to start the managers with the given checkpoint files and says
// where and with what words the kubelet stops; nil where it does not, or where
// no start can be tried.
func (f *Facts) start(files simulate.Files) *simulate.StartError {
	if f.untried() != "" {
		return nil
	}
	_, err := simulate.NewNode(f.spec(), files)
	stopped, _ := errors.AsType[*simulate.StartError](err)
	return wrapped(stopped)
}

// wrapped puts the words around an error with which the kubelet ends.
//
// kubelet v1.37: cm/container_manager_linux.go Start, cmd/kubelet/app/server.go.
func wrapped(stop *simulate.StartError) *simulate.StartError {
	if stop == nil {
		return nil
	}
	around := map[string]string{
		simulate.StageCPUStart: "start cpu manager error: ", simulate.StageMemoryStart: "start memory manager error: ",
		simulate.StageValidate: "failed to validate kubelet configuration, error: ",
	}
	return &simulate.StartError{Stage: stop.Stage, Message: around[stop.Stage] + stop.Message}
}
