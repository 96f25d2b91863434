package doctor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/simulate"
)

// Repair replaces one checkpoint file.
type Repair struct {
	// File is its path.
	File string
	// What says what becomes of it.
	What string
	// content is the new file; nil where the old one is only moved away.
	content []byte
}

// Repairs are the checkpoint files that the kubelet would not take, or that hold
// CPUs of pods that are gone, with what it would take instead: corrected where
// the assignments can be kept, else moved away, which is the kubelet's own
// advice after a drain. A running kubelet would write over them, so there must
// be none.
func Repairs(f *Facts) ([]Repair, error) {
	untried := f.untried()
	switch {
	case f.Kubelet != 0:
		return nil, fmt.Errorf("--repair: process %d is a kubelet that holds the files in memory: stop it first", f.Kubelet)
	case f.ConfigError != nil:
		return nil, fmt.Errorf("--repair: the configuration can't be loaded, and without it nothing tells what the files should be: %w", f.ConfigError)
	case f.StateDir == "":
		return nil, errors.New("--repair: " + noStates)
	case untried != "":
		return nil, errors.New("--repair: " + untried)
	}
	var repairs []Repair
	if c := checkCPUState(f); c.Status == Fail || c.Status == Warn {
		repairs = append(repairs, f.repair(kubelet.CPUManagerStateFile, f.correctCPUs))
	}
	if _, err := kubelet.ReadDeviceManagerState([]byte(f.States[kubelet.DeviceManagerStateFile])); err != nil && f.States[kubelet.DeviceManagerStateFile] != "" {
		repairs = append(repairs, Repair{
			File: filepath.Join(f.stateFolder, f.devicePlace, kubelet.DeviceManagerStateFile),
			What: "moved away: the kubelet would write over it; drain the node before it starts, since it knows of no device in use",
		})
	}
	if c := checkMemoryState(f); c.Status == Fail {
		repairs = append(repairs, f.repair(kubelet.MemoryManagerStateFile, f.correctMemory))
	}
	return repairs, nil
}

// repair corrects a file, and moves it away where no corrected one is such that
// the kubelet would start with it.
func (f *Facts) repair(file string, correct func([]byte) ([]byte, string)) Repair {
	r := Repair{File: filepath.Join(f.stateFolder, file), What: "moved away: the kubelet starts afresh and knows no assignments, so drain the node before it starts"}
	if content, what := correct([]byte(f.States[file])); content != nil && f.start(simulate.Files{file: string(content)}) == nil {
		r.content, r.What = content, what
	}
	return r
}

// correctCPUs makes the shared pool what no container has for itself and drops
// pods that have no folder. The assignments of others stay.
func (f *Facts) correctCPUs(old []byte) ([]byte, string) {
	s, err := kubelet.ReadCPUManagerState(old, f.Config.CPUManagerPolicy, f.Config.Gates)
	if err != nil || f.Config.CPUManagerPolicy != kubelet.CPUPolicyStatic || len(doubles(s)) > 0 {
		return nil, ""
	}
	shared := f.sharedPool()
	for _, uid := range podsOf(s) {
		if f.Pods != nil && !f.Pods[uid] {
			delete(s.Entries, uid)
			delete(s.PodEntries, uid)
			delete(s.Baselines, uid)
			continue
		}
		shared = shared.Difference(ofPod(s, uid))
	}
	was := s.DefaultCPUSet
	s.DefaultCPUSet = shared
	content, err := s.Marshal(f.Config.Gates)
	if err != nil {
		return nil, ""
	}
	return content, fmt.Sprintf("corrected: defaultCpuSet %s instead of %s, keeping the CPUs of %s", set(shared), set(was), quantity.Count(len(podsOf(s)), "pod"))
}

// sharedPool is that of a kubelet that starts afresh.
func (f *Facts) sharedPool() cpuset.CPUSet {
	n, err := simulate.NewNode(f.spec(), nil)
	if err != nil {
		return cpuset.New()
	}
	s, err := kubelet.ReadCPUManagerState([]byte(n.Files()[kubelet.CPUManagerStateFile]), "", f.Config.Gates)
	if err != nil {
		return cpuset.New()
	}
	return s.DefaultCPUSet
}

// correctMemory takes the machine's memory as it is now and keeps the
// assignments: what a node has more or less is free or not.
func (f *Facts) correctMemory(old []byte) ([]byte, string) {
	s, err := kubelet.ReadMemoryManagerState(old, f.Config.MemoryManagerPolicy, f.Config.Gates)
	fresh := f.freshMemory()
	if err != nil || fresh == nil {
		return nil, ""
	}
	for id, node := range fresh.MachineState {
		was := s.MachineState[id]
		if was == nil {
			continue
		}
		node.NumberOfAssignments, node.Cells = was.NumberOfAssignments, was.Cells
		for typ, table := range node.MemoryMap {
			had := was.MemoryMap[typ]
			if had == nil {
				continue
			}
			if had.Reserved > table.Free {
				return nil, "" // pods have more than is there now
			}
			table.Reserved, table.Free = had.Reserved, table.Free-had.Reserved
		}
	}
	s.MachineState = fresh.MachineState
	content, err := s.Marshal(f.Config.Gates)
	if err != nil {
		return nil, ""
	}
	return content, fmt.Sprintf("corrected: the memory of %s as it is now, keeping that of %s", quantity.Count(len(s.MachineState), "NUMA node"), quantity.Count(len(s.Entries), "pod"))
}

// Write keeps the old file under a name that is free and puts the new one in its
// place in one step. It returns the backup's path.
func (r Repair) Write() (backup string, err error) {
	old, err := os.ReadFile(r.File)
	if err != nil {
		return "", fmt.Errorf("repairing: %w", err)
	}
	info, err := os.Stat(r.File)
	if err != nil {
		return "", fmt.Errorf("repairing: %w", err)
	}
	backup, err = keep(r.File, old, info.Mode().Perm())
	if err != nil {
		return "", fmt.Errorf("repairing %s: keeping a backup: %w", r.File, err)
	}
	if r.content == nil {
		if err := os.Remove(r.File); err != nil {
			return backup, fmt.Errorf("repairing: %w", err)
		}
		return backup, nil
	}
	beside, err := keep(r.File+".new", r.content, info.Mode().Perm())
	if err == nil {
		err = os.Rename(beside, r.File)
	}
	if err != nil {
		return backup, fmt.Errorf("repairing %s: %w; the old file is %s", r.File, err, backup)
	}
	return backup, nil
}

// maxBackups bounds the search for a free name.
const maxBackups = 1000

// keep writes a file of a name that nothing has yet, to the disk.
func keep(file string, content []byte, mode os.FileMode) (string, error) {
	for i := range maxBackups {
		name := fmt.Sprintf("%s.kqos-%d", file, i+1)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(content)
		return name, errors.Join(err, f.Sync(), f.Close())
	}
	return "", fmt.Errorf("%d backups are there already: remove some", maxBackups)
}
