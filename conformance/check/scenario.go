package check

import (
	"github.com/kqos/kqos/conformance/oracle/placement"
	"github.com/kqos/kqos/internal/simulate"
)

// Scenario is one in the oracle's form.
func Scenario(s *simulate.Scenario) *placement.Scenario {
	hardware := func(h *simulate.Hardware) *placement.Hardware {
		if h == nil {
			return nil
		}
		return &placement.Hardware{Machine: h.Machine, Preferred: h.Preferred}
	}
	p := &placement.Scenario{Name: s.Name, Machine: hardware(s.Machine), Kubelet: s.Kubelet}
	for _, e := range s.Events {
		p.Events = append(p.Events, placement.Event{
			Op: e.Op, Pod: e.Pod, PodName: e.PodName, Kubelet: e.Kubelet, Machine: hardware(e.Machine), Files: e.Files, PluginsFirst: e.PluginsFirst,
		})
	}
	return p
}
