package simulate

import (
	"maps"
	"reflect"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
)

// Files are the contents of checkpoint files by name.
type Files map[string]string

func (f Files) clone() Files {
	if f == nil {
		return Files{}
	}
	return maps.Clone(f)
}

// Files are the checkpoint files as the kubelet leaves them now. A file that
// nothing changed stays as it was found.
func (n *Node) Files() Files {
	if n.stopped {
		return n.files.clone()
	}
	files := n.cpuFile(n.files.clone())
	gates := n.spec.Config.Gates
	if n.memory.Written() {
		put(files, kubelet.MemoryManagerStateFile, func() ([]byte, error) { return n.memory.State().Marshal(gates) })
	}
	if s := n.devices.File(); s != nil {
		put(files, kubelet.DeviceManagerStateFile, s.Marshal)
	}
	return files
}

// cpuFile adds cpu_manager_state.
func (n *Node) cpuFile(files Files) Files {
	now := cpuFileState(n.spec.Config.CPUManagerPolicy, n.cpus.State())
	if n.cpusRead == nil || !reflect.DeepEqual(cpuState(n.cpusRead), n.cpus.State()) {
		put(files, kubelet.CPUManagerStateFile, func() ([]byte, error) { return now.Marshal(n.spec.Config.Gates) })
	}
	return files
}

// put writes a file. The states hold nothing that JSON cannot.
func put(files Files, name string, marshal func() ([]byte, error)) {
	if blob, err := marshal(); err == nil {
		files[name] = string(blob)
	}
}

// cpuState and cpuFileState turn the file's content into the manager's state
// and back.
func cpuState(s *kubelet.CPUManagerState) cpumanager.State {
	if s == nil {
		return cpumanager.State{}
	}
	return cpumanager.State{Default: s.DefaultCPUSet, Entries: s.Entries, PodEntries: s.PodEntries, Baselines: s.Baselines}
}

func cpuFileState(policy string, s cpumanager.State) *kubelet.CPUManagerState {
	return &kubelet.CPUManagerState{
		PolicyName: policy, DefaultCPUSet: s.Default, Entries: s.Entries, PodEntries: s.PodEntries, Baselines: s.Baselines,
	}
}
