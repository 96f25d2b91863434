package kubelet

// Minor is a minor version of Kubernetes 1, such as 37.
type Minor int

// Latest is the minor version whose rules hold when none is chosen.
const Latest Minor = 37

// Gates tells which feature gates are on. The zero value has the defaults of
// Latest.
type Gates struct {
	Minor Minor
	set   map[string]bool
}
