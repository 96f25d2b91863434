package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/nodeapi"
)

// Cgroup is one cgroup of the node as it is.
type Cgroup struct {
	Path  string
	Level cgroups.Level
	// Pod is nil outside pods; where nobody knows its name, only the UID is set.
	Pod *cgroups.PodRef
	// Container is empty outside containers, for the sandbox, and where nobody
	// knows the name of ContainerID.
	Container, ContainerID string
	// Sandbox says that it is the pod's own container, which the runtime tells.
	Sandbox bool
	Usage   Usage
	// Rate is the share of one CPU in use, nil without a sample.
	Rate  *float64
	Files map[string]string
	Drift []Drift
	// Writers names who wrote a file that is as wanted in more than one way.
	Writers map[string]string
	// Missing says that the cgroup is wanted and not there.
	Missing bool
}

// Placed is how the CPUs and the memory of one container lie on the machine.
type Placed struct {
	Exclusive
	Alignment
}

// Report is what an inspection found.
type Report struct {
	Cgroups   []Cgroup
	Leaks     []Leak
	Intruders []Intruder
	Placed    []Placed
	// Notes say what could not be told, and why.
	Notes []string
	// Sample is to be handed to the next inspection.
	Sample Sample
}

func (r *Report) note(text string) {
	if text != "" {
		r.Notes = append(r.Notes, text)
	}
}

// Inspection is what to look at, and what to hold it against.
type Inspection struct {
	// Root is where the host's /proc is found.
	Root string
	// Hierarchy is the host's.
	Hierarchy *Hierarchy
	// Tops are the cgroups to show with all below them, and Paths what Walk found
	// of them: parents before children.
	Tops, Paths []string
	Owners      *Owners
	// Pods are those that are known with their specs.
	Pods []*corev1.Pod
	// Reserved are the paths of cgroups that hold a reservation.
	Reserved []string
	// Want is what should be; without it no drift is told. Whole says that what is
	// wanted and lies outside Paths is missing.
	Want  *cgroups.Tree
	Whole bool
	// Unverified says that Want is of another version's rules than the kubelet's.
	Unverified bool
	// Machine is nil where it is unknown; then nothing is told of alignment.
	Machine *machine.Machine
	// Exclusive are CPUs by pod UID and container name; under the empty name stand
	// those of the pod as a whole.
	Exclusive map[string]map[string]cpuset.CPUSet
	// Systemd are the sockets at which systemd answers; without one only values tell
	// who wrote them.
	Systemd []string
	// units are what systemd holds of cgroups that drifted, by path.
	units map[string]nodeapi.Unit
	// Before is an earlier sample to take rates from.
	Before Sample
}

// Walk lists the cgroups that are there now.
func (i *Inspection) Walk() {
	i.Paths = nil
	for _, top := range i.Tops {
		i.Paths = append(i.Paths, i.Hierarchy.Walk(top)...)
	}
}

// Run reads the node. It ends early, with a note, when ctx does.
func (i *Inspection) Run(ctx context.Context) *Report {
	r := &Report{}
	h := i.Hierarchy
	defer h.Close()
	h.learnPageSizes(i.Paths)
	w := i.wants()
	r.Sample = Sample{at: make(map[string]reading, len(i.Paths)), uptime: uptime(i.Root)}
	read := make(map[string]int, len(i.Paths))
	r.Cgroups = make([]Cgroup, 0, len(i.Paths))
	for n, path := range i.Paths {
		if err := ctx.Err(); err != nil {
			r.Notes = append(r.Notes, stopped(err, n, len(i.Paths)))
			break
		}
		var above *Cgroup
		if at, ok := read[parent(path)]; ok {
			above = &r.Cgroups[at]
		}
		c := i.read(path, above)
		read[path] = len(r.Cgroups)
		i.judge(&c, w)
		if c.Usage.CPU != nil {
			now := reading{time.Now(), *c.Usage.CPU}
			r.Sample.at[path] = now
			if r.Sample.moved(i.Before) {
				c.Rate = i.Before.rate(path, now)
			}
		}
		r.Cgroups = append(r.Cgroups, c)
	}
	if ctx.Err() == nil {
		r.note(i.askSystemd(ctx, r.Cgroups, w))
		r.Cgroups = append(r.Cgroups, i.missing(w)...)
		r.Leaks = h.Leaks(i.Root, i.Paths, i.Owners)
		i.exclusive(ctx, r)
	}
	if err := h.Unreadable(); err != nil {
		r.Notes = append(r.Notes, err.Error())
	}
	return r
}

func stopped(err error, n, all int) string {
	return fmt.Sprintf("stopped after %d of %d cgroups: %s", n, all, reason(err))
}

func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "the time was up (--timeout)"
	}
	return "interrupted"
}
