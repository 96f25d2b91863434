package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/manifest"
	"github.com/kqos/kqos/internal/nodeapi"
)

// unsure is why a sum over pods is left alone.
const unsure = "a sum over all pods of the node, and the pods given may not be all"

// incomplete tells why the pods may not be all of the node's. A node that is
// described in files has the pods of those files.
func (o *planOptions) incomplete(n *node, in *podInput) string {
	if o.complete || (n.elsewhere && !o.node.live) {
		return ""
	}
	list := kubeletList(in.Workloads)
	if list == nil {
		return unsure + ": say --pods-complete if they are"
	}
	// What was read as if it were created anew has lost which pods have ended.
	if in.reading != admission.AsWritten {
		return unsure + ": the list is a kubelet's own; with --as-written it counts as all that it has"
	}
	if name, of := o.hostname(), in.podOf(list).Spec.NodeName; name != of {
		return fmt.Sprintf("%s: the list is that of the kubelet of node %s and this host is %s: say --pods-complete if that is the same", unsure, of, or(name, "unnamed"))
	}
	return ""
}

// kubeletList finds the list among the inputs that a kubelet answered to GET
// /pods, which names all its pods; nil where there is none. A kubelet tells in
// each where it has it from, and that annotation never reaches the API server
// but with mirror pods; an API server gives its lists a resourceVersion. A list
// that somebody took pods out of afterwards looks the same.
//
// kubelet v1.37: pkg/kubelet/server/server.go encodePods,
// pkg/kubelet/config/config.go localAnnotations
func kubeletList(workloads []manifest.Workload) *manifest.List {
	found := map[*manifest.List]int{}
	node := ""
	for i := range workloads {
		w := &workloads[i]
		l := w.List
		if l == nil || l.Kind != "PodList" || l.ResourceVersion+l.Continue != "" {
			continue
		}
		if w.Pod.Annotations[kubelet.SourceAnnotation] == "" || w.Pod.Spec.NodeName == "" {
			return nil
		}
		if found[l]++; found[l] > 1 && w.Pod.Spec.NodeName != node {
			return nil
		}
		node = w.Pod.Spec.NodeName
	}
	for l, n := range found {
		if n == l.Items && len(found) == 1 {
			return l
		}
	}
	return nil
}

// podOf is the first pod of a list.
func (in *podInput) podOf(list *manifest.List) *corev1.Pod {
	for i := range in.Workloads {
		if in.Workloads[i].List == list {
			return in.Workloads[i].Pod
		}
	}
	return &corev1.Pod{}
}

// hostname is the name that this host's kubelet gives its node, "" where it
// can't be told.
//
// kubelet v1.37: component-helpers/node/util/hostname.go GetHostname
func (o *planOptions) hostname() string {
	if k, err := nodeapi.FindKubelet(o.node.hostRoot); err == nil && k != nil && k.Hostname != "" {
		return nodeName(k.Hostname)
	}
	if o.node.hostRoot == "/" {
		name, _ := os.Hostname()
		return nodeName(name)
	}
	name, _ := input.File(filepath.Join(o.node.hostRoot, "etc/hostname"), input.Config)
	return nodeName(string(name))
}

func nodeName(text string) string { return strings.ToLower(strings.TrimSpace(text)) }

// confirm looks whether the host has pods that a list taken for complete lacks.
func (w *wanted) confirm(host apply.Reader) error {
	known := map[string]bool{}
	for i := range w.in.Workloads {
		known[cgroups.PodUID(w.in.Workloads[i].Pod)] = true
	}
	at, err := apply.UnknownPod(w.tree, host, known)
	if at != "" {
		w.incomplete = fmt.Sprintf("%s: the list lacks the pod of cgroup %s", unsure, at)
	}
	return err
}
