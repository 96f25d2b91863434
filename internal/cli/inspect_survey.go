package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/nodeapi"
)

// survey is all that an inspection of a node needs to know beforehand.
type survey struct {
	inspect.Inspection
	node   *node
	target string
	// notes say what could not be learnt.
	notes []string
}

func (s *survey) note(format string, args ...any) {
	s.notes = append(s.notes, fmt.Sprintf(format, args...))
}

// alive tells whether the root is that of a running host, whose figures move.
func (s *survey) alive() bool {
	_, err := os.Stat(filepath.Join(s.Root, "proc/uptime"))
	return err == nil
}

// survey learns whose the cgroups are and what they should be. Only what makes
// an answer impossible is an error.
//
// Half of --timeout is for asking, be it in vain; the other is for the tree.
func (o *inspectOptions) survey(ctx context.Context, a *app, target string) (s *survey, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	until := time.Now().Add(o.timeout / 2)
	asking, cancelAsking := context.WithDeadline(ctx, until)
	defer cancelAsking()
	h, err := inspect.Open(o.node.hostRoot)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			h.Close()
		}
	}()
	flags := *o // reading adds the arguments to the flags
	flags.node.askUntil = until
	stateDir := or(o.stateDir, o.node.kubeletDir())
	q := o.inquire(asking, stateDir)
	in, n, err := flags.pods.loadAny(ctx, a, nil, &flags.node)
	if err != nil {
		return nil, err
	}
	if n.cgroupVersion != h.Version() {
		return nil, fmt.Errorf("--cgroup-version %d: this host has v%d, and inspect shows what is there", n.cgroupVersion, h.Version())
	}
	s = &survey{node: n, target: target, Inspection: inspect.Inspection{
		Root: o.node.hostRoot, Hierarchy: h, Owners: inspect.HostOwners(o.node.hostRoot), Machine: n.machine,
	}}
	roots := h.PodRoots()
	n.driver = o.shape(n, roots)
	w := &wanted{in: in, node: n, pods: flags.expand(in), incomplete: flags.incomplete(n, in)}
	if len(w.pods) == 0 {
		q.askPods(asking, o.node.hostRoot)
	}
	q.askRuntime(asking, flags.node.runtimeSockets(n.config))
	s.meet(w, q)
	s.Pods = w.pods
	if partial := h.Partial(s.Root); partial != "" {
		s.note("%s%s", onlyContainer, partial)
	}
	s.own(w, h.Walk("/"), o.complete)
	s.wish(&flags, a, w, roots)
	s.Systemd = existing(nodeapi.SystemdSockets(s.Root))
	s.Exclusive = s.exclusive(q, stateDir, o.stateDir != "", n.config)
	return s, s.choose(o.all, roots, n.config)
}

// shape tells the driver by the cgroups that are there, where nothing says it
// outright.
func (o *inspectOptions) shape(n *node, roots []string) string {
	if o.node.driver != "auto" || n.config.Written["cgroupDriver"] || len(roots) == 0 {
		return n.driver
	}
	if strings.HasSuffix(roots[0], ".slice") {
		return cgroups.Systemd
	}
	return cgroups.Cgroupfs
}

// meet learns names: of the pods given, else those that the kubelet tells, and of
// the runtime's containers.
func (s *survey) meet(w *wanted, q *inquiry) {
	for _, pod := range w.pods {
		s.adoptUID(pod, w.in.reading == admission.Static)
	}
	s.Owners.Add(w.pods)
	if len(w.pods) == 0 && q.pods != nil {
		if pods, err := q.pods(); err != nil {
			s.note("the kubelet does not tell its pods: %v", err)
		} else {
			w.pods, w.fromKubelet, w.incomplete = pods, true, ""
			s.Owners.AddKubelet(pods)
		}
	}
	if q.containers == nil {
		return
	}
	containers, err := q.containers()
	if err != nil {
		s.note("the runtime does not tell its containers: %v", err)
	}
	s.Owners.AddRuntime(containers)
}

// adoptUID gives a pod of a manifest the UID of its namesake on the node.
func (s *survey) adoptUID(pod *corev1.Pod, static bool) {
	if s.Owners.OnNode(cgroups.PodUID(pod)) {
		return
	}
	namespace := or(pod.Namespace, corev1.NamespaceDefault)
	uid := s.Owners.UID(namespace, pod.Name)
	if uid == "" && static {
		uid = s.Owners.StaticUID(namespace, pod.Name)
	}
	if uid != "" {
		pod.UID = types.UID(uid)
	}
}

// own takes the pods given for all of the node's where each that has a cgroup is
// one of them.
func (s *survey) own(w *wanted, paths []string, complete bool) {
	if w.fromKubelet || complete || len(w.pods) == 0 {
		return
	}
	given := map[string]bool{}
	for _, pod := range w.pods {
		given[cgroups.PodUID(pod)] = true
	}
	for _, path := range paths {
		if id := inspect.Identify(path); id.Level == cgroups.LevelPod && !given[id.PodUID] {
			return
		}
	}
	w.incomplete = ""
}

