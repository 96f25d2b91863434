package apply

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/kqos/kqos/internal/cgroups"
)

// errKilled is what every call answers once the fake process was killed.
var errKilled = errors.New("killed")

// fake is a v2 host in memory. It refuses what the kernel refuses, kills where
// the kernel kills, and can be told to fail or die at an operation.
type fake struct {
	turn   atomic.Int64
	groups map[string]*group
	offers []string
	// failAt is the operation (create, set, remove; from 1) that answers err;
	// killAt the one that nothing is done after.
	failAt, killAt int
	err            error
	ops            int
	dead           bool
	oomKills       int
	keeps          int
	writes         []string
	// before runs before each operation, to play another writer.
	before func(op, at string)
}

type group struct {
	marked bool
	kept   string
	// delegated is what systemd marks units with Delegate= by.
	delegated bool
	files     map[string]string
	procs     int
}

func newFake() *fake {
	f := &fake{groups: map[string]*group{}, offers: []string{"cpu", "cpuset", "memory", "pids"}}
	f.add("/", false)
	f.groups["/"].files["cgroup.controllers"] = strings.Join(f.offers, " ")
	return f
}

// add puts a cgroup in place as its kernel would make it.
func (f *fake) add(at string, marked bool) *group {
	g := &group{marked: marked, files: map[string]string{"cgroup.subtree_control": "", "cgroup.controllers": ""}}
	f.groups[at] = g
	if parent, ok := f.groups[path.Dir(at)]; ok && at != "/" {
		f.enable(g, parent.files["cgroup.subtree_control"])
	}
	return g
}

func (f *fake) enable(g *group, controllers string) {
	g.files["cgroup.controllers"] = controllers
	defaults := map[string][2]string{
		"cpu":    {"cpu.weight=100", "cpu.max=max 100000"},
		"memory": {"memory.max=max", "memory.high=max"},
		"pids":   {"pids.max=max", "pids.current=0"},
		"cpuset": {"cpuset.cpus=", "cpuset.mems="},
	}
	for c := range strings.FieldsSeq(controllers) {
		for _, d := range defaults[c] {
			file, value, _ := strings.Cut(d, "=")
			if _, ok := g.files[file]; !ok {
				g.files[file] = value
			}
		}
		if c == "memory" {
			for _, file := range []string{"memory.min", "memory.low", "memory.current"} {
				if _, ok := g.files[file]; !ok {
					g.files[file] = "0"
				}
			}
		}
	}
}

// change lets a test alter the host while a loop works on it: turn orders the
// two, which sleeping does not.
func (f *fake) change(alter func()) {
	alter()
	f.turn.Add(1)
}

func (f *fake) op(op, at string) error {
	f.turn.Add(1)
	if f.dead {
		return errKilled
	}
	if f.before != nil {
		f.before(op, at)
	}
	f.ops++
	if f.ops == f.killAt {
		f.dead = true
		return errKilled
	}
	if f.ops == f.failAt {
		return f.err
	}
	return nil
}

func (f *fake) Read(cg *cgroups.Cgroup) (cgroups.Live, error) {
	f.turn.Add(1)
	if f.dead {
		return cgroups.Live{}, errKilled
	}
	g, ok := f.groups[cg.Path]
	live := cgroups.Live{Exists: ok, Files: map[string]string{}}
	if !ok {
		return live, nil
	}
	live.Marked = g.marked
	for file := range cg.Files {
		if value, ok := g.files[file]; ok {
			live.Files[file] = value
		}
	}
	return live, nil
}

func (f *fake) ReadFile(at, file string) (string, error) {
	if f.dead {
		return "", errKilled
	}
	if g, ok := f.groups[at]; ok {
		if value, ok := g.files[file]; ok {
			return value, nil
		}
	}
	return "", fmt.Errorf("reading %s of %s: %w", file, at, os.ErrNotExist)
}

func (f *fake) Children(at string) ([]string, error) {
	var names []string
	for _, p := range slices.Sorted(maps.Keys(f.groups)) {
		if p != "/" && path.Dir(p) == at {
			names = append(names, path.Base(p))
		}
	}
	return names, nil
}

func (f *fake) Controllers(at string) (available, enabled []string, err error) {
	g, ok := f.groups[at]
	if !ok {
		return nil, nil, nil
	}
	return strings.Fields(g.files["cgroup.controllers"]), strings.Fields(g.files["cgroup.subtree_control"]), nil
}

func (f *fake) Holds(at string) (string, error) {
	for _, p := range slices.Sorted(maps.Keys(f.groups)) {
		g := f.groups[p]
		switch {
		case !within(p, at):
		case g.procs > 0:
			return "a process lives in " + p, nil
		case !g.marked:
			return p + " was not made by kqos", nil
		}
	}
	return "", nil
}

