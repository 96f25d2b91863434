package doctor

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/simulate"
)

const noStates = "no folder of checkpoint files is known; name it with --state-dir"

func stateChecks() []Check {
	return []Check{
		{
			ID: "cpu-state", Title: "cpu_manager_state fits the machine and the configuration",
			Explain: `The CPU manager reads its file at every start and refuses one that is torn, of
another policy, of another set of CPUs, without the reserved CPUs in the shared
pool, or with a CPU both shared and exclusive. Two containers with the same CPU
it does not notice.
Kubelet v1.37: cm/cpumanager/policy_static.go validateState.`,
			run: checkCPUState,
		},
		{
			ID: "memory-state", Title: "memory_manager_state fits the machine and the configuration",
			Explain: `The memory manager compares the memory of each NUMA node with its file to the byte.
A kernel or firmware update, or a changed reservation, moves a few MB between
boots, and the kubelet does not start.
Kubelet v1.37: cm/memorymanager/policy_static.go validateState.`,
			run: checkMemoryState,
		},
		{
			ID: "device-state", Title: "kubelet_internal_checkpoint can be read",
			Explain: `The device manager only logs that its file is torn and starts empty: devices that
running pods have are then given out again.
Kubelet v1.37: cm/devicemanager/manager.go readCheckpoint.`,
			run: checkDeviceState,
		},
	}
}

// drainAndDelete is the kubelet's own advice.
func (f *Facts) drainAndDelete(file string) string {
	return fmt.Sprintf("kubectl drain, stop the kubelet, rm %s, start the kubelet; 'kqos doctor --repair' moves the file away or corrects it, with a backup", path.Join(f.StateDir, file))
}

// judgeState says how a start with this one checkpoint file ends, and what the
// file holds; nil where it decided nothing: a start that ends before it reads
// files says nothing about them.
func (f *Facts) judgeState(file, stage string) (verdict Result, content []byte) {
	text, there := f.States[file]
	untried := f.untried()
	switch {
	case f.ConfigError != nil:
		return skip(noConfig), nil
	case f.StateDir == "":
		return skip(noStates), nil
	case !there:
		return ok("%s is not there: the kubelet starts afresh", path.Join(f.StateDir, file)), nil
	case untried != "":
		return skip("%s", untried), nil
	}
	stop := f.start(simulate.Files{file: text})
	switch {
	case stop == nil:
		return ok("the kubelet takes %s", file), []byte(text)
	case stop.Stage == stage:
		return Result{Status: Fail, Message: stop.Message, Fix: f.drainAndDelete(file)}, []byte(text)
	}
	return skip("the kubelet stops before it reads the file: %s", stop.Message), nil
}

func checkCPUState(f *Facts) Result {
	verdict, content := f.judgeState(kubelet.CPUManagerStateFile, simulate.StageCPUStart)
	if content == nil {
		return verdict
	}
	s, err := kubelet.ReadCPUManagerState(content, "", f.Config.Gates)
	if err != nil {
		return verdict
	}
	verdict.Evidence = f.cpuEvidence(s)
	if verdict.Status != OK {
		return verdict
	}
	var found []Result
	for _, double := range doubles(s) {
		found = append(found, Result{Status: Fail, Message: double, Fix: f.drainAndDelete(kubelet.CPUManagerStateFile)})
	}
	for _, uid := range podsOf(s) {
		if f.Pods != nil && !f.Pods[uid] {
			found = append(found, Result{
				Status: Warn, Message: fmt.Sprintf("pod %s has CPUs %s and no folder: they come back only once the kubelet runs and reads its pods", uid, ofPod(s, uid)),
				Fix: "start the kubelet, which drops it; 'kqos doctor --repair' takes it out now",
			})
		}
	}
	return worst(verdict, found)
}

// cpuEvidence puts what the file says beside what is there.
func (f *Facts) cpuEvidence(s *kubelet.CPUManagerState) []string {
	online, known := f.Machine.Online(), s.DefaultCPUSet
	for _, uid := range podsOf(s) {
		known = known.Union(ofPod(s, uid))
	}
	lines := []string{
		fmt.Sprintf("policy: %s in the file, %s in the configuration", s.PolicyName, f.Config.CPUManagerPolicy),
		fmt.Sprintf("defaultCpuSet %s, all CPUs of the file %s, online %s", set(s.DefaultCPUSet), set(known), set(online)),
	}
	if lost := online.Difference(known); !lost.IsEmpty() && f.Config.CPUManagerPolicy == kubelet.CPUPolicyStatic {
		lines = append(lines, "online and in no set of the file: "+lost.String())
	}
	if gone := known.Difference(online); !gone.IsEmpty() {
		lines = append(lines, "in the file and not online: "+gone.String())
	}
	for _, uid := range podsOf(s) {
		if cpus, whole := s.PodEntries[uid]; whole {
			lines = append(lines, fmt.Sprintf("pod %s as a whole: %s", uid, set(cpus)))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Entries[uid])) {
			lines = append(lines, fmt.Sprintf("pod %s, container %s: %s", uid, name, s.Entries[uid][name]))
			if shared := s.Entries[uid][name].Intersection(s.DefaultCPUSet); !shared.IsEmpty() {
				lines = append(lines, "both shared and exclusive: "+shared.String())
			}
		}
	}
	return lines
}

func set(s cpuset.CPUSet) string {
	if s.IsEmpty() {
		return "(none)"
	}
	return s.String()
}

func all(containers map[string]cpuset.CPUSet) cpuset.CPUSet {
	union := cpuset.New()
	for _, cpus := range containers {
		union = union.Union(cpus)
	}
	return union
}

