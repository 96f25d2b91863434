package machine

import "k8s.io/utils/cpuset"

// State is what a kubelet does with a CPU.
type State string

// The states of a CPU. Unmarked is a CPU of which nothing is known but that it
// is there.
const (
	Unmarked  State = ""
	Reserved  State = "reserved"
	Exclusive State = "exclusive"
	Shared    State = "shared"
	Isolated  State = "isolated"
	Offline   State = "offline"
)

// Mark is what is drawn on one CPU.
type Mark struct {
	State State
	// Owner of an exclusive CPU, such as "default/web/app"; it gets a colour and a
	// place in the legend of its own.
	Owner string
	// Isolated says that the kernel's scheduler leaves the CPU alone, whatever
	// else holds for it.
	Isolated bool
}

// String is the mark in words: "exclusive default/web/app, isolated".
func (k Mark) String() string {
	text := string(k.State)
	if k.Owner != "" {
		text += " " + k.Owner
	}
	if k.Isolated && k.State != Isolated {
		if text != "" {
			text += ", "
		}
		text += string(Isolated)
	}
	return text
}

// Marks are the marks of CPUs by id. The nil map marks nothing.
type Marks map[int]Mark

// Use is how a node's CPUs are shared out. Each set may be empty.
type Use struct {
	Reserved  cpuset.CPUSet
	Shared    cpuset.CPUSet
	Exclusive map[string]cpuset.CPUSet // by owner
}

// Marks marks every CPU: offline before exclusive before reserved before
// shared, isolated where nothing else holds.
func (m *Machine) Marks(use Use) Marks {
	owner := map[int]string{}
	for name, cpus := range use.Exclusive {
		for _, id := range cpus.List() {
			// Init containers leave their CPUs to the same pod's others: the name
			// that sorts last stands for all, so that pictures do not flicker.
			owner[id] = max(owner[id], name)
		}
	}
	marks := make(Marks, len(m.CPUs))
	for _, c := range m.CPUs {
		k := Mark{Isolated: c.Isolated && c.Online}
		switch {
		case !c.Online:
			k.State = Offline
		case owner[c.ID] != "":
			k.State, k.Owner = Exclusive, owner[c.ID]
		case use.Reserved.Contains(c.ID):
			k.State = Reserved
		case use.Shared.Contains(c.ID):
			k.State = Shared
		case c.Isolated:
			k.State = Isolated
		}
		marks[c.ID] = k
	}
	return marks
}
