package doctor

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kqos/kqos/internal/nodeapi"
)

// TestReloads finds what systemd would write over, and nothing where file and
// property agree, or the kernel has no such file.
func TestReloads(t *testing.T) {
	files := map[string]string{"cpu.weight": "39", "memory.max": "4096", "cpu.max": "50000 100000", "cpuset.cpus": "2-3", "pids.max": "max"}
	unit := nodeapi.Unit{Name: "c.scope", Delegated: true, Properties: map[string]string{
		"CPUWeight": "39", "MemoryMax": "infinity", "CPUQuotaPerSecUSec": "500000", "AllowedCPUs": "", "TasksMax": "infinity", "MemoryHigh": "4096",
	}}
	got := reloads("/a/c.scope", unit, 2, func(file string) (string, error) {
		text, ok := files[file]
		if !ok {
			return "", os.ErrNotExist
		}
		return text, nil
	})
	want := []Reload{
		{Path: "/a/c.scope", Unit: "c.scope", File: "cpuset.cpus", Have: "2-3", Sets: "", Delegated: true},
		{Path: "/a/c.scope", Unit: "c.scope", File: "memory.max", Have: "4096", Sets: "max", Delegated: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
}
