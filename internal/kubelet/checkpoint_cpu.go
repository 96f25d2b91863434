package kubelet

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"k8s.io/utils/cpuset"
)

// CPUManagerState is the content of cpu_manager_state.
type CPUManagerState struct {
	// PolicyName is none or static.
	PolicyName string
	// DefaultCPUSet is the shared pool; empty with policy none.
	DefaultCPUSet cpuset.CPUSet
	// Entries are the CPUs of each container with its own, by pod UID and name.
	Entries map[string]map[string]cpuset.CPUSet
	// PodEntries are the CPUs of pods with pod-level resources, by UID; only
	// with the gate PodLevelResourceManagers.
	PodEntries map[string]cpuset.CPUSet
	// Baselines are the CPUs at admission, by pod UID and name; only with the
	// gate InPlacePodVerticalScalingExclusiveCPUs.
	Baselines map[string]map[string]cpuset.CPUSet
}

type cpuEntries = map[string]map[string]string

// cpuFileV2 is the outer part of the file. Its members, and their order, are
// those of the kubelet's struct: they are hashed.
type cpuFileV2 struct {
	PolicyName    string     `json:"policyName"`
	DefaultCPUSet string     `json:"defaultCpuSet"`
	Entries       cpuEntries `json:"entries,omitempty"`
	Checksum      checksum   `json:"checksum"`
}

type cpuFileV3 struct {
	PolicyName    string     `json:"policyName"`
	DefaultCPUSet string     `json:"defaultCpuSet"`
	Entries       cpuEntries `json:"entries,omitempty"`
	PodEntries    podCPUs    `json:"podEntries,omitempty"`
	Checksum      checksum   `json:"checksum"`
}

type cpuFileV4 struct {
	cpuFileV2
	versioned
}

// cpuData is the JSON text of the member data in v4.
type cpuData struct {
	PolicyName    string                            `json:"policyName"`
	DefaultCPUSet string                            `json:"defaultCpuSet"`
	Entries       cpuEntries                        `json:"entries,omitempty"`
	PodEntries    podCPUs                           `json:"podEntries,omitempty"`
	Baselines     map[string]map[string]cpuBaseline `json:"baselines,omitempty"`
}

type cpuBaseline struct {
	Baseline string `json:"baseline"`
}

type podCPUs map[string]podCPUEntry

type podCPUEntry struct{ CPUSet cpuset.CPUSet }

type podCPUEntryJSON struct {
	CPUSet string `json:"cpuSet,omitempty"`
}

// MarshalJSON writes the set in the kernel's list format.
func (p podCPUEntry) MarshalJSON() ([]byte, error) {
	return json.Marshal(podCPUEntryJSON{p.CPUSet.String()})
}

// UnmarshalJSON reads the set in the kernel's list format.
func (p *podCPUEntry) UnmarshalJSON(b []byte) error {
	var entry podCPUEntryJSON
	if err := json.Unmarshal(b, &entry); err != nil {
		return err
	}
	set, err := ParseCPUs(entry.CPUSet)
	if err != nil {
		return fmt.Errorf("failed to parse cpuset: %w", err)
	}
	p.CPUSet = set
	return nil
}

// ReadCPUManagerState reads a cpu_manager_state of any version that this
// kubelet reads (v2, v3, v4) and verifies its checksum. A policyName that is
// not empty must be the file's. Errors are the kubelet's, without the sentence
// around them (see RestoreError).
//
// kubelet v1.37: cm/cpumanager/state/state_checkpoint.go restoreState.
func ReadCPUManagerState(blob []byte, policyName string, g Gates) (*CPUManagerState, error) {
	data, err := readCPUData(blob, g)
	if err != nil {
		return nil, err
	}
	if policyName != "" && policyName != data.PolicyName {
		return nil, fmt.Errorf("configured policy %q differs from state checkpoint policy %q", policyName, data.PolicyName)
	}
	s := &CPUManagerState{PolicyName: data.PolicyName}
	if s.DefaultCPUSet, err = ParseCPUs(data.DefaultCPUSet); err != nil {
		return nil, fmt.Errorf("could not parse default CPU set %q: %w", data.DefaultCPUSet, err)
	}
	if s.Entries, err = parseCPUEntries(data.Entries, "cpuset"); err != nil {
		return nil, err
	}
	if g.Enabled(GateExclusiveResize) {
		if s.Baselines, err = readBaselines(data, s.Entries); err != nil {
			return nil, err
		}
	}
	if g.Enabled(GatePodLevelManagers) {
		s.PodEntries = map[string]cpuset.CPUSet{}
		for uid, entry := range data.PodEntries {
			s.PodEntries[uid] = entry.CPUSet
		}
	}
	return s, nil
}

// readCPUData tries the forms that the kubelet knows, the youngest first.
//
// kubelet v1.37: cm/cpumanager/state/state_checkpoint.go loadAndMigrateCheckpointV4;
// v1.36: the same, loadAndMigrateCheckpointV3 and V2; v1.35: restoreState.
func readCPUData(blob []byte, g Gates) (*cpuData, error) {
	podLevel := g.Enabled(GatePodLevelManagers)
	if g.Since(firstVersioned) {
		var file cpuFileV4
		var data cpuData
		current, err := readVersioned(blob, "cpu", "v4", &file, &file.versioned, &data)
		if current {
			return &data, err
		}
	}
	v3 := &cpuFileV3{Entries: cpuEntries{}, PodEntries: podCPUs{}}
	if (g.Since(firstVersioned) || podLevel) && json.Unmarshal(blob, v3) == nil {
		want := v3.Checksum
		v3.Checksum = 0
		if want == sum(v3, "CPUManagerCheckpoint") || g.Since(firstVersioned) && want == sum(v3, "CPUManagerCheckpointV3") {
			return &cpuData{PolicyName: v3.PolicyName, DefaultCPUSet: v3.DefaultCPUSet, Entries: v3.Entries, PodEntries: v3.PodEntries}, nil
		}
	}
	data, err := readCPUDataV2(blob, podLevel, g.minor())
	if err != nil && g.minor() == firstPodLevel {
		// This version alone tells what is wrong with the file as its oldest form.
		err = cmp.Or(cpuErrorV1(blob), err)
	}
	return data, err
}

