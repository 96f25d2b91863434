package apply

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/kqos/kqos/internal/cgroups"
)

// A file that was rewritten this often within this time is fought over.
const (
	maxRewrites   = 3
	rewriteWindow = 10 * time.Minute
)

// records tell by file what was written to a cgroup.
type records map[string]record

// record is what is known of one file. It is kept on the cgroup as JSON.
type record struct {
	// Value was written last.
	Value string `json:"value"`
	// Rewritten are the last times, in Unix seconds, at most maxRewrites, when it
	// was written again because another had changed it.
	Rewritten []int64 `json:"rewritten,omitempty"`
	// Contended says that another writer has won.
	Contended bool `json:"contended,omitempty"`
}

// recall reads what earlier runs left on a cgroup.
func (m *Memory) recall(host Reader, path string) error {
	if m.afresh || m.loaded[path] {
		return nil
	}
	m.loaded[path] = true
	text, err := host.Recall(path)
	if err != nil || text == "" || m.records[path] != nil {
		return err
	}
	// What can't be read is as good as nothing; the next write replaces it.
	kept := records{}
	if json.Unmarshal([]byte(text), &kept) == nil {
		m.records[path] = kept
	}
	return nil
}

// save leaves on the cgroups what later runs need to know. What can't be left
// there, for want of a right, lasts as long as this run.
func (m *Memory) save(host Host, logger *slog.Logger) {
	for _, path := range slices.Sorted(maps.Keys(m.unsaved)) {
		text, err := json.Marshal(m.records[path])
		if err == nil {
			err = host.Keep(path, string(text))
		}
		if err != nil {
			logger.Warn("the next run will not know what was written here", "path", path, "error", err.Error())
		}
	}
	clear(m.unsaved)
}

// made begins the records of a cgroup anew: its files are written for the first
// time.
func (m *Memory) made(path string) {
	m.gone(path)
	m.records[path] = records{}
	m.loaded[path] = true
}

func (m *Memory) gone(path string) {
	delete(m.records, path)
	delete(m.loaded, path)
	delete(m.unsaved, path)
}

// written notes a write. Writing the value again that was last written means
// that another changed it back, and so does a first write to a file of a cgroup
// that kqos made, and thereby wrote, before.
func (m *Memory) written(path, file, value string, fresh, ours bool) {
	delete(m.first, fileOf{path, file})
	if m.records[path] == nil {
		m.records[path] = records{}
	}
	r, known := m.records[path][file]
	switch {
	case fresh || (!known && !ours) || (known && r.Value != value):
		r = record{Value: value}
	default:
		r.Value = value
		r.Rewritten = append(m.recent(r), m.Now().Unix())
	}
	m.records[path][file] = r
	if !fresh {
		m.unsaved[path] = true
	}
}

// recent are the rewrites within the window.
func (m *Memory) recent(r record) []int64 {
	since := m.Now().Add(-rewriteWindow).Unix()
	return slices.DeleteFunc(slices.Clone(r.Rewritten), func(at int64) bool { return at <= since })
}

// fought says whether a file is fought over. Once it is, it stays so for this
// value.
func (m *Memory) fought(path, file, value string) bool {
	r, known := m.records[path][file]
	if !known || r.Value != value {
		return false
	}
	if !r.Contended && len(m.recent(r)) >= maxRewrites {
		r.Contended = true
		m.records[path][file] = r
		m.unsaved[path] = true
	}
	return r.Contended
}

// Contended counts the files that are left to another writer.
func (m *Memory) Contended() int {
	n := 0
	for _, files := range m.records {
		for _, r := range files {
			if r.Contended {
				n++
			}
		}
	}
	return n
}

// contended leaves a file to another writer.
func (p *Plan) contended(cg *cgroups.Cgroup, c cgroups.Change) string {
	if c.Op != cgroups.OpUpdate || !p.memory.fought(c.Path, c.File, c.To) {
		return ""
	}
	return fmt.Sprintf("contended: written again %d times within %s and changed back each time, likely by %s; kqos leaves it until another value is wanted, or a SIGHUP or --retry-contended says to try again", maxRewrites, rewriteWindow, likelyWriter(cg, c.File))
}

// likelyWriter names who else writes such a file.
func likelyWriter(cg *cgroups.Cgroup, file string) string {
	controller, _ := cgroups.SplitFile(file)
	switch {
	case controller == "cpuset":
		return "the kubelet's CPU manager, an NRI plugin or koordlet"
	case cg.Level == cgroups.LevelQoS || cg.Level == cgroups.LevelNode:
		return "the kubelet (each minute), koordlet or systemd"
	}
	return "an in-place resize, an NRI plugin or koordlet"
}
