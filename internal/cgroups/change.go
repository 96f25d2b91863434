package cgroups

// Op says what a Change does to a cgroup.
type Op string

// The operations, as the contract prints them.
const (
	OpCreate Op = "create"
	OpUpdate Op = "update"
	OpRemove Op = "remove"
)

// Change is one step from the live tree to the wanted one. A cgroup to be made
// is an OpCreate without a file, followed by an OpUpdate for each file of it.
type Change struct {
	Op   Op     `json:"op"`
	Path string `json:"path"`
	// File is the control file written; empty where the cgroup itself is created
	// or removed.
	File string `json:"file,omitempty"`
	// From is what the file reads now; empty when the cgroup does not exist yet.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Why  string `json:"why,omitempty"`
	// Stage says where a change stands in the resize of its pod.
	Stage string `json:"stage,omitempty"`
	// Use is the present use of what a new limit restricts, such as bytes of
	// memory, where it is known.
	Use string `json:"use,omitempty"`
}
