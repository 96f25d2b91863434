package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/nodeapi"
	"github.com/kqos/kqos/internal/simulate"
)

// Options say what to read, and hold what was read before.
type Options struct {
	// Root is the prefix of the host's files; empty when no host is judged, only
	// a configuration on a machine.
	Root          string
	Config        *kubelet.Config
	ConfigError   error
	Driver        string
	CgroupVersion int
	Machine       *machine.Machine
	Node          allocatable.Node
	// StateDir is the folder of checkpoint files; empty means the kubelet's below
	// Root.
	StateDir string
	// Sockets are where a CRI runtime may answer.
	Sockets []string
	// Systemd are the sockets at which systemd answers.
	Systemd []string
	// Meant ends the advice on a finding with the word that was probably meant, ""
	// where it knows none; nil knows none at all.
	Meant func(kubelet.Finding) string
}

// kubeletDir is the kubelet's root directory.
const kubeletDir = "var/lib/kubelet"

// Read collects the facts. What can't be read is left out, but for checkpoint
// files: the error tells of one that is there, or of their folder where it was
// named.
func Read(ctx context.Context, o Options) (*Facts, error) {
	f := &Facts{
		Config: o.Config, Driver: o.Driver, CgroupVersion: o.CgroupVersion,
		Machine: o.Machine, Node: o.Node, meant: o.Meant,
	}
	f.name(o)
	if f.Config.Written["cgroupDriver"] {
		f.Drivers = append(f.Drivers, DriverWord{From: f.Config.Source + ": cgroupDriver", Driver: f.Config.CgroupDriver, Of: PartyKubelet})
	}
	if err := f.readStates(o); err != nil {
		return nil, err
	}
	if o.Root == "" {
		return f, nil
	}
	f.Host = readHost(o.Root)
	f.Drivers = append(f.Drivers, runtimeFiles(o.Root)...)
	if answer, err := nodeapi.CgroupDriver(ctx, o.Sockets); err == nil {
		f.Drivers = append(f.Drivers, DriverWord{From: "the runtime's answer over CRI", Driver: answer, Of: PartyRuntime})
	}
	if k, err := nodeapi.FindKubelet(o.Root); err == nil && k != nil {
		f.Kubelet = k.PID
	}
	if entries, err := os.ReadDir(filepath.Join(o.Root, kubeletDir, "pods")); err == nil {
		f.Pods = map[string]bool{}
		for _, e := range entries {
			f.Pods[e.Name()] = true
		}
	}
	f.readCgroups(ctx, o)
	return f, nil
}

// name takes the host's root out of paths, as the host's own kubelet would tell
// them.
func (f *Facts) name(o Options) {
	f.ConfigError = o.ConfigError
	root := strings.TrimSuffix(filepath.Clean(o.Root), "/")
	if o.Root == "" || root == "" {
		return
	}
	named := *f.Config
	named.Source = strings.TrimPrefix(named.Source, root)
	f.Config = &named
	if o.ConfigError != nil {
		f.ConfigError = errors.New(strings.ReplaceAll(o.ConfigError.Error(), root+"/", "/"))
	}
}

// readStates reads the checkpoint files.
func (f *Facts) readStates(o Options) error {
	dir := o.StateDir
	if dir == "" && o.Root != "" {
		dir = filepath.Join(o.Root, kubeletDir)
	}
	if dir == "" {
		return nil
	}
	info, err := os.Stat(dir)
	switch {
	case err != nil && o.StateDir == "":
		return nil // no kubelet was ever here
	case err != nil:
		return fmt.Errorf("reading checkpoints: %w", err)
	case !info.IsDir():
		return fmt.Errorf("reading checkpoints: %s is no folder", dir)
	}
	f.StateDir, f.stateFolder, f.States = dir, dir, simulate.Files{}
	if o.StateDir == "" {
		f.StateDir = "/" + kubeletDir
	}
	for _, name := range []string{kubelet.CPUManagerStateFile, kubelet.MemoryManagerStateFile, kubelet.DeviceManagerStateFile} {
		for _, place := range []string{filepath.Join("device-plugins", name), name} {
			data, err := input.File(filepath.Join(dir, place), input.Config)
			if err == nil {
				f.States[name] = string(data)
				if name == kubelet.DeviceManagerStateFile {
					f.devicePlace = filepath.Dir(place)
				}
				break
			}
			if !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("reading checkpoints: %w", err)
			}
		}
	}
	return nil
}

// runtimeFiles asks the configuration files of the runtimes for their driver.
func runtimeFiles(root string) []DriverWord {
	var words []DriverWord
	read := func(name string, parse func(string) (string, string)) {
		text, err := input.File(filepath.Join(root, name), input.Config)
		if err != nil {
			return
		}
		if driver, key := parse(string(text)); driver != "" {
			words = append(words, DriverWord{From: "/" + name + ": " + key, Driver: driver, Of: PartyRuntime})
		}
	}
	words = append(words, containerdWords(root)...)
	read("etc/docker/daemon.json", dockerDriver)
	// The last file wins, as CRI-O merges them.
	files := []string{"etc/crio/crio.conf"}
	for _, e := range folder(filepath.Join(root, "etc/crio/crio.conf.d")) {
		files = append(files, "etc/crio/crio.conf.d/"+e.Name())
	}
	before := len(words)
	for _, name := range files {
		read(name, crioDriver)
	}
	if len(words) > before {
		words = append(words[:before], words[len(words)-1])
	}
	return words
}

// containerdWords are what containerd's configuration says for each runtime.
func containerdWords(root string) []DriverWord {
	// A file that can't be read keeps containerd from starting, and is its affair.
	drivers, _ := nodeapi.ContainerdDrivers(root)
	var words []DriverWord
	for _, d := range drivers {
		w := DriverWord{From: fmt.Sprintf("%s: SystemdCgroup = %v of runtime %s", d.File, d.Systemd, d.Runtime), Driver: cgroups.Cgroupfs, Of: PartyRuntime}
		if d.Systemd {
			w.Driver = cgroups.Systemd
		}
		words = append(words, w)
	}
	return words
}

// readCgroups reads what the checks ask of the host's tree, unless it is of
// another version than the one to be judged.
func (f *Facts) readCgroups(ctx context.Context, o Options) {
	root := o.Root
	h, err := inspect.Open(root)
	if err != nil || h.Version() != f.CgroupVersion {
		return // no tree to judge, which the checks say
	}
	defer h.Close()
	f.Cgroups = &Cgroups{Version: h.Version(), Groups: map[string]*Group{}}
	r := treeReader{Hierarchy: h, mount: filepath.Join(root, "sys/fs/cgroup"), into: f.Cgroups}
	r.mounts()
	for _, at := range f.asked() {
		r.read(at)
	}
	var pods []string
	for _, at := range f.podRoots() {
		pods = append(pods, h.Walk(at)...)
	}
	for _, at := range pods {
		r.live(at)
	}
	f.Leaks = h.Leaks(root, pods, inspect.HostOwners(root))
	f.readReloads(ctx, h, o.Systemd)
}

// asked are the paths of the cgroups that checks judge, with all above them.
func (f *Facts) asked() []string {
	paths := append([]string{"/"}, f.podRoots()...)
	paths = append(paths, f.namedCgroups()...)
	for _, at := range slices.Clone(paths) {
		paths = append(paths, ancestors(at)...)
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
