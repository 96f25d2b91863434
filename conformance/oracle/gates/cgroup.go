package gates

import (
	"sync"
	_ "unsafe" // for go:linkname

	_ "github.com/opencontainers/cgroups" // the variables below are its own
)

//go:linkname isUnified github.com/opencontainers/cgroups.isUnified
var isUnified bool

//go:linkname isUnifiedOnce github.com/opencontainers/cgroups.isUnifiedOnce
var isUnifiedOnce sync.Once

//go:linkname hugePageSizes github.com/opencontainers/cgroups.hugePageSizes
var hugePageSizes []string

//go:linkname initHPSOnce github.com/opencontainers/cgroups.initHPSOnce
var initHPSOnce sync.Once

// SetCgroupVersion makes the kubelet believe to run on a host with that
// version of cgroups: 1 or 2.
func SetCgroupVersion(version int) {
	isUnifiedOnce.Do(func() {})
	isUnified = version == 2
}

// SetPageSizes makes it believe that the host's kernel has huge pages of these
// sizes, named as in cgroup files.
func SetPageSizes(sizes []string) {
	initHPSOnce.Do(func() {})
	hugePageSizes = sizes
}
