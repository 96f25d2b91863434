package fleet

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/kqos/kqos/internal/kubelet"
)

// oldestRules is the first minor version whose rules are checked.
const oldestRules kubelet.Minor = 35

// minorOf reads the minor version that kubelets report, vendors' endings left
// alone: v1.36.4-eks-1a2b3c.
var minorOf = regexp.MustCompile(`^v1\.([0-9]{1,3})(\.|\+|-|$)`)

// rules is the minor version by whose rules a kubelet is judged, and why these
// are not known to be its own; empty where they are.
func rules(version string) (kubelet.Minor, string) {
	found := minorOf.FindStringSubmatch(version)
	if found == nil {
		if version == "" {
			return kubelet.Latest, fmt.Sprintf("the node tells no kubeletVersion: judged by the rules of %s", kubelet.Latest)
		}
		return kubelet.Latest, fmt.Sprintf("kubeletVersion %q is no version of Kubernetes 1: judged by the rules of %s", version, kubelet.Latest)
	}
	// The expression bounds the number.
	number, _ := strconv.Atoi(found[1])
	minor := min(max(kubelet.Minor(number), oldestRules), kubelet.Latest)
	if int(minor) != number {
		return minor, fmt.Sprintf("kqos knows the rules of %s to %s, not of %s: judged by those of %s", oldestRules, kubelet.Latest, version, minor)
	}
	return minor, ""
}
