package kubelet

import (
	"errors"
	"testing"
)

// TestCheckpointsOfAnotherMinor reads files that a kubelet of another minor, or
// with another gate, has left.
func TestCheckpointsOfAnotherMinor(t *testing.T) {
	t.Parallel()
	gates := func(minor Minor, podLevel bool) Gates {
		g, err := DefaultGates(minor).With(map[string]bool{"PodLevelResourceManagers": podLevel})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	old := DefaultGates(35)
	tests := []struct {
		name           string
		writer, reader Gates
		corrupt        bool
	}{
		{"of 1.35 by 1.36", old, gates(36, false), false},
		{"of 1.35 by 1.36 with the gate", old, gates(36, true), false},
		{"of 1.35 by 1.37", old, gates(37, false), false},
		{"of 1.36 by 1.35", gates(36, false), old, false},
		{"of 1.36 with the gate by 1.36", gates(36, true), gates(36, true), false},
		{"of 1.36 with the gate by 1.36 without", gates(36, true), gates(36, false), true},
		{"of 1.36 with the gate by 1.35", gates(36, true), old, true},
		{"of 1.36 with the gate by 1.37 without", gates(36, true), gates(37, false), false},
		{"of 1.37 by 1.36", gates(37, true), gates(36, false), false},
		{"of 1.37 by 1.35", gates(37, false), old, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			check := func(file string, blob []byte, errWrite error, read func([]byte) error) {
				if errWrite != nil {
					t.Fatal(errWrite)
				}
				err := read(blob)
				if errors.Is(err, errCheckpointCorrupt) != test.corrupt || err != nil && !test.corrupt {
					t.Errorf("%s: got %v, want corrupt %t of %s", file, err, test.corrupt, blob)
				}
			}
			blob, err := (&CPUManagerState{PolicyName: "none"}).Marshal(test.writer)
			check(CPUManagerStateFile, blob, err, func(b []byte) error {
				_, err := ReadCPUManagerState(b, "none", test.reader)
				return err
			})
			blob, err = (&MemoryManagerState{PolicyName: "None"}).Marshal(test.writer)
			check(MemoryManagerStateFile, blob, err, func(b []byte) error {
				_, err := ReadMemoryManagerState(b, "None", test.reader)
				return err
			})
		})
	}
}

// TestCorruptCheckpointError has an entry, which no kubelet read as text.
func TestCorruptCheckpointError(t *testing.T) {
	t.Parallel()
	const blob = `{"policyName":"static","defaultCpuSet":"2-7","entries":{"p2":{"c0":"1"}},"checksum":1}`
	for minor, want := range map[Minor]string{
		35: "checkpoint is corrupted",
		36: "json: cannot unmarshal object into Go struct field CPUManagerCheckpointV1.entries of type string",
		37: "checkpoint is corrupted",
	} {
		if _, err := ReadCPUManagerState([]byte(blob), "static", DefaultGates(minor)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", minor, err, want)
		}
	}
}
