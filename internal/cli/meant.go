package cli

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	kubeletconfig "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// refusedWord is how the kubelet tells the word of a configuration that it does
// not know; the words that it would take follow in some messages.
var refusedWord = regexp.MustCompile(`"([^"]*)"|unrecognized feature gate: (\w+)`)

// meant ends a finding with the word of the configuration that was meant; empty
// where none is near.
func meant(f kubelet.Finding) string { return meantIn(f.Message, f.Field) }

// meantAtStart ends what the kubelet says at its start likewise.
func meantAtStart(e *simulate.StartError) string {
	switch e.Stage {
	case simulate.StageFeatureGates:
		return meantIn(e.Message, "featureGates")
	case simulate.StageTopology:
		return meantIn(e.Message, "topologyManagerPolicyOptions")
	case simulate.StageCPU:
		return meantIn(e.Message, "cpuManagerPolicy", "cpuManagerPolicyOptions")
	case simulate.StageMemory:
		return meantIn(e.Message, "memoryManagerPolicy")
	}
	return meantIn(e.Message)
}

// meantIn looks for the word of one of the fields that is near to the first that
// the message refuses.
func meantIn(message string, fields ...string) string {
	found := refusedWord.FindAllStringSubmatch(message, -1)
	if len(found) == 0 {
		return ""
	}
	var words []string
	for _, field := range fields {
		words = append(words, fieldWords(field)...)
	}
	for _, quoted := range found[1:] {
		words = append(words, quoted[1])
	}
	return didYouMean(found[0][1]+found[0][2], words)
}

// withMeant ends the error of a configuration that can't be loaded likewise.
func withMeant(err error) error {
	if refused, is := errors.AsType[*kubelet.LoadError](err); is {
		if word := meant(refused.Finding()); word != "" {
			return fmt.Errorf("%w%s", err, word)
		}
	}
	return err
}

// fieldWords are what a field of the configuration takes, where the kubelet's
// refusal does not list it.
func fieldWords(field string) []string {
	switch field {
	case "featureGates":
		return kubelet.DefaultGates(kubelet.Latest).Names()
	case "cpuManagerPolicy":
		return []string{kubelet.CPUPolicyNone, kubelet.CPUPolicyStatic}
	case "memoryManagerPolicy":
		return []string{kubelet.MemoryPolicyNone, kubelet.MemoryPolicyStatic}
	case "cpuManagerPolicyOptions":
		return []string{
			cpumanager.OptionFullPCPUsOnly, cpumanager.OptionDistributeAcrossNUMA, cpumanager.OptionAlignBySocket,
			cpumanager.OptionDistributeAcrossCores, cpumanager.OptionStrictReservation, cpumanager.OptionPreferAlignByUncore,
		}
	case "topologyManagerPolicyOptions":
		return []string{topologymanager.OptionPreferClosest, topologymanager.OptionMaxNodes}
	}
	if strings.HasPrefix(field, "systemReserved.") || strings.HasPrefix(field, "kubeReserved.") {
		return []string{"cpu", "memory", "ephemeral-storage", "pid"}
	}
	return nil
}

var unknownField = regexp.MustCompile(`unknown field "(\w+)"`)

// meantField ends a warning about an unknown field of the configuration with the
// one that was meant.
func meantField(warning string) string {
	found := unknownField.FindStringSubmatch(warning)
	if found == nil {
		return ""
	}
	var names []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[kubeletconfig.KubeletConfiguration]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return didYouMean(found[1], slices.DeleteFunc(names, func(name string) bool { return name == "" }))
}
