package kubelet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FollowedVersion is the release whose kubelet kqos answers like.
const FollowedVersion = "v1.37.2"

// Minor is a minor version of Kubernetes 1, such as 37.
type Minor int

// Latest is the minor version whose rules hold when none is chosen.
const Latest Minor = 37

// Versions are the minor versions whose rules are known, in order; all are held
// against the kubelet's own code, those before Latest as far as docs/versions.md
// says.
func Versions() []Minor { return []Minor{35, 36, Latest} }

// String gives the version as "1.37".
func (m Minor) String() string { return fmt.Sprintf("1.%d", int(m)) }

// Known tells whether the version is one of [Versions].
func (m Minor) Known() bool { return slices.Contains(Versions(), m) }

// Nearest is the version of [Versions] whose rules come closest.
func (m Minor) Nearest() Minor {
	all := Versions()
	return min(max(m, all[0]), all[len(all)-1])
}

// ParseVersion reads a version as people and kubelets write it: 1.37, v1.37.2,
// v1.37.2+k3s1, Kubernetes v1.37.2, k3s version v1.37.2+k3s1 (56ec5dd4).
func ParseVersion(text string) (Minor, error) {
	number := strings.TrimSpace(text)
	for _, word := range []string{"Kubernetes ", "k3s version ", "v"} {
		number = strings.TrimPrefix(number, word)
	}
	rest, ok := strings.CutPrefix(number, "1.")
	digits, _, _ := strings.Cut(rest, ".")
	minor, err := strconv.ParseUint(strings.TrimSuffix(digits, "+"), 10, 16)
	if !ok || err != nil {
		return 0, fmt.Errorf("reading version %q: want one such as v1.%d.2", text, int(Latest))
	}
	return Minor(minor), nil
}
