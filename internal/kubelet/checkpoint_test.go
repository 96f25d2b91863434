package kubelet

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
)

// recorded are the checkpoint files that kubelets wrote, from the golden
// placement scenarios.
func recorded(t testing.TB, name string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/golden/placement/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden placement: %v", err)
	}
	files := map[string]string{}
	for _, path := range paths {
		blob, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var set struct {
			Cases []struct {
				Scenario struct{ Name string }
				Result   struct{ Files map[string]string }
			}
		}
		if err := json.Unmarshal(blob, &set); err != nil {
			t.Fatal(err)
		}
		for _, c := range set.Cases {
			if content, ok := c.Result.Files[name]; ok {
				files[c.Scenario.Name] = content
			}
		}
	}
	return files
}

// Every file that a kubelet wrote is read and written again byte for byte.
func TestCheckpointsRoundTrip(t *testing.T) {
	t.Parallel()
	gated, err := Gates{}.With(map[string]bool{"PodLevelResourceManagers": true})
	if err != nil {
		t.Fatal(err)
	}
	rewrite := map[string]func([]byte) ([]byte, error){
		CPUManagerStateFile: func(blob []byte) ([]byte, error) {
			s, err := ReadCPUManagerState(blob, "", gated)
			if err != nil {
				return nil, err
			}
			return s.Marshal(gated)
		},
		MemoryManagerStateFile: func(blob []byte) ([]byte, error) {
			s, err := ReadMemoryManagerState(blob, "", gated)
			if err != nil {
				return nil, err
			}
			return s.Marshal(gated)
		},
		DeviceManagerStateFile: func(blob []byte) ([]byte, error) {
			s, err := ReadDeviceManagerState(blob)
			if err != nil {
				return nil, err
			}
			return s.Marshal()
		},
	}
	for name, f := range rewrite {
		files := recorded(t, name)
		if len(files) < 40 {
			t.Errorf("%s: only %d recorded", name, len(files))
		}
		for scenario, content := range files {
			got, err := f([]byte(content))
			if strings.Contains(content, `"checksum":12345`) {
				if err == nil {
					t.Errorf("%s %s: a wrong checksum was accepted", scenario, name)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s %s: %v", scenario, name, err)
				continue
			}
			if diff := cmp.Diff(content, string(got)); diff != "" {
				t.Errorf("%s %s (-want +got):\n%s", scenario, name, diff)
			}
		}
	}
}

func TestReadCPUManagerState(t *testing.T) {
	t.Parallel()
	v2 := func(body string, sum checksum) string {
		return strings.Replace(body, "}END", `,"checksum":`+jsonOf(sum)+"}", 1)
	}
	body := `{"policyName":"static","defaultCpuSet":"0-127"}END`
	tests := []struct {
		name, blob, policy string
		wantErr            string
	}{
		{name: "v2", blob: v2(body, 371189219), policy: "static"},
		{name: "v2 without checksum", blob: v2(body, 0), policy: "static"},
		{name: "v2 of another content", blob: v2(body, 371189218), wantErr: "checkpoint is corrupted"},
		{name: "other policy", blob: v2(body, 0), policy: "none", wantErr: `configured policy "none" differs from state checkpoint policy "static"`},
		{name: "no JSON", blob: `{`, wantErr: "unexpected end of JSON input"},
		{name: "empty", blob: ``, wantErr: "unexpected end of JSON input"},
		{name: "bad default set", blob: `{"policyName":"static","defaultCpuSet":"x"}`, wantErr: `could not parse default CPU set "x": `},
		{name: "bad entry", blob: `{"policyName":"static","defaultCpuSet":"0","entries":{"u":{"c":"y"}}}`, wantErr: `could not parse cpuset "y" for container "c" in pod "u": `},
		{name: "v4 with broken data", blob: `{"policyName":"static","defaultCpuSet":"0","data":"{","dataChecksum":1}`, wantErr: "could not load v4 checkpoint: failed to deserialize cpu manager checkpoint data: unexpected end of JSON input"},
		{name: "v4 with another checksum", blob: `{"data":"{}","dataChecksum":1}`, wantErr: "could not load v4 checkpoint: checkpoint is corrupted"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadCPUManagerState([]byte(test.blob), test.policy, Gates{})
			if test.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.DefaultCPUSet.String() != "0-127" || got.PolicyName != "static" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func jsonOf(v any) string {
	blob, _ := json.Marshal(v)
	return string(blob)
}

// The older forms of a memory state carry the hash of their own members.
func TestReadOldMemoryManagerState(t *testing.T) {
	t.Parallel()
	state := NUMANodeMap{0: {MemoryMap: nil, Cells: []int{0}}}
	v1 := memoryFileV1{PolicyName: "Static", MachineState: state, Entries: ContainerMemory{}}
	v1.Checksum = sum(&v1, "MemoryManagerCheckpoint")
	v2 := memoryFileV2{PolicyName: "Static", MachineState: state, Entries: ContainerMemory{}, PodEntries: PodMemoryMap{}}
	v2.Checksum = sum(&v2, "MemoryManagerCheckpoint")
	for name, file := range map[string]any{"v1": v1, "v2": v2} {
		s, err := ReadMemoryManagerState([]byte(jsonOf(file)), "Static", Gates{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Equal(s.MachineState[0].Cells, []int{0}) {
			t.Errorf("%s: got %+v", name, s)
		}
	}
	v1.PolicyName = "None"
	if _, err := ReadMemoryManagerState([]byte(jsonOf(v1)), "", Gates{}); !errors.Is(err, errCheckpointCorrupt) {
		t.Errorf("changed file: error %v", err)
	}
}

// Files of older kubelets are read by this one.
func TestMarshalForOlderKubelets(t *testing.T) {
	t.Parallel()
	for _, minor := range []Minor{35, 36, 37} {
		plain := DefaultGates(minor)
		gates := []Gates{plain}
		if gated, err := plain.With(map[string]bool{"PodLevelResources": true, "PodLevelResourceManagers": true}); err == nil {
			gates = append(gates, gated)
		}
		for _, g := range gates {
			cpus := &CPUManagerState{PolicyName: "static", DefaultCPUSet: cpuset.New(0, 1), Entries: map[string]map[string]cpuset.CPUSet{"u": {"c": cpuset.New(2)}}}
			blob, err := cpus.Marshal(g)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := ReadCPUManagerState(blob, "static", Gates{}); err != nil || !got.Entries["u"]["c"].Equals(cpuset.New(2)) {
				t.Errorf("%v: CPU state %v, error %v\n%s", minor, got, err, blob)
			}
			if versioned := strings.Contains(string(blob), `"data":`); versioned != (minor >= firstVersioned) {
				t.Errorf("%v writes %s", minor, blob)
			}
			memory := &MemoryManagerState{PolicyName: "Static", Entries: ContainerMemory{"u": {"c": {{NUMAAffinity: []int{0}, Type: "memory", Size: 1}}}}}
			if blob, err = memory.Marshal(g); err != nil {
				t.Fatal(err)
			}
			if got, err := ReadMemoryManagerState(blob, "Static", Gates{}); err != nil || got.Entries["u"]["c"][0].Size != 1 {
				t.Errorf("%v: memory state %v, error %v\n%s", minor, got, err, blob)
			}
		}
	}
}

func FuzzReadCPUManagerState(f *testing.F) {
	seedCheckpoints(f, CPUManagerStateFile)
	f.Fuzz(func(t *testing.T, blob []byte) {
		s, err := ReadCPUManagerState(blob, "", Gates{})
		if err != nil {
			return
		}
		again, err := s.Marshal(Gates{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCPUManagerState(again, s.PolicyName, Gates{}); err != nil {
			t.Errorf("written but not read: %v\n%s", err, again)
		}
	})
}

func FuzzReadMemoryManagerState(f *testing.F) {
	seedCheckpoints(f, MemoryManagerStateFile)
	f.Fuzz(func(t *testing.T, blob []byte) {
		s, err := ReadMemoryManagerState(blob, "", Gates{})
		if err != nil {
			return
		}
		again, err := s.Marshal(Gates{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadMemoryManagerState(again, s.PolicyName, Gates{}); err != nil {
			t.Errorf("written but not read: %v\n%s", err, again)
		}
	})
}

func FuzzReadDeviceManagerState(f *testing.F) {
	seedCheckpoints(f, DeviceManagerStateFile)
	f.Fuzz(func(t *testing.T, blob []byte) {
		s, err := ReadDeviceManagerState(blob)
		if err != nil {
			return
		}
		if _, err := s.Marshal(); err != nil {
			t.Fatal(err)
		}
	})
}

func seedCheckpoints(f *testing.F, name string) {
	files := recorded(f, name)
	n := 0
	for _, content := range files {
		if f.Add([]byte(content)); n == 20 {
			break
		}
		n++
	}
	f.Add([]byte(`{"policyName":"static","defaultCpuSet":"0-3","checksum":0}`))
}
