package driver

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/kqos/kqos/internal/cgroups"
)

// A unit file is for a reserved slice of kqos's own. On v1 the system.slice of
// systemd lacks folders too, and keeps its own unit.
func TestLasts(t *testing.T) {
	reserved := &cgroups.Cgroup{Path: "/any.slice", Unit: "any.slice", Level: cgroups.LevelReserved}
	for _, c := range []struct {
		name string
		cg   *cgroups.Cgroup
		// foreign and marked are the hierarchies where it stands.
		foreign, marked []string
		want            bool
	}{
		{name: "nothing stands", cg: reserved, want: true},
		{name: "made in part", cg: reserved, marked: []string{"memory"}, want: true},
		{name: "another's, which lacks folders", cg: reserved, foreign: []string{"memory", "pids"}},
		{name: "another's, which kqos completed once", cg: reserved, foreign: []string{"memory"}, marked: []string{"cpuset"}},
		{name: "a pod", cg: &cgroups.Cgroup{Path: "/any.slice", Unit: "any.slice", Level: cgroups.LevelPod}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mounts := map[string]string{}
			for _, name := range []string{"memory", "pids", "cpuset"} {
				mounts[name] = t.TempDir()
			}
			d := &Driver{kind: Systemd, primary: "memory", mounts: mounts, files: newDescriptors()}
			for _, name := range append(c.foreign, c.marked...) {
				if err := os.Mkdir(mounts[name]+c.cg.Path, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range c.marked {
				err := d.setMarks([]string{mounts[name] + c.cg.Path})
				if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) {
					t.Skip("needs CAP_SYS_ADMIN and extended attributes in the temporary folder: ", err)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			fresh, err := d.absent(c.cg.Path)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := d.lasts(c.cg, fresh); got != c.want || err != nil {
				t.Errorf("%v, %v; want %v", got, err, c.want)
			}
		})
	}
}
