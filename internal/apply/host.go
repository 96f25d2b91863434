// Package apply makes a live tree of cgroups like a wanted one: it plans what
// differs, in an order that the kernel takes, leaves out what would hurt
// somebody, writes the rest, and does so again until it is stopped.
//
//	plan, err := apply.Make(tree, host, apply.Options{Adopt: true}, memory)
//	result := plan.Execute(ctx, host, logger)
package apply

import (
	"time"

	"github.com/kqos/kqos/internal/cgroups"
)

// Reader is how apply looks at the host. Reading changes nothing.
type Reader interface {
	// Read gives a cgroup with those control files that it is wanted to have.
	Read(cg *cgroups.Cgroup) (cgroups.Live, error)
	// ReadFile reads one control file, keyed as Cgroup.Files; the error is
	// os.ErrNotExist when there is none.
	ReadFile(path, file string) (string, error)
	// Children lists the names of the cgroups right below one.
	Children(path string) ([]string, error)
	// Controllers lists the controllers that a cgroup may use and those that its
	// children get.
	Controllers(path string) (available, enabled []string, err error)
	// Holds names what forbids to remove a cgroup: a process or a cgroup that
	// kqos did not make, in it or below; "" when nothing does.
	Holds(path string) (string, error)
	// Delegated says whether systemd has handed what lies below a cgroup over to
	// another, who is the only one to write there.
	Delegated(path string) (bool, error)
	// Recall gives what Keep left on a cgroup, "" when nothing.
	Recall(path string) (string, error)
}

// Host is what apply needs of a driver.
type Host interface {
	Reader
	// Create makes a cgroup whose parent exists and marks it as kqos's. It may be
	// repeated.
	Create(cg *cgroups.Cgroup) error
	// Set writes control files of a cgroup and nothing else.
	Set(cg *cgroups.Cgroup, files map[string]string) error
	// Keep leaves a text on a cgroup for later runs; it goes with the cgroup.
	Keep(path, text string) error
	// Remove removes a cgroup with all below it unless Holds names something.
	Remove(cg *cgroups.Cgroup) error
}

// Options say what apply may do.
type Options struct {
	// Adopt lets it write to cgroups that kqos did not make.
	Adopt bool
	// Prune removes pod cgroups of its own that are not wanted; Remove all of the
	// wanted tree that is its own.
	Prune, Remove bool
	// CreateReserved lets it make the cgroups that the kubelet expects to find.
	CreateReserved bool
	// Squeeze lowers memory.high before memory.max where more is in use; AllowOOM
	// writes limits below use at once.
	Squeeze, AllowOOM bool
	// Kubelet is the one that works below Root; nil when none does.
	Kubelet *Kubelet
	// Settle is how long a difference must last below a live kubelet's root
	// before it is mended.
	Settle time.Duration
	// Self are the cgroups that this process lives in, by path.
	Self []string
	// SystemdRuns says whether systemd manages this host.
	SystemdRuns bool
}

// Kubelet is what is known of a kubelet that works on the same cgroups.
type Kubelet struct {
	// Pods are those that it reports, by UID; nil when it was not asked.
	Pods map[string]PodState
}

// PodState tells what a kubelet is about to do with a pod.
type PodState struct {
	// Pending says that a resize or a deletion is under way.
	Pending bool
}
