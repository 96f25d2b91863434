package cli

import (
	"errors"
	"os"
	"path"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
)

// capturedTree is a tree that is only to be read: that of an archive, or of a host
// whose cgroups are mounted elsewhere. An archive bears no marks, so nothing in
// it counts as made by kqos.
type capturedTree struct{ tree *inspect.Hierarchy }

// Read is apply.Reader's.
func (c capturedTree) Read(cg *cgroups.Cgroup) (cgroups.Live, error) {
	live := cgroups.Live{Exists: c.tree.Whole(cg.Path), Files: map[string]string{}}
	keys := make([]string, 0, len(cg.Files)+len(cg.Unknown))
	for key := range cg.Files {
		keys = append(keys, key)
	}
	for key := range cg.Unknown {
		keys = append(keys, key)
	}
	for _, key := range keys {
		text, err := c.tree.Read(cg.Path, key)
		switch {
		case err == nil:
			live.Files[key] = text
		case !errors.Is(err, os.ErrNotExist):
			return live, err
		}
	}
	return live, nil
}

// ReadFile is apply.Reader's.
func (c capturedTree) ReadFile(path, file string) (string, error) { return c.tree.Read(path, file) }

// Children is apply.Reader's.
func (c capturedTree) Children(at string) ([]string, error) {
	var names []string
	for _, child := range c.tree.Children(at) {
		names = append(names, path.Base(child))
	}
	return names, nil
}

// Controllers is apply.Reader's.
func (c capturedTree) Controllers(at string) (available, enabled []string, err error) {
	if all := c.tree.Controllers(); all != nil {
		return all, all, nil
	}
	have, err := c.tree.Read(at, "cgroup.controllers")
	if err != nil {
		return nil, nil, ignoreMissing(err)
	}
	down, err := c.tree.Read(at, "cgroup.subtree_control")
	return strings.Fields(have), strings.Fields(down), ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// Holds is apply.Reader's.
func (c capturedTree) Holds(string) (string, error) {
	return "an archive does not tell what kqos made", nil
}

// Delegated is apply.Reader's: an archive bears no attributes, and nothing is
// written to it.
func (c capturedTree) Delegated(string) (bool, error) { return false, nil }

// Recall is apply.Reader's: an archive bears no attributes.
func (c capturedTree) Recall(string) (string, error) { return "", nil }

// Self is empty: this process lives in no cgroup of the archive.
func (c capturedTree) Self() ([]string, error) { return nil, nil }

// Close releases what reading keeps open.
func (c capturedTree) Close() { c.tree.Close() }
