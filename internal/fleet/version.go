package fleet

import (
	"fmt"

	"github.com/kqos/kqos/internal/kubelet"
)

// rules is the minor version by whose rules a kubelet is judged, and why these
// are not known to be its own; empty where they are.
func rules(version string) (kubelet.Minor, string) {
	if version == "" {
		return kubelet.Latest, fmt.Sprintf("the node tells no kubeletVersion: judged by the rules of %s", kubelet.Latest)
	}
	minor, err := kubelet.ParseVersion(version)
	if err != nil {
		return kubelet.Latest, fmt.Sprintf("%v: judged by the rules of %s", err, kubelet.Latest)
	}
	if minor.Known() {
		return minor, ""
	}
	known := kubelet.Versions()
	return minor.Nearest(), fmt.Sprintf("kqos knows the rules of %s to %s, not of %s: judged by those of %s", known[0], known[len(known)-1], version, minor.Nearest())
}
