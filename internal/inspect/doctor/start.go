package doctor

import (
	"fmt"
	"strings"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/simulate"
)

// Step is one step of the kubelet's start.
type Step struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	// Message is what the kubelet would end with, in its words, or what it goes on
	// with.
	Message string `json:"message,omitempty"`
	Fix     string `json:"fix,omitempty"`
}

// stage is a step before it was tried: go on with a word, or stop.
type stage struct {
	name string
	try  func(*Facts) Result
}

// Start walks the kubelet's start in its order and ends at the first step that
// fails, as the kubelet does.
//
// kubelet v1.37: cmd/kubelet/app/server.go run, cm/container_manager_linux.go
// NewContainerManager, Start and setupNode.
func Start(f *Facts) []Step {
	var steps []Step
	for _, s := range stages() {
		r := s.try(f)
		steps = append(steps, Step{Name: s.name, Status: r.Status, Message: r.Message, Fix: r.Fix})
		if r.Status == Fail {
			break
		}
	}
	return steps
}

func stages() []stage {
	managed := func(name string, files ...string) stage {
		return stage{name, func(f *Facts) Result { return f.managerStage(name, files) }}
	}
	return []stage{
		{"load", tryLoad},
		{simulate.StageValidate, tryValidate},
		{"cgroup-driver", tryDriver},
		managed(simulate.StageReservedCPUs), managed(simulate.StageKubeReserved),
		managed(simulate.StageSystemReserved), managed(simulate.StageEviction),
		{"qos-reserved", tryQOSReserved},
		{"swap-behavior", func(f *Facts) Result { return f.fieldStage("memorySwap.swapBehavior") }},
		{"swap", trySwap},
		{"cgroup-root", tryRoot},
		managed(simulate.StageTopology), managed(simulate.StageCPU), managed(simulate.StageMemory),
		managed(simulate.StageCPUStart, kubelet.CPUManagerStateFile),
		managed(simulate.StageMemoryStart, kubelet.CPUManagerStateFile, kubelet.MemoryManagerStateFile),
		{"node-allocatable", tryAllocatable},
		{"system-requirements", tryRequirements},
		{"reserved-cgroups", tryReserved},
	}
}

func tryLoad(f *Facts) Result {
	if f.ConfigError != nil {
		return Result{Status: Fail, Message: f.ConfigError.Error(), Fix: checkConfig(f).Fix}
	}
	if len(f.Config.Refused) > 0 {
		return Result{Status: Fail, Message: f.Config.Refused[0].Message, Fix: "make the KubeletConfiguration a file of its own"}
	}
	if f.Config.Source == "" {
		return ok("no configuration file: defaults")
	}
	return ok("%s", f.Config.Source)
}

func tryValidate(f *Facts) Result {
	found := f.Config.Validate(f.CgroupVersion)
	if len(found) == 0 {
		return ok("the configuration is valid")
	}
	var messages, fixes []string
	for _, k := range found {
		messages = append(messages, k.Message)
		fix := f.change(k)
		if k.Field == "failCgroupV1" {
			fix = leaveV1
		}
		fixes = append(fixes, fix)
	}
	text := messages[0]
	if len(messages) > 1 {
		text = "[" + strings.Join(messages, ", ") + "]"
	}
	// The kubelet adds ", path: " and a part of the object that helps nobody.
	stop := wrapped(&simulate.StartError{Stage: simulate.StageValidate, Message: text})
	return Result{Status: Fail, Message: stop.Message, Fix: strings.Join(fixes, "\n")}
}

func tryDriver(f *Facts) Result {
	if answers := driversOf(f.Drivers, PartyRuntime); len(answers) > 0 {
		return ok("%s, as the runtime says", f.Driver)
	}
	return ok("%s; no runtime was asked", f.Driver)
}

// managerStage is a stage that simulate knows: it stopped there or got beyond.
func (f *Facts) managerStage(name string, files []string) Result {
	if untried := f.untried(); untried != "" {
		return skip("%s", untried)
	}
	given := simulate.Files{}
	for _, file := range files {
		if text, there := f.States[file]; there {
			given[file] = text
		}
	}
	stop := f.start(given)
	if stop == nil || stop.Stage != name {
		return Result{Status: OK}
	}
	r := Result{Status: Fail, Message: stop.Message, Fix: "change " + orFile(f.Config.Source)}
	for _, k := range allocatable.CheckOn(f.Config, f.Node) {
		if k.Message == stop.Message {
			r.Fix = f.change(k)
		}
	}
	if len(files) > 0 {
		r.Fix = f.drainAndDelete(files[len(files)-1])
	}
	return r
}

// fieldStage is a stage that fails with what allocatable finds on a field.
func (f *Facts) fieldStage(field string) Result {
	for _, k := range f.findings(field) {
		return Result{Status: Fail, Message: k.Message, Fix: f.change(k)}
	}
	return Result{Status: OK}
}

func tryQOSReserved(f *Facts) Result {
	if _, found := allocatable.ReadQOSReserved(f.Config); len(found) > 0 {
		return Result{Status: Fail, Message: found[0].Message, Fix: f.change(found[0])}
	}
	return Result{Status: OK}
}

func trySwap(f *Facts) Result {
	if r := checkSwap(f); r.Status == Fail {
		return Result{Status: Fail, Message: r.Message, Fix: r.Fix}
	}
	if !f.swapKnown() {
		return skip("whether swap is on is unknown")
	}
	return Result{Status: OK}
}

func tryRoot(f *Facts) Result {
	r := checkRoot(f)
	r.Evidence = nil
	return r
}

func tryAllocatable(f *Facts) Result {
	for _, k := range allocatable.CheckOn(f.Config, f.Node) {
		if strings.HasPrefix(k.Message, "invalid Node Allocatable configuration") {
			return Result{Status: Fail, Message: k.Message, Fix: "reserve less: " + k.Field}
		}
	}
	return Result{Status: OK}
}

func tryRequirements(f *Facts) Result {
	switch {
	case f.Cgroups == nil:
		return skip(noTree)
	case f.Cgroups.Version == 1:
		if r := f.checkMounted(); r.Status == Fail {
			return r
		}
	}
	return ok("kubepods and its tiers are made or updated")
}

func tryReserved(f *Facts) Result {
	groups := f.reservedGroups()
	if len(groups) > 0 && f.Cgroups == nil {
		return skip(noTree)
	}
	for _, g := range groups {
		if r := f.reservedError(g); r != nil {
			return Result{Status: Fail, Message: r.Message, Fix: r.Fix}
		}
	}
	if len(groups) == 0 {
		return ok("no reserved cgroup is to be enforced; the kubelet runs")
	}
	return ok("%s enforced; the kubelet runs", quantity.Count(len(groups), "reserved cgroup"))
}

// Stopped tells whether a walk ended early, and is for people: the last step's
// name and words.
func Stopped(steps []Step) (string, bool) {
	last := steps[len(steps)-1]
	if last.Status != Fail {
		return "", false
	}
	return fmt.Sprintf("%s: %s", last.Name, last.Message), true
}
