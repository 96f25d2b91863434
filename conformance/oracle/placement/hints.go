package placement

import (
	"fmt"

	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
)

// told are the hints that the managers gave since the last admission began.
type told struct{ lists HintLists }

func (t *told) note(container string, hints map[string][]topologymanager.TopologyHint) {
	if t.lists == nil {
		t.lists = HintLists{}
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
