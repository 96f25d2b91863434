package placement

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/machine"
)

// Operations of an event; opReadmit is the admission of an active pod in a
// restart.
const (
	opAdd     = "add"
	opRemove  = "remove"
	opRestart = "restart"
	opReadmit = "readmit"
)

// Scenario is a node and what happens on it.
type Scenario struct {
	Name    string
	Machine *Hardware
	Kubelet json.RawMessage `json:",omitempty"`
	Events  []Event
}

// Hardware is a machine with the resources whose device plugin has preferences.
type Hardware struct {
	Machine   *machine.Machine
	Preferred []string
}

// Event is one step: a pod that comes, one that goes, or a restart of the
// kubelet, which may find another configuration, another machine, other files.
type Event struct {
	Op           string
	Pod          *v1.Pod
	PodName      string
	Kubelet      json.RawMessage `json:",omitempty"`
	Machine      *Hardware
	Files        map[string]*string
	PluginsFirst bool
}
