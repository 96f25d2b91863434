package cgroups

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// golden decodes the cases of a recorded file of testdata/golden.
func golden[C any](t *testing.T, name string) []C {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../testdata/golden", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []C
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatalf("%s holds no case", name)
	}
	return cases
}

func TestConversionsGolden(t *testing.T) {
	type conversion struct {
		Name  string
		Input struct {
			Op     string
			Value  json.Number
			Period int64
		}
		Want struct{ Value json.Number }
	}
	for _, c := range golden[conversion](t, "conversions.json") {
		signed, _ := c.Input.Value.Int64()
		var unsigned uint64
		if err := json.Unmarshal([]byte(c.Input.Value), &unsigned); err != nil {
			unsigned = uint64(signed)
		}
		var got any
		switch c.Input.Op {
		case "milliCPUToShares":
			got = MilliCPUToShares(signed)
		case "milliCPUToQuota":
			got = MilliCPUToQuota(signed, c.Input.Period)
		case "sharesToWeightKubelet":
			got = SharesToWeight(unsigned)
		case "sharesToWeightRuntime":
			got = SharesToWeightRuntime(unsigned)
		case "weightToShares", "sharesToMilliCPU", "quotaToMilliCPU":
			continue // how the kubelet reads a pod back; kqos compares the files themselves
		default:
			t.Fatalf("%s: unknown operation", c.Name)
		}
		if text, _ := json.Marshal(got); string(text) != string(c.Want.Value) {
			t.Errorf("%s: got %s, want %s", c.Name, text, c.Want.Value)
		}
	}
}

// TestConversionsOfCaseB13 reads the table of testdata/cases that puts both
// conversions to cpu.weight side by side.
func TestConversionsOfCaseB13(t *testing.T) {
	type line struct {
		MilliCPU, Quota                      int64
		Shares, WeightRuntime, WeightKubelet uint64
	}
	var expected struct {
		Runs []struct {
			Expect struct{ Conversion []line }
		}
	}
	data, err := os.ReadFile("../../testdata/cases/B13-shares-to-weight/expected.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &expected); err != nil {
		t.Fatal(err)
	}
	lines := expected.Runs[0].Expect.Conversion
	if len(lines) == 0 {
		t.Fatal("no line in the table")
	}
	for _, want := range lines {
		shares := MilliCPUToShares(want.MilliCPU)
		got := line{want.MilliCPU, MilliCPUToQuota(want.MilliCPU, defaultPeriod), shares, SharesToWeightRuntime(shares), SharesToWeight(shares)}
		if got != want {
			t.Errorf("%dm: got %+v, want %+v", want.MilliCPU, got, want)
		}
	}
}
