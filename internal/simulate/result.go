package simulate

import "github.com/kqos/kqos/internal/simulate/topologymanager"

// Result is what became of a scenario. Its JSON is part of the command-line
// contract.
type Result struct {
	Name string `json:"name"`
	// StartError says that the kubelet does not start; nothing else follows.
	StartError *StartError `json:"startError,omitempty"`
	// Reserved and Allocatable are CPUs in the kernel's list format; only with
	// the static CPU policy.
	Reserved    string        `json:"reserved,omitempty"`
	Allocatable string        `json:"allocatable,omitempty"`
	Initial     *State        `json:"initial,omitempty"`
	Events      []EventResult `json:"events,omitempty"`
	// Files are the checkpoint files at the end, by name.
	Files Files `json:"files,omitempty"`
	// Arbitrary lists what the kubelet leaves to chance: files, devices, result.
	Arbitrary []string `json:"arbitrary,omitempty"`
	// Fit is only there when it was asked for.
	Fit     *Fit         `json:"fit,omitempty"`
	Explain *Explanation `json:"explain,omitempty"`

	// Warnings are remarks on the input.
	Warnings []string `json:"-"`
}

// EventResult is what became of one event.
type EventResult struct {
	Op       string `json:"op"`
	Pod      string `json:"pod,omitempty"`
	Admitted *bool  `json:"admitted,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Message  string `json:"message,omitempty"`
	// Why is the sentence that Explain has, for people.
	Why string `json:"-"`
	// Panic says that the kubelet crashes here; no event follows.
	Panic string `json:"panic,omitempty"`

	Containers []Container `json:"containers,omitempty"`
	PodCPUs    string      `json:"podCPUs,omitempty"`
	PodMemory  []Memory    `json:"podMemory,omitempty"`
	// Hints by container name, empty in pod scope, and resource.
	Hints HintLists `json:"hints,omitempty"`

	// Readmit are the active pods of a restart, in their order.
	Readmit    []EventResult `json:"readmit,omitempty"`
	StartError *StartError   `json:"startError,omitempty"`
	After      *State        `json:"after,omitempty"`
	// Unchanged stands for an After that equals the state before.
	Unchanged bool         `json:"unchanged,omitempty"`
	Explain   *Explanation `json:"explain,omitempty"`
}

// HintLists are hints as text, by container and resource.
type HintLists map[string]map[string][]string

// Refused tells whether a pod was refused, or the kubelet failed.
func (r *Result) Refused() bool {
	if r.StartError != nil {
		return true
	}
	for _, e := range r.Events {
		if e.refused() {
			return true
		}
	}
	return false
}

func (e *EventResult) refused() bool {
	for i := range e.Readmit {
		if e.Readmit[i].refused() {
			return true
		}
	}
	return e.Admitted != nil && !*e.Admitted || e.StartError != nil || e.Panic != ""
}

// eventOf puts an admission into the form of the contract.
func eventOf(op, name string, a *Admission) EventResult {
	e := EventResult{
		Op: op, Pod: name, Reason: a.Verdict.Reason, Message: a.Verdict.Message, Why: a.Why,
		Containers: a.Containers, PodCPUs: a.PodCPUs, PodMemory: a.PodMemory,
	}
	if c := a.Verdict.Crash; c != nil {
		e.Panic = c.Error()
		return e
	}
	admitted := a.Verdict.Admitted
	e.Admitted = &admitted
	return e
}

// hintLists are the hints of all merges of an admission.
func hintLists(rounds []topologymanager.Round) HintLists {
	lists := HintLists{}
	for _, r := range rounds {
		lists[r.Container] = map[string][]string{}
		for _, l := range r.Lists {
			if l.Resource != "" {
				lists[r.Container][l.Resource] = texts(l)
			}
		}
	}
	return lists
}

func texts(l topologymanager.List) []string {
	if l.Hints == nil {
		return []string{"any"}
	}
	list := make([]string, len(l.Hints))
	for i, h := range l.Hints {
		list[i] = h.String()
	}
	return list
}
