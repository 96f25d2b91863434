package placement

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"

	"github.com/kqos/kqos/internal/simulate"
)

// told are the hints that the managers gave since the last admission began.
type told struct{ lists simulate.HintLists }

func (t *told) note(container string, hints map[string][]topologymanager.TopologyHint) {
	if t.lists == nil {
		t.lists = simulate.HintLists{}
	}
	if t.lists[container] == nil {
		t.lists[container] = map[string][]string{}
	}
	for resource, list := range hints {
		t.lists[container][resource] = hintTexts(list)
	}
}

// hintTexts writes hints as the golden scenarios do.
func hintTexts(list []topologymanager.TopologyHint) []string {
	if list == nil {
		return []string{"any"}
	}
	texts := []string{}
	for _, h := range list {
		text := "any"
		if h.NUMANodeAffinity != nil {
			text = ""
			for _, id := range h.NUMANodeAffinity.GetBits() {
				text += fmt.Sprintf(",%d", id)
			}
			text = text[min(1, len(text)):]
		}
		if h.Preferred {
			text += "+"
		}
		texts = append(texts, text)
	}
	return texts
}

// listened is a manager whose hints are noted.
type listened struct {
	topologymanager.HintProvider
	told *told
}

func (l listened) GetTopologyHints(logger klog.Logger, pod *v1.Pod, c *v1.Container, op lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	hints := l.HintProvider.GetTopologyHints(logger, pod, c, op)
	l.told.note(c.Name, hints)
	return hints
}

func (l listened) GetPodTopologyHints(logger klog.Logger, pod *v1.Pod, op lifecycle.Operation) map[string][]topologymanager.TopologyHint {
	hints := l.HintProvider.GetPodTopologyHints(logger, pod, op)
	l.told.note("", hints)
	return hints
}
