package collect

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/nodeapi"
)

// unitOf is the unit of a cgroup of which it is told what systemd holds: a slice,
// as all reserved cgroups are under systemd, or what lies below the kubelet's.
func unitOf(at string) string {
	unit := cgroups.UnitOf(at)
	if strings.HasSuffix(unit, ".slice") || strings.Contains(at, "kubepods") {
		return unit
	}
	return ""
}

// addUnits adds what systemd holds of the units, as far as it writes control files
// from it: figures of use among a unit's properties would differ each time.
func (c *Collection) addUnits(ctx context.Context) {
	sources := slices.DeleteFunc(nodeapi.SystemdSockets(c.root), func(file string) bool {
		_, err := os.Stat(file)
		return err != nil
	})
	slices.Sort(c.units)
	names := slices.Compact(c.units)
	if _, err := os.Stat(filepath.Join(c.root, "run/systemd/system")); err != nil || len(sources) == 0 || len(names) == 0 {
		return
	}
	units, err := nodeapi.Units(ctx, sources, names)
	if err != nil {
		c.note("what systemd holds of its units is told of %d of %d only: %v", len(units), len(names), err)
	}
	if len(units) == 0 {
		return
	}
	for name, unit := range units {
		kept := map[string]string{}
		for _, property := range cgroups.ReloadedProperties() {
			if value, ok := unit.Properties[property]; ok {
				kept[property] = value
			}
		}
		unit.Properties = kept
		units[name] = unit
	}
	text, err := json.MarshalIndent(units, "", " ")
	if err != nil {
		c.note("%s: %v", nodeapi.UnitsFile, err)
		return
	}
	c.put(Entry{Path: nodeapi.UnitsFile, content: text})
}
