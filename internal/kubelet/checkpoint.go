package kubelet

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"k8s.io/utils/dump"
)

// Names of the checkpoint files. The first two stand in the kubelet's root
// directory, the third in its device-plugins folder.
const (
	CPUManagerStateFile    = "cpu_manager_state"
	MemoryManagerStateFile = "memory_manager_state"
	DeviceManagerStateFile = "kubelet_internal_checkpoint"
)

// firstVersioned is the version that puts the content of the CPU and memory
// managers' files into a text with a checksum of its own. Both it and its
// predecessors read the part beside that text.
const firstVersioned Minor = 37

// firstPodLevel is the version that has another form for pods' own CPUs and
// memory, written and read only with the gate PodLevelResourceManagers.
const firstPodLevel Minor = 36

// errCheckpointCorrupt is the kubelet's text for a checksum that does not fit.
// kubelet v1.37: checkpointmanager/errors/errors.go
var errCheckpointCorrupt = errors.New("checkpoint is corrupted")

// checksum is FNV-1a, 32 bit wide, over the text of dump.ForHash. It is part of
// that text itself, as 0.
type checksum uint64

// kubeletTypes puts the kubelet's type names where dump prints ours, since
// they are hashed with the values. Each pattern ends in the mark that follows a
// type in the dump and that no object name can hold.
func kubeletTypes(dumped, structName string) string {
	return strings.NewReplacer(
		"(*kubelet.cpuFileV2)", "(*state."+structName+")",
		"(*kubelet.cpuFileV3)", "(*state."+structName+")",
		"(*kubelet.memoryFileV1)", "(*state."+structName+")",
		"(*kubelet.memoryFileV2)", "(*state."+structName+")",
		"(kubelet.podCPUs)", "(state.PodCPUAssignments)",
		"(kubelet.NUMANodeMap)", "(state.NUMANodeMap)",
		"*kubelet.MemoryTable)", "*state.MemoryTable)",
		"(kubelet.ContainerMemory)", "(state.ContainerMemoryAssignments)",
		"([]kubelet.MemoryBlock)", "([]state.Block)",
		"(kubelet.PodMemoryMap)", "(state.PodMemoryAssignments)",
		"(kubelet.deviceData)", "(checkpoint.checkpointData)",
		"([]kubelet.PodDevices)", "([]checkpoint.PodDevicesEntry)",
		"(kubelet.DevicesPerNUMA)", "(checkpoint.DevicesPerNUMA)",
		"(kubelet.checksum)", "(checksum.Checksum)",
	).Replace(dumped)
}

// sum hashes a value as the kubelet would whose type has that name.
// kubelet v1.37: checkpointmanager/checksum/checksum.go
func sum(value any, structName string) checksum {
	h := fnv.New32a()
	h.Write([]byte(kubeletTypes(dump.ForHash(value), structName)))
	return checksum(h.Sum32())
}

// sumText hashes the text of the data member, whose dump is its type and the
// raw text.
func sumText(data string) checksum { return sum(data, "") }

// versioned is the part of a checkpoint that tells its current form from the
// older ones: data and its checksum are authoritative, what stands beside them
// is kept for older kubelets.
type versioned struct {
	Data         string   `json:"data"`
	DataChecksum checksum `json:"dataChecksum"`
}

// readVersioned reads the current form of a checkpoint of the manager: the file
// as a whole, of which v is a part, and its data. current is false when the file
// is of an older form, to which the kubelet falls back; a file that has data or
// its checksum never is.
// kubelet v1.37: cm/cpumanager/state/state_checkpoint.go loadAndMigrateCheckpointV4
func readVersioned(blob []byte, manager, version string, whole any, v *versioned, data any) (current bool, err error) {
	if err = json.Unmarshal(blob, whole); err != nil {
		err = fmt.Errorf("failed to deserialize %s manager checkpoint: %w", manager, err)
	} else if err = json.Unmarshal([]byte(v.Data), data); err != nil {
		err = fmt.Errorf("failed to deserialize %s manager checkpoint data: %w", manager, err)
	} else if sumText(v.Data) != v.DataChecksum {
		err = errCheckpointCorrupt
	}
	if err == nil {
		return true, nil
	}
	if v.Data != "" || v.DataChecksum != 0 {
		return true, fmt.Errorf("could not load %s checkpoint: %w", version, err)
	}
	return false, nil
}

// RestoreError puts the sentence around a failed reading with which the kubelet
// ends its start. manager is CPU or memory, path the file's.
//
// kubelet v1.37: cm/cpumanager/state/state_checkpoint.go NewCheckpointState.
func RestoreError(manager, path string, err error) error {
	return fmt.Errorf("could not restore state from checkpoint: %w, please drain this node and delete the %s manager checkpoint file %q before restarting Kubelet",
		err, manager, path)
}