// wish computes what should be, as apply does. Where that is not known there is
// no drift.
func (s *survey) wish(o *inspectOptions, a *app, w *wanted, roots []string) {
	findings, _ := startFindings(w.node)
	switch {
	case w.node.config.Source == "" && len(w.pods) == 0:
		s.note("no drift is told: the kubelet's configuration is unknown; name it with --config")
		return
	case len(findings) > 0:
		s.note("no drift is told: with this configuration the kubelet would not start: %s", findings[0].Message)
		return
	case len(w.pods) == 0 && len(roots) > 0:
		s.note("no drift of pods and containers is told: name their manifests with -f; the kubelet tells none over its PodsAPI")
	}
	if err := o.place(a, w); err != nil {
		s.note("where containers should be placed is unknown: %v", err)
	}
	o.desire(w)
	if _, told := w.node.capacity[allocatable.ResourcePID]; !told {
		forgetPIDs(w.tree)
	}
	for _, err := range leaves(w.err) {
		if err != nil {
			s.note("%v", err)
		}
	}
	s.Want, s.Unverified = &w.tree, w.node.unverified != ""
}

// forgetPIDs drops the pids limit of kubepods where it is only assumed: that it
// reads otherwise is no drift.
func forgetPIDs(tree cgroups.Tree) {
	for i := range tree.Cgroups {
		if c := &tree.Cgroups[i]; c.Level == cgroups.LevelNode {
			delete(c.Files, "pids.max")
			delete(c.Files, "pids/pids.max")
		}
	}
}

// exclusive are the CPUs that containers have for themselves: by the CPU
// manager's checkpoint, else by what the kubelet serves.
func (s *survey) exclusive(q *inquiry, dir string, named bool, c *kubelet.Config) map[string]map[string]cpuset.CPUSet {
	file := filepath.Join(dir, kubelet.CPUManagerStateFile)
	blob, err := input.File(file, input.Config)
	if err == nil {
		state, err := kubelet.ReadCPUManagerState(blob, "", c.Gates)
		if err == nil {
			return withPods(state)
		}
		s.note("reading %s: %v", file, err)
	} else if named || !errors.Is(err, fs.ErrNotExist) {
		s.note("reading the CPU manager's checkpoint: %v", err)
	}
	if q.cpus == nil {
		return nil
	}
	given, err := q.cpus()
	if err != nil {
		s.note("%v", err)
	}
	byName := map[cgroups.PodRef]map[string]cpuset.CPUSet{}
	for _, g := range given {
		ref := cgroups.PodRef{Namespace: g.Namespace, Name: g.Pod}
		if byName[ref] == nil {
			byName[ref] = map[string]cpuset.CPUSet{}
		}
		byName[ref][g.Container] = g.CPUs
	}
	return s.Owners.Entries(byName)
}

// withPods are the CPUs of a checkpoint by pod and container, those of a pod as a
// whole under the empty name.
func withPods(state *kubelet.CPUManagerState) map[string]map[string]cpuset.CPUSet {
	all := map[string]map[string]cpuset.CPUSet{}
	for uid, containers := range state.Entries {
		all[uid] = maps.Clone(containers)
	}
	for uid, cpus := range state.PodEntries {
		if all[uid] == nil {
			all[uid] = map[string]cpuset.CPUSet{}
		}
		all[uid][""] = cpus
	}
	return all
}

// choose finds the cgroups to show: those at the top, and all below them.
func (s *survey) choose(all bool, roots []string, c *kubelet.Config) error {
	s.Reserved = s.reserved(c)
	switch {
	case s.target != "":
		var err error
		if roots, err = s.Hierarchy.Find(s.Root, s.target, s.Owners); err != nil {
			return err
		}
	case all:
		s.Whole, roots = true, []string{"/"}
	default:
		s.Whole = true
		if len(roots) == 0 {
			s.note("there is no kubepods cgroup: no kubelet works here; --all shows all that is there")
		}
		roots = slices.Concat(roots, s.Reserved)
	}
	slices.Sort(roots)
	for _, root := range roots {
		if n := len(s.Tops); n == 0 || root != s.Tops[n-1] && !strings.HasPrefix(root, strings.TrimSuffix(s.Tops[n-1], "/")+"/") {
			s.Tops = append(s.Tops, root)
		}
	}
	s.Walk()
	return nil
}

// reserved are the cgroups that the configuration names for reservations, be
// they enforced or not.
func (s *survey) reserved(c *kubelet.Config) []string {
	var paths []string
	for _, text := range []string{c.SystemReservedCgroup, c.KubeReservedCgroup} {
		path, err := cgroups.ParseDriverName(s.node.driver, text).Path(s.node.driver)
		if text != "" && err == nil && path != "/" && s.Hierarchy.Exists(path) {
			paths = append(paths, path)
		}
	}
	return paths
}
