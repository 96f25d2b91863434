package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// parsedOnly are the examples that no test can run, with the reason: their flags
// are read all the same.
var parsedOnly = map[string]string{
	"sudo kqos apply pods/ --watch --interval 5s --metrics-address :9099":           "writes this host's cgroups until it is told to end; test/e2e does",
	"sudo kqos apply pods/ -o json > done.json && sudo kqos apply --undo done.json": "takes back what was written on this host; test/e2e does",
}

// Programs that examples call besides kqos, as far as kubectl is not the one of
// testdata/fleet/bin.
var examplePrograms = map[string]string{
	"sudo": `exec "$@"`,
	"ssh":  `shift; exec "$@"`, // ssh NODE COMMAND...
}

// TestExamples runs every example of every help in a folder that holds what the
// examples name, as it stands but for what would reach this host: a captured
// node takes its place, apply plans only, and a watch looks once.
func TestExamples(t *testing.T) {
	root, files := newRoot(&app{System: System{Getenv: os.Getenv}}), newExampleFiles(t)
	ran := 0
	for _, cmd := range everyCommand(root) {
		if cmd.HasExample() {
			for line := range strings.Lines(cmd.Example) {
				ran++
				example := strings.TrimSpace(line)
				t.Run(example, func(t *testing.T) {
					if code, messages := files.run(t, root, example); code > exitFound {
						t.Errorf("help of %s: exit code %d\n%s", cmd.CommandPath(), code, messages)
					}
				})
			}
			continue
		}
		// What only groups commands, explains, or is cobra's own has none.
		if cmd.Runnable() && cmd.HasParent() && cmd.Name() != "help" && cmd.Parent().Name() != "completion" {
			t.Errorf("%s: its help has no example", cmd.CommandPath())
		}
	}
	if ran < 40 {
		t.Errorf("%d examples were found: are they still where cobra keeps them?", ran)
	}
}

// An example is found out that misspells a command, a flag or a value, or names
// a file that is not there.
func TestExamplesThatFail(t *testing.T) {
	root, files := newRoot(&app{System: System{Getenv: os.Getenv}}), newExampleFiles(t)
	for _, example := range []string{
		"kqos classify --expcet Burstable pod.yaml",
		"kqos classify gone.yaml",
		"kqos apply --dry-run pod.yaml --driver sytemd",
		"kqos apply pod.yaml --feature-gates MemoryQuality=true",
		"kqos doctor explain cpu-sate",
		"kqos doctor --only cpu-sate",
		"kqos inspect --watch --sort name-of-pod",
		"kqos topology -o pciture",
		"kqos simulate testdata/node --pod web=",
		"kqos fleet cluster.json --configz gone/",
		"kqos clasify pod.yaml",
		"kubectl get nodes -A -o json | kqos fleet",
	} {
		if code, messages := files.run(t, root, example); code <= exitFound {
			t.Errorf("%s: exit code %d\n%s", example, code, messages)
		}
	}
}

// everyCommand lists a command and all below it.
func everyCommand(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, child := range cmd.Commands() {
		all = append(all, everyCommand(child)...)
	}
	return all
}

// exampleFiles is a folder with all that examples name.
type exampleFiles string

