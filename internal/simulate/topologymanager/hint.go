package topologymanager

// Hint is one way to satisfy a request: the NUMA nodes that would be used, and
// whether they are as few as the request can need.
type Hint struct {
	// Affinity is the set of NUMA nodes; empty means no preference.
	Affinity Mask
	// Preferred is true when no narrower set could ever satisfy the request.
	Preferred bool
}

// String has the form of the hint lists of a Simulation: "0,1+" is a preferred
// hint for nodes 0 and 1, "any" one without affinity. Preferred is not shown
// on "any", which providers only give preferred.
func (h Hint) String() string {
	if h.Affinity != 0 && h.Preferred {
		return h.Affinity.String() + "+"
	}
	return h.Affinity.String()
}

// Hints are what one provider offers, a list for each resource. No entries: no
// preference at all. A nil list: no preference for that resource. A list that
// is empty but not nil: the request cannot be met.
type Hints map[string][]Hint
