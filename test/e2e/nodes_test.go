//go:build e2e

package e2e

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// -update-nodes puts the archives that the guests make into testdata/nodes.
var updateNodes = flag.Bool("update-nodes", false, "rewrite testdata/nodes")

// finding is what must be found on a node that collect.sh broke.
type finding struct {
	// checks are those of doctor that are neither ok nor skipped.
	checks map[string]string
	// drift are the cgroups' names and files that inspect finds changed.
	drift []string
	leaks int
}

func findings() map[string]finding {
	return map[string]finding{
		"healthy-v2":      {},
		"v1":              {checks: map[string]string{"cgroup-version": "warn", "psi": "warn"}},
		"drifted":         {drift: []string{"burstable cpu.weight", "database memory.max", "envoy cpu.max", "postgres cpuset.cpus"}},
		"leaked":          {checks: map[string]string{"leaks": "warn"}, leaks: 2},
		"torn-state":      {checks: map[string]string{"cpu-state": "fail"}},
		"driver-mismatch": {checks: map[string]string{"driver-agreement": "fail"}},
	}
}

// checkArchives compares, for each archive that a guest left, what the commands
// say of it on this host with what they said in the guest, and with what is
// known to be wrong there.
func checkArchives(t *testing.T, folder, out string) {
	t.Helper()
	archives, err := filepath.Glob(filepath.Join(out, "*.tar.gz"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "commands"))
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
		t.Run(name, func(t *testing.T) {
			compared := 0
			for line := range strings.Lines(string(text)) {
				words := strings.Fields(line)
				there, ran := inGuest(t, filepath.Join(out, name, words[0]))
				if !ran {
					continue
				}
				compared++
				here := elsewhere(t, folder, archive, words[1:])
				if diff := cmp.Diff(there, here); diff != "" {
					t.Errorf("kqos %s, -in the guest +with --host-root:\n%s", strings.Join(words[1:], " "), diff)
				}
			}
			if compared < 3 {
				t.Errorf("only %d commands were compared", compared)
			}
			want, known := findings()[name]
			if !known {
				t.Error("nobody says what is wrong with this node")
			}
			if diff := cmp.Diff(want, found(t, filepath.Join(out, name)), cmp.AllowUnexported(finding{})); diff != "" {
				t.Errorf("what is wrong with the node (-want +got):\n%s", diff)
			}
		})
		if *updateNodes {
			if err := exec.Command("cp", archive, "../../testdata/nodes").Run(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// ofSystemd is the check that asks the systemd of the node, which no archive has.
// The guests' containers fail it: their limits are written into files alone.
const ofSystemd = "daemon-reload"

// answer is what a command printed, and its exit code.
type answer struct {
	Code   int
	Object any
}

func elsewhere(t *testing.T, folder, archive string, args []string) answer {
	t.Helper()
	cmd := exec.Command("./kqos", append(slices.Clone(args), "-o", "json", "--host-root", archive)...)
	cmd.Dir = folder
	out, err := cmd.Output()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return answer{cmd.ProcessState.ExitCode(), lasting(t, out)}
}

func inGuest(t *testing.T, file string) (said answer, ran bool) {
	t.Helper()
	text, err := os.ReadFile(file + ".code")
	if os.IsNotExist(err) {
		return answer{}, false
	}
	code, wrong := strconv.Atoi(strings.TrimSpace(string(text)))
	out, missing := os.ReadFile(file + ".json")
	if err != nil || wrong != nil || missing != nil {
		t.Fatal(err, wrong, missing)
	}
	return answer{code, lasting(t, out)}, true
}

// found reads what doctor and inspect said in the guest.
func found(t *testing.T, folder string) finding {
	t.Helper()
	var doctor struct {
		Checks []struct{ ID, Status string }
	}
	var inspect struct {
		Cgroups []struct {
			Path      string
			Pod       struct{ Name string }
			Container string
			Drift     []struct{ File string }
		}
		Leaks []any
	}
	for file, into := range map[string]any{"doctor.json": &doctor, "inspect.json": &inspect} {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", file, err, text)
		}
	}
	f := finding{leaks: len(inspect.Leaks)}
	for _, c := range doctor.Checks {
		if (c.Status == "warn" || c.Status == "fail") && c.ID != ofSystemd {
			if f.checks == nil {
				f.checks = map[string]string{}
			}
			f.checks[c.ID] = c.Status
		}
	}
	tier := regexp.MustCompile(`kubepods-([a-z]+)\.slice$`)
	for _, cg := range inspect.Cgroups {
		name := cg.Pod.Name
		if cg.Container != "" {
			name = cg.Container
		} else if m := tier.FindStringSubmatch(cg.Path); m != nil {
			name = m[1]
		}
		for _, d := range cg.Drift {
			f.drift = append(f.drift, name+" "+d.File)
		}
	}
	slices.Sort(f.drift)
	return f
}

// lasting is an object without what changes from one look to the next.
func lasting(t *testing.T, text []byte) any {
	t.Helper()
	if len(text) == 0 {
		return nil
	}
	// An archive is unpacked somewhere to be read, and holds no names of processes.
	text = regexp.MustCompile(`/tmp/kqos-host-[0-9]+|: [0-9]+ sleep`).ReplaceAll(text, nil)
	var object any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return without(object)
}

// without drops what differs from one moment to the next, and what no archive
// holds: the size of file systems, what each process may use, what systemd says.
func without(object any) any {
	fleeting := []string{
		"usage", "source", "machine", "evidence", "ephemeral-storage", "nodefs.available", "intruders", "alignment", "writer",
	}
	switch o := object.(type) {
	case map[string]any:
		maps.DeleteFunc(o, func(key string, _ any) bool { return slices.Contains(fleeting, key) })
		for key, value := range o {
			if o[key] = without(value); o[key] == nil {
				delete(o, key)
			}
		}
	case []any:
		o = slices.DeleteFunc(o, func(element any) bool {
			term, _ := element.(map[string]any)
			note, _ := element.(string)
			return term["resource"] == "ephemeral-storage" || term["id"] == ofSystemd || strings.HasPrefix(note, "where the memory of ")
		})
		for i, value := range o {
			o[i] = without(value)
		}
		if len(o) == 0 {
			return nil
		}
		return o
	}
	return object
}