// podsOf are the UIDs of the pods that have CPUs of their own, or for containers.
func podsOf(s *kubelet.CPUManagerState) []string {
	uids := slices.AppendSeq(slices.Collect(maps.Keys(s.Entries)), maps.Keys(s.PodEntries))
	slices.Sort(uids)
	return slices.Compact(uids)
}

// ofPod are all CPUs of a pod.
func ofPod(s *kubelet.CPUManagerState, uid string) cpuset.CPUSet {
	return all(s.Entries[uid]).Union(s.PodEntries[uid])
}

// doubles finds CPUs that containers of two pods have. Within a pod, an init
// container's CPUs are used again on purpose.
func doubles(s *kubelet.CPUManagerState) []string {
	var found []string
	uids := podsOf(s)
	for i, a := range uids {
		for _, b := range uids[i+1:] {
			if both := ofPod(s, a).Intersection(ofPod(s, b)); !both.IsEmpty() {
				found = append(found, fmt.Sprintf("pods %s and %s both have CPUs %s exclusively", a, b, both))
			}
		}
	}
	return found
}

func checkMemoryState(f *Facts) Result {
	verdict, content := f.judgeState(kubelet.MemoryManagerStateFile, simulate.StageMemoryStart)
	if content == nil || verdict.Status == OK {
		return verdict
	}
	if s, err := kubelet.ReadMemoryManagerState(content, "", f.Config.Gates); err == nil {
		verdict.Evidence = f.memoryEvidence(s)
	}
	return verdict
}

// memoryEvidence lists the bytes that differ, node by node.
func (f *Facts) memoryEvidence(s *kubelet.MemoryManagerState) []string {
	lines := []string{fmt.Sprintf("policy: %s in the file, %s in the configuration", s.PolicyName, f.Config.MemoryManagerPolicy)}
	fresh := f.freshMemory()
	if fresh == nil || f.Config.MemoryManagerPolicy != kubelet.MemoryPolicyStatic {
		return lines
	}
	for _, id := range slices.Sorted(maps.Keys(s.MachineState)) {
		now := fresh.MachineState[id]
		if now == nil {
			lines = append(lines, fmt.Sprintf("NUMA node %d of the file is not there", id))
			continue
		}
		for _, typ := range slices.Sorted(maps.Keys(s.MachineState[id].MemoryMap)) {
			was, is := s.MachineState[id].MemoryMap[typ], now.MemoryMap[typ]
			switch {
			case is == nil:
				lines = append(lines, fmt.Sprintf("NUMA node %d: %s of the file is not there", id, typ))
			case was.TotalMemSize != is.TotalMemSize:
				lines = append(lines, fmt.Sprintf("NUMA node %d: %s %d bytes in the file, %d now (%+d)", id, typ, was.TotalMemSize, is.TotalMemSize, int64(is.TotalMemSize-was.TotalMemSize)))
			case was.SystemReserved != is.SystemReserved:
				lines = append(lines, fmt.Sprintf("NUMA node %d: %s reserved %d bytes in the file, %d now", id, typ, was.SystemReserved, is.SystemReserved))
			}
		}
	}
	return lines
}

// freshMemory is the file that the kubelet would write on this machine without
// pods; nil when it does not get that far.
func (f *Facts) freshMemory() *kubelet.MemoryManagerState {
	n, err := simulate.NewNode(f.spec(), nil)
	if err != nil {
		return nil
	}
	s, err := kubelet.ReadMemoryManagerState([]byte(n.Files()[kubelet.MemoryManagerStateFile]), "", f.Config.Gates)
	if err != nil {
		return nil
	}
	return s
}

func checkDeviceState(f *Facts) Result {
	text, there := f.States[kubelet.DeviceManagerStateFile]
	switch {
	case f.StateDir == "":
		return skip(noStates)
	case !there:
		return ok("%s is not there: no device plugin has registered", kubelet.DeviceManagerStateFile)
	}
	s, err := kubelet.ReadDeviceManagerState([]byte(text))
	if err != nil {
		return Result{
			Status: Fail, Message: fmt.Sprintf("%s: %v; the kubelet logs it and starts empty, so devices in use are given out again", kubelet.DeviceManagerStateFile, err),
			Fix: "kubectl drain, then restart the kubelet and the device plugins",
		}
	}
	var found []Result
	owner := map[string]string{}
	for _, e := range s.Entries {
		if f.Pods != nil && !f.Pods[e.PodUID] {
			found = append(found, Result{Status: Warn, Message: fmt.Sprintf("pod %s has devices of %s and no folder", e.PodUID, e.ResourceName), Fix: "restart the kubelet, which drops it"})
		}
		ids := slices.Concat(slices.Collect(maps.Values(e.DeviceIDs))...)
		slices.Sort(ids)
		for _, id := range ids {
			key := e.ResourceName + " " + id
			if other, taken := owner[key]; taken && other != e.PodUID {
				found = append(found, Result{Status: Fail, Message: fmt.Sprintf("device %s of %s belongs to pods %s and %s at once", id, e.ResourceName, other, e.PodUID), Fix: "delete one of the two pods"})
			}
			owner[key] = e.PodUID
			if !slices.Contains(s.Registered[e.ResourceName], id) {
				found = append(found, Result{
					Status: Warn, Message: fmt.Sprintf("device %s of %s belongs to pod %s and is not registered as healthy", id, e.ResourceName, e.PodUID),
					Fix: "look after the device and its plugin",
				})
			}
		}
	}
	return worst(ok("%s holds devices of %s", kubelet.DeviceManagerStateFile, quantity.Count(len(s.Entries), "container")), found)
}
