package simulate

import "github.com/kqos/kqos/internal/simulate/topologymanager"

// Explanation says how an answer came about.
type Explanation struct {
	// Why is one sentence on what decided a refusal or a failed start.
	Why string `json:"why,omitempty"`
	// Merges are the merges of the topology manager, in their order.
	Merges []Merge `json:"merges,omitempty"`
}

// Merge is one merge, of a container or in pod scope of the pod.
type Merge struct {
	Container string `json:"container,omitempty"`
	// Steps are the lists of the providers in their order.
	Steps []MergeStep `json:"steps"`
	// Target is the number of nodes that an unpreferred result should have.
	Target int `json:"target"`
	// Best is the merged hint, such as "0+".
	Best     string `json:"best"`
	Admitted bool   `json:"admitted"`
}

// MergeStep adds the list of one resource to a merge.
type MergeStep struct {
	Provider string `json:"provider"`
	Resource string `json:"resource,omitempty"`
	// Hints as the provider gave them; "any" where it has no preference, and
	// none where the request cannot be met.
	Hints []string `json:"hints"`
	// Agreed are the preferred sets of NUMA nodes that this list and all before
	// it share; "any" where all leave the choice open.
	Agreed []string `json:"agreed"`
}

func explainStart(e *StartError) *Explanation {
	return &Explanation{Why: "The kubelet does not start, stage " + e.Stage + ": " + e.Message + "."}
}

func (p *player) explain(a *Admission) *Explanation {
	e := &Explanation{Why: a.Why}
	for _, r := range a.Verdict.Rounds {
		m := Merge{Container: r.Container, Target: r.Target, Best: r.Best.String(), Admitted: r.Admitted}
		for _, l := range r.Lists {
			m.Steps = append(m.Steps, MergeStep{Provider: l.Provider, Resource: l.Resource, Hints: texts(l), Agreed: agreed(l)})
		}
		e.Merges = append(e.Merges, m)
	}
	return e
}

func agreed(l topologymanager.List) []string {
	masks := []string{}
	if l.Free {
		masks = append(masks, "any")
	}
	for _, m := range l.Agreed {
		masks = append(masks, m.String())
	}
	return masks
}