// newExampleFiles also puts the stand-ins for other programs in front of all others.
func newExampleFiles(t *testing.T) exampleFiles {
	folder := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	repository, err := filepath.Abs("../..")
	must(err)
	write := func(name, text string, mode os.FileMode) {
		to := filepath.Join(folder, name)
		must(os.MkdirAll(filepath.Dir(to), 0o700))
		must(os.WriteFile(to, []byte(text), mode))
	}
	for name, from := range map[string]string{
		"testdata":             "testdata",
		"captured":             "testdata/nodes/healthy",
		"configz":              "testdata/fleet/configz",
		"topologies":           "testdata/fleet/topologies",
		"kubelet.conf.d":       "testdata/kubelet-configs/with-dropins/conf.d",
		"pod.yaml":             "testdata/node/database.yaml",
		"pods.yaml":            "testdata/nodes/healthy/pods.yaml",
		"pods/database.yaml":   "testdata/node/database.yaml",
		"pods/ingress.yaml":    "testdata/node/ingress.yaml",
		"deploy.yaml":          "testdata/node/shop.yaml",
		"deploy/prod/web.yaml": "testdata/node/shop.yaml",
		"kubelet.yaml":         "testdata/kubelet-configs/reserved-cgroups.yaml",
		"old.yaml":             "testdata/kubelet-configs/kubeadm.yaml",
		"new.yaml":             "testdata/kubelet-configs/with-dropins/kubelet.yaml",
		"node.json":            "testdata/node/machine.yaml",
		"machine.json":         "testdata/node/machine.yaml",
		"node.tar.gz":          "testdata/nodes/healthy-v2.tar.gz",
		"cluster.json":         "testdata/fleet/cluster.json",
		"90-reserve.conf":      "testdata/fleet/90-reserve.conf",
	} {
		from := filepath.Join(repository, from)
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			must(os.Symlink(from, filepath.Join(folder, name)))
			continue
		}
		data, err := os.ReadFile(from)
		must(err)
		write(name, string(data), 0o600)
	}
	write("machineinfo.json", machineInfo, 0o600)
	must(unpack(t.Context(), filepath.Join(folder, "node.tar.gz"), filepath.Join(folder, "host")))
	// A kubelet that runs there would be asked for its pods.
	must(os.RemoveAll(filepath.Join(folder, "host/proc/271")))
	for name, text := range examplePrograms {
		write(filepath.Join("bin", name), "#!/bin/sh\n"+text+"\n", 0o700)
	}
	path := []string{filepath.Join(folder, "bin"), filepath.Join(repository, "testdata/fleet/bin"), os.Getenv("PATH")}
	t.Setenv("PATH", strings.Join(path, string(os.PathListSeparator)))
	return exampleFiles(folder)
}

// machineInfo is what cadvisor tells of a small machine.
const machineInfo = `{"num_cores": 2, "num_sockets": 1, "memory_capacity": 4294967296, "topology": [
 {"node_id": 0, "memory": 4294967296, "cores": [{"core_id": 0, "thread_ids": [0, 1], "socket_id": 0}]}]}`

// run runs an example by sh and gives its exit code and messages.
func (f exampleFiles) run(t *testing.T, root *cobra.Command, example string) (code int, messages string) {
	cmd := exec.Command("sh", "-c", awayFromHost(root, example))
	cmd.Dir = string(f)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), said.String()
	} else if err != nil {
		t.Fatal(err)
	}
	if len(out) == 0 && said.Len() == 0 && !strings.Contains(example, ">") {
		t.Errorf("%s: nothing was printed", example)
	}
	return 0, said.String()
}

var kqosCall = regexp.MustCompile(`kqos [^|;&>]*`)

// awayFromHost is an example with what keeps each of its kqos from this host.
func awayFromHost(root *cobra.Command, example string) string {
	only := parsedOnly[example]
	example = strings.NewReplacer(
		"/var/lib/kubelet", "host/var/lib/kubelet", "--host-root /host", "--host-root captured", " :9099", " 127.0.0.1:0",
		"$$", "100", // a process of the captured node
	).Replace(example)
	return kqosCall.ReplaceAllStringFunc(example, func(call string) string {
		cmd, _, err := root.Find(strings.Fields(call)[1:])
		if err != nil || !cmd.HasParent() {
			return call
		}
		also, names := "", func(flag string) bool { return strings.Contains(call, "--"+flag+" ") }
		if cmd.Flags().Lookup("host-root") != nil && !names("host-root") && !names("topology") {
			node := "host"
			if cmd.Name() == "inspect" {
				node = "captured" // which has processes, as an archive has not
			}
			also += " --host-root " + node
		}
		switch {
		case only != "":
			also += " --help"
		case cmd.Name() == "apply" && !names("dry-run"):
			also += " --dry-run"
		case cmd.Name() == "inspect" && names("watch"):
			also += " --count 1"
		}
		return strings.TrimRight(call, " ") + also + " "
	})
}
