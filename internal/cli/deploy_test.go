package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestDeployFlags holds the commands in deploy/ to the flags that there are.
func TestDeployFlags(t *testing.T) {
	commands := map[string][]string{}
	inText := regexp.MustCompile(`(?m)kqos (apply .*?)(?: >/dev/null)?$`)
	for _, file := range []string{"cron/kqos", "systemd/kqos.service", "systemd/kqos-once.service"} {
		for _, found := range inText.FindAllStringSubmatch(string(deployed(t, file)), -1) {
			commands[file] = strings.Fields(found[1])
		}
	}
	for _, overlay := range []string{"observe", "reconcile"} {
		var set struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct{ Args []string }
					}
				}
			}
		}
		file := "kubernetes/overlays/" + overlay + "/daemonset.yaml"
		if err := yaml.Unmarshal(deployed(t, file), &set); err != nil {
			t.Fatal(err)
		}
		for _, c := range set.Spec.Template.Spec.Containers {
			commands[file] = c.Args
		}
	}
	if len(commands) != 5 {
		t.Errorf("found commands in %d files, want 5", len(commands))
	}
	for file, args := range commands {
		a := &app{System: System{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}, Getenv: os.Getenv}}
		cmd, rest, err := newRoot(a).Find(args)
		if err != nil || !oneOf(cmd.Name(), "apply", "inspect") {
			t.Errorf("%s: %v: %v", file, args, err)
			continue
		}
		if err := cmd.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func deployed(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