func (f *fake) Delegated(at string) (bool, error) {
	g, ok := f.groups[at]
	return ok && g.delegated, nil
}

func (f *fake) Recall(at string) (string, error) {
	if g, ok := f.groups[at]; ok {
		return g.kept, nil
	}
	return "", nil
}

func (f *fake) Keep(at, text string) error {
	if f.dead {
		return errKilled
	}
	if g, ok := f.groups[at]; ok {
		g.kept = text
		f.keeps++
	}
	return nil
}

func (f *fake) Create(cg *cgroups.Cgroup) error {
	if err := f.op("create", cg.Path); err != nil {
		return err
	}
	if _, ok := f.groups[path.Dir(cg.Path)]; !ok {
		return fmt.Errorf("creating cgroup %s: %w", cg.Path, os.ErrNotExist)
	}
	if _, ok := f.groups[cg.Path]; !ok {
		f.add(cg.Path, true)
	}
	return nil
}

func (f *fake) Set(cg *cgroups.Cgroup, files map[string]string) error {
	if err := f.op("set", cg.Path); err != nil {
		return err
	}
	g, ok := f.groups[cg.Path]
	if !ok {
		return fmt.Errorf("cgroup %s: %w", cg.Path, syscall.ENODEV)
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if _, ok := g.files[file]; !ok {
			return fmt.Errorf("writing %s of cgroup %s: %w", file, cg.Path, os.ErrNotExist)
		}
		f.write(g, cg.Path, file, files[file])
	}
	return nil
}

func (f *fake) write(g *group, at, file, value string) {
	f.writes = append(f.writes, fmt.Sprintf("%s %s=%s", at, file, value))
	switch file {
	case "cgroup.subtree_control":
		have := strings.Fields(g.files[file])
		for c := range strings.FieldsSeq(value) {
			if c = strings.TrimPrefix(c, "+"); !slices.Contains(have, c) {
				have = append(have, c)
			}
		}
		slices.Sort(have)
		g.files[file] = strings.Join(have, " ")
		for p, child := range f.groups {
			if p != "/" && path.Dir(p) == at {
				f.enable(child, g.files[file])
			}
		}
		return
	case "memory.max":
		if now, _ := strconv.Atoi(g.files["memory.current"]); value != "max" {
			if limit, _ := strconv.Atoi(value); limit < now {
				f.oomKills++
			}
		}
	case "memory.high": // reclaims all of it
		if limit, err := strconv.Atoi(value); err == nil && g.files["reclaimable"] != "" {
			g.files["memory.current"] = strconv.Itoa(limit)
		}
	}
	if n, err := strconv.Atoi(value); err == nil && strings.HasPrefix(file, "memory.") {
		value = strconv.Itoa(n / 4096 * 4096)
	}
	g.files[file] = value
}

func (f *fake) Remove(cg *cgroups.Cgroup) error {
	if err := f.op("remove", cg.Path); err != nil {
		return err
	}
	if held, _ := f.Holds(cg.Path); held != "" {
		return errors.New(held)
	}
	for p := range f.groups {
		if within(p, cg.Path) {
			delete(f.groups, p)
		}
	}
	return nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// node is a wanted tree of kubepods, two tiers and n burstable pods.
func node(n int) cgroups.Tree {
	tree := cgroups.Tree{Driver: "cgroupfs", Version: 2, Cgroups: []cgroups.Cgroup{
		{Name: []string{"kubepods"}, Path: "/kubepods", Level: cgroups.LevelNode, Files: map[string]string{
			"cpu.weight": "500", "memory.max": "1073741824", "pids.max": "1000",
		}},
		{Path: "/kubepods/besteffort", Level: cgroups.LevelQoS, Files: map[string]string{"cpu.weight": "1"}},
		{Path: "/kubepods/burstable", Level: cgroups.LevelQoS, Files: map[string]string{"cpu.weight": "79"}},
	}}
	for i := range n {
		uid := fmt.Sprintf("u%d", i)
		tree.Cgroups = append(tree.Cgroups, cgroups.Cgroup{
			Path: "/kubepods/burstable/pod" + uid, Level: cgroups.LevelPod, Pod: &cgroups.PodRef{UID: uid},
			Files: map[string]string{"cpu.weight": "4", "cpu.max": "20000 100000", "memory.max": "10000000", "pids.max": "100"},
		})
	}
	return tree
}

// pass plans and executes once.
func pass(tree cgroups.Tree, f *fake, o Options, m *Memory) (*Plan, *Result, error) {
	p, err := Make(tree, f, o, m)
	return p, p.Execute(context.Background(), f, quiet()), err
}
