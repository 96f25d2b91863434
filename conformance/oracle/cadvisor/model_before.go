//go:build kubelet135 || kubelet136

package cadvisor

import model "github.com/google/cadvisor/info/v1"

// The types of cAdvisor that the kubelet takes a machine in.
type (
	MachineInfo   = model.MachineInfo
	Node          = model.Node
	Core          = model.Core
	Cache         = model.Cache
	HugePagesInfo = model.HugePagesInfo
)
