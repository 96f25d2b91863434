package start

import (
	"sync/atomic"
	_ "unsafe" // for go:linkname

	_ "k8s.io/component-base/version" // the variable below is its own
)

//go:linkname dynamicGitVersion k8s.io/component-base/version.dynamicGitVersion
var dynamicGitVersion atomic.Value

// release gives the kubelet the version that its release's build sets: without
// it the kubelet takes itself for 0.0, whose previous minor does not exist.
func release() { dynamicGitVersion.Store(version) }
