package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
)

const noConfig = "the configuration can't be loaded (see config)"

func configChecks() []Check {
	return []Check{
		{
			ID: "config", Title: "the configuration is one that the kubelet accepts",
			Explain: `The kubelet reads its configuration file and drop-ins, validates them, and parses
reservations, eviction thresholds and policies later in its start; it ends at
the first thing that it refuses. All of them are told here at once, in its words.
Swap, the cgroup version, cgroups and checkpoint files have checks of their own.
Kubelet v1.37: cmd/kubelet/app/server.go, apis/config/validation.`,
			run: checkConfig,
		},
		{
			ID: "feature-gates", Title: "the feature gates that are set still do something",
			Explain: `A gate that is locked or gone makes an upgraded kubelet refuse its
configuration; one that is GA or deprecated will be locked and then removed. A
gate set to its default only waits for that day.
Kubelet v1.37: pkg/features/kube_features.go.`,
			run: checkGates,
		},
		{
			ID: "reserved-memory", Title: "reservedMemory adds up to what is kept from pods",
			Explain: `With memoryManagerPolicy Static the sum of reservedMemory over the NUMA nodes must
equal systemReserved + kubeReserved + evictionHard memory.available to the byte,
and the same for each size of huge pages; else the kubelet does not start.
Kubelet v1.37: cm/memorymanager/memory_manager.go validateReservedMemory.`,
			run: checkReservedMemory,
		},
	}
}

// elsewhere are the fields that other checks judge.
func elsewhere() []string {
	return []string{"failSwapOn", "failCgroupV1", "memorySwap.swapBehavior", "reservedMemory"}
}

func checkConfig(f *Facts) Result {
	source := f.Config.Source
	if source == "" {
		source = "no file: the kubelet's defaults"
	}
	if f.ConfigError != nil {
		return Result{
			Status: Fail, Message: f.ConfigError.Error(), Evidence: []string{source},
			Fix: "mend what the message names; 'kqos allocatable --validate --config FILE' checks again",
		}
	}
	var found []Result
	for _, finding := range slices.Concat(f.Config.Refused, allocatable.CheckOn(f.Config, f.Node)) {
		if slices.Contains(elsewhere(), finding.Field) {
			continue
		}
		found = append(found, Result{Status: Fail, Message: finding.Message, Evidence: []string{fieldOf(source, finding)}, Fix: f.change(finding)})
	}
	if stop := f.start(nil); stop != nil && len(found) == 0 && len(f.findings(elsewhere()...)) == 0 {
		found = append(found, Result{Status: Fail, Message: stop.Message, Evidence: []string{source + ": " + stop.Stage}, Fix: "change " + source})
	}
	for _, w := range f.Config.Warnings {
		found = append(found, Result{Status: Warn, Message: w, Evidence: []string{source}, Fix: "change " + source})
	}
	return worst(Result{Status: OK, Message: "the kubelet finds nothing to refuse", Evidence: []string{source}}, found)
}

// change names the field to be changed.
func (f *Facts) change(k kubelet.Finding) string {
	if f.Config.Source == "" {
		return "set " + k.Field + " in a KubeletConfiguration" + f.near(k)
	}
	return "change " + fieldOf(f.Config.Source, k) + f.near(k)
}

// near is the word that was probably meant, to end a sentence with.
func (f *Facts) near(k kubelet.Finding) string {
	if f.meant == nil {
		return ""
	}
	return f.meant(k)
}

func fieldOf(source string, f kubelet.Finding) string {
	if f.Field == "" {
		return source
	}
	return source + ": " + f.Field
}

func checkGates(f *Facts) Result {
	if f.ConfigError != nil {
		return skip(noConfig)
	}
	var found []Result
	set := f.Config.Gates.Overrides()
	for _, name := range slices.Sorted(maps.Keys(set)) {
		spec := f.Config.Gates.Spec(name)
		fix := fmt.Sprintf("remove %s from featureGates", name)
		switch {
		case spec.Stage == kubelet.StageAlpha && set[name]:
			found = append(found, Result{Status: Warn, Message: fmt.Sprintf("%s is alpha: it may change or go with any release", name), Fix: "know what you do, or " + fix})
		case (spec.Stage == kubelet.StageGA || spec.Stage == kubelet.StageDeprecated) && spec.Default == set[name]:
			found = append(found, Result{
				Status: Warn, Message: fmt.Sprintf("%s=%v does nothing: it is %s and that is its default; a later kubelet refuses the name", name, set[name], spec.Stage), Fix: fix,
			})
		case spec.Stage == kubelet.StageGA || spec.Stage == kubelet.StageDeprecated:
			found = append(found, Result{
				Status: Warn, Message: fmt.Sprintf("%s=%v is the old behaviour: the gate is %s and will be locked, then removed", name, set[name], spec.Stage), Fix: fix,
			})
		}
	}
	if len(set) == 0 {
		return ok("no feature gate is set")
	}
	return worst(ok("%s set, none on its way out", quantity.Count(len(set), "feature gate")), found)
}

func checkReservedMemory(f *Facts) Result {
	switch {
	case f.ConfigError != nil:
		return skip(noConfig)
	case f.Config.MemoryManagerPolicy != kubelet.MemoryPolicyStatic:
		return ok("memoryManagerPolicy %s needs no reservedMemory", f.Config.MemoryManagerPolicy)
	case f.Machine == nil:
		return skip("the memory of the machine is unknown; name it with --topology")
	}
	var found []Result
	for _, finding := range f.findings("reservedMemory") {
		found = append(found, Result{Status: Fail, Message: finding.Message, Fix: reservedMemoryLines(f)})
	}
	return worst(ok("reservedMemory adds up to what is kept from pods"), found)
}

// reservedMemoryLines are the lines of a configuration that the kubelet would
// take: all on the first NUMA node that has memory.
func reservedMemoryLines(f *Facts) string {
	result, _ := allocatable.Compute(f.Config, f.Node)
	var limits []string
	for _, name := range slices.Sorted(maps.Keys(result.Capacity)) {
		if name != corev1.ResourceMemory && !quantity.IsHugePages(name) {
			continue
		}
		if q := result.Reservation(name); !q.IsZero() {
			limits = append(limits, fmt.Sprintf("%s: %s", name, q.String()))
		}
	}
	for _, n := range f.Machine.NUMA {
		if n.Memory > 0 {
			return fmt.Sprintf("reservedMemory:\n- numaNode: %d\n  limits: {%s}", n.ID, strings.Join(limits, ", "))
		}
	}
	return ""
}
