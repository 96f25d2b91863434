package cli

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/nodeapi"
)

// rules tell which kubelet's rules hold.
type rules struct {
	minor kubelet.Minor
	// unverified, if not empty, says why they may not be those of the node's
	// kubelet: its version has no table. Values are then shown and not written.
	unverified string
}

// chooseRules resolves --kubernetes-version: auto is what the running kubelet of
// this host says, else the Node objects of the input, else the latest.
func (n *nodeFlags) chooseRules(ctx context.Context, a *app, nodes []*corev1.Node, elsewhere bool) (rules, error) {
	if n.kubernetes != "auto" {
		minor, err := kubelet.ParseVersion(n.kubernetes)
		if err != nil || !minor.Known() {
			return rules{}, checkWord("kubernetes-version", n.kubernetes, append([]string{"auto"}, knownVersions()...)...)
		}
		return rules{minor: minor}, nil
	}
	if !elsewhere || n.live || n.hostConfig {
		text, err := n.runningVersion(ctx)
		switch {
		case errors.Is(err, nodeapi.ErrNotAsked):
			a.logger().Info("the rules are not the running kubelet's", "reason", err)
		case err != nil || text != "":
			return rulesOfKubelet(text, err), nil
		}
	}
	return rulesOfNodes(nodes)
}

// rulesOfKubelet are those of the running kubelet. One that was not built by
// Kubernetes' own scripts may say v0.0.0-master+$Format:%H$: a node is shown
// nonetheless.
func rulesOfKubelet(text string, refused error) rules {
	const who = "the kubelet of this host"
	why := fmt.Sprintf("%s names no version (%s)", who, text)
	if refused != nil {
		why = fmt.Sprintf("%s does not tell its version (%v)", who, refused)
	} else if r, err := rulesOf(who, text); err == nil {
		return r
	}
	return rules{minor: kubelet.Latest, unverified: fmt.Sprintf("%s: the rules of %s stand in", why, kubelet.Latest)}
}

// rulesOfNodes are those of the one version that Node objects tell, else the
// latest.
func rulesOfNodes(nodes []*corev1.Node) (rules, error) {
	found := rules{minor: kubelet.Latest}
	first := ""
	for _, object := range nodes {
		text := object.Status.NodeInfo.KubeletVersion
		if text == "" {
			continue
		}
		who := "node " + object.Name
		told, err := rulesOf(who, text)
		switch {
		case err != nil:
			return rules{}, err
		case first != "" && told.minor != found.minor:
			return rules{}, fmt.Errorf("%s and %s of the input have kubelets of different versions: choose one with --kubernetes-version", first, who)
		}
		found, first = told, who
	}
	return found, nil
}

// rulesOf finds the table for the version that somebody tells.
func rulesOf(who, text string) (rules, error) {
	minor, err := kubelet.ParseVersion(text)
	if err != nil {
		return rules{}, fmt.Errorf("%s: %w; choose one with --kubernetes-version", who, err)
	}
	r := rules{minor: minor.Nearest()}
	if !minor.Known() {
		r.unverified = fmt.Sprintf("%s has version %s, whose rules kqos does not know: those of %s stand in (it knows %s)", who, minor, r.minor, knownVersions())
	}
	return r, nil
}

// runningVersion is what the host's kubelet says; empty where none runs.
func (n *nodeFlags) runningVersion(ctx context.Context) (string, error) {
	k, err := nodeapi.FindKubelet(n.hostRoot)
	if k == nil || err != nil {
		return "", nil
	}
	ctx, cancel := n.asking(ctx)
	defer cancel()
	return k.Version(ctx, n.hostRoot)
}

// scenarioRules are those for what names no node.
func (n *nodeFlags) scenarioRules(ctx context.Context, a *app) (kubelet.Minor, error) {
	anywhere := *n
	anywhere.live, anywhere.hostConfig = false, false
	r, err := anywhere.chooseRules(ctx, a, nil, true)
	return r.minor, err
}

// knownVersions lists the tables.
func knownVersions() []string {
	var all []string
	for _, minor := range kubelet.Versions() {
		all = append(all, minor.String())
	}
	return all
}