// cpuErrorV1 is what keeps the file from being read with one text for each
// container id; the names of the types are in the kubelet's message.
//
// kubelet v1.36: cm/cpumanager/state/state_checkpoint.go loadCheckpointV1.
func cpuErrorV1(blob []byte) error {
	type CPUManagerCheckpointV1 struct {
		PolicyName    string            `json:"policyName"`
		DefaultCPUSet string            `json:"defaultCpuSet"`
		Entries       map[string]string `json:"entries,omitempty"`
		Checksum      checksum          `json:"checksum"`
	}
	return json.Unmarshal(blob, &CPUManagerCheckpointV1{})
}

func readCPUDataV2(blob []byte, podLevel bool, minor Minor) (*cpuData, error) {
	v2 := &cpuFileV2{Entries: cpuEntries{}}
	if err := json.Unmarshal(blob, v2); err != nil {
		return nil, err
	}
	// A checksum of 0 is accepted: the file backend of old had none.
	if want := v2.Checksum; want != 0 {
		v2.Checksum = 0
		legacy := !podLevel && minor >= firstPodLevel && want == sum(v2, "CPUManagerCheckpointV2")
		if !legacy && want != sum(v2, "CPUManagerCheckpoint") {
			return nil, errCheckpointCorrupt
		}
	}
	return &cpuData{PolicyName: v2.PolicyName, DefaultCPUSet: v2.DefaultCPUSet, Entries: v2.Entries}, nil
}

func parseCPUEntries(entries cpuEntries, what string) (map[string]map[string]cpuset.CPUSet, error) {
	parsed := make(map[string]map[string]cpuset.CPUSet, len(entries))
	for _, uid := range slices.Sorted(maps.Keys(entries)) {
		parsed[uid] = make(map[string]cpuset.CPUSet, len(entries[uid]))
		for _, name := range slices.Sorted(maps.Keys(entries[uid])) {
			text := entries[uid][name]
			set, err := ParseCPUs(text)
			if err != nil {
				return nil, fmt.Errorf("could not parse %s %q for container %q in pod %q: %w", what, text, name, uid, err)
			}
			parsed[uid][name] = set
		}
	}
	return parsed, nil
}

// readBaselines takes the entries where the file has no baselines: a kubelet
// that wrote none could not resize.
func readBaselines(data *cpuData, entries map[string]map[string]cpuset.CPUSet) (map[string]map[string]cpuset.CPUSet, error) {
	if len(data.Baselines) > 0 {
		texts := cpuEntries{}
		for uid, containers := range data.Baselines {
			texts[uid] = map[string]string{}
			for name, b := range containers {
				texts[uid][name] = b.Baseline
			}
		}
		return parseCPUEntries(texts, "Baseline cpuset")
	}
	copied := make(map[string]map[string]cpuset.CPUSet, len(entries))
	for uid, containers := range entries {
		copied[uid] = maps.Clone(containers)
	}
	return copied, nil
}

// Marshal writes the file as a kubelet with these gates does: v4, before 1.37
// v3 with the gate PodLevelResourceManagers, else v2.
// kubelet v1.37: cm/cpumanager/state/checkpoint.go MarshalCheckpoint
func (s *CPUManagerState) Marshal(g Gates) ([]byte, error) {
	data := cpuData{
		PolicyName:    s.PolicyName,
		DefaultCPUSet: s.DefaultCPUSet.String(),
		Entries:       cpuEntries{},
		PodEntries:    podCPUs{},
		Baselines:     map[string]map[string]cpuBaseline{},
	}
	for uid, containers := range s.Entries {
		data.Entries[uid] = map[string]string{}
		for name, set := range containers {
			data.Entries[uid][name] = set.String()
		}
	}
	for uid, set := range s.PodEntries {
		data.PodEntries[uid] = podCPUEntry{set}
	}
	for uid, containers := range s.Baselines {
		data.Baselines[uid] = map[string]cpuBaseline{}
		for name, set := range containers {
			data.Baselines[uid][name] = cpuBaseline{set.String()}
		}
	}
	if !g.Since(firstVersioned) && g.Enabled(GatePodLevelManagers) {
		v3 := cpuFileV3{PolicyName: data.PolicyName, DefaultCPUSet: data.DefaultCPUSet, Entries: data.Entries, PodEntries: data.PodEntries}
		v3.Checksum = sum(&v3, "CPUManagerCheckpoint")
		return json.Marshal(v3)
	}
	outer := cpuFileV2{PolicyName: data.PolicyName, DefaultCPUSet: data.DefaultCPUSet, Entries: data.Entries}
	outer.Checksum = sum(&outer, "CPUManagerCheckpoint")
	if !g.Since(firstVersioned) {
		return json.Marshal(outer)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", CPUManagerStateFile, err)
	}
	return json.Marshal(cpuFileV4{outer, versioned{string(text), sumText(string(text))}})
}
