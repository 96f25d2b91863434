package allocatable

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/kubelet"
)

func TestParseThreshold(t *testing.T) {
	for _, tt := range []struct {
		signal, text string
		capacity     string
		want         int64 // bytes; -1 for no threshold
		err          string
	}{
		{"memory.available", "100Mi", "8Gi", 100 << 20, ""},
		{"memory.available", "0%", "8Gi", -1, ""},
		{"memory.available", "100%", "8Gi", -1, ""},
		// The text decides: this is a threshold.
		{"memory.available", "100.0%", "8Gi", 8 << 30, ""},
		{"memory.available", "0.0%", "8Gi", 0, ""},
		// Single precision: a tenth would be …240 and 814397849.
		{"nodefs.available", "10%", "107374182400", 10737418400, ""},
		{"memory.available", "10%", "8143978496", 814397861, ""},
		{"memory.available", "10%%", "107374182400", 10737418400, ""},
		{"memory.available", "NaN%", "8Gi", math.MinInt64, ""},
		{"memory.available", "Inf%", "8Gi", 0, "eviction percentage threshold memory.available must be <= 100%: Inf%"},
		{"memory.available", "101%", "8Gi", 0, "eviction percentage threshold memory.available must be <= 100%: 101%"},
		{"memory.available", "-1%", "8Gi", 0, "eviction percentage threshold memory.available must be >= 0%: -1%"},
		{"memory.available", "5 %", "8Gi", 0, `strconv.ParseFloat: parsing "5 ": invalid syntax`},
		{"memory.available", "0", "8Gi", 0, "eviction threshold memory.available must be positive: 0"},
		{"memory.available", "-100Mi", "8Gi", 0, "eviction threshold memory.available must be positive: -100Mi"},
		{"memory.available", "much", "8Gi", 0, "quantities must match the regular expression"},
		{"memory.free", "1Gi", "8Gi", 0, "unsupported eviction signal memory.free"},
		// The largest capacity times one has no int64.
		{"memory.available", "100.0%", "9223372036854775807", math.MinInt64, ""},
	} {
		got, err := parseThreshold(tt.signal, tt.text)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s<%s: error %v, want %s", tt.signal, tt.text, err, tt.err)
			}
			continue
		}
		if err != nil || (got == nil) != (tt.want == -1) {
			t.Errorf("%s<%s: %v, error %v", tt.signal, tt.text, got, err)
			continue
		}
		if got != nil {
			if q := got.Amount(resource.MustParse(tt.capacity)); q.Value() != tt.want {
				t.Errorf("%s<%s of %s: %d, want %d", tt.signal, tt.text, tt.capacity, q.Value(), tt.want)
			}
		}
	}
}

func TestCheckEviction(t *testing.T) {
	c, err := kubelet.Load(kubelet.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.EvictionSoft = map[string]string{"memory.available": "1Gi", "nodefs.available": "x"}
	c.EvictionSoftGracePeriod = map[string]string{"imagefs.available": "-1s", "disk": "1m", "pid.available": "soon"}
	c.EvictionMinimumReclaim = map[string]string{"memory.available": "0%", "nodefs.available": "-1Gi", "disk": "1"}
	var got []string
	for _, f := range checkEviction(c) {
		got = append(got, f.Field+": "+f.Message)
	}
	want := []string{
		"evictionSoft.nodefs.available: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
		"evictionSoftGracePeriod.disk: unsupported eviction signal disk",
		"evictionSoftGracePeriod.imagefs.available: invalid eviction grace period specified: -1s, must be a positive value",
		`evictionSoftGracePeriod.pid.available: time: invalid duration "soon"`,
		"evictionMinimumReclaim.disk: unsupported eviction signal disk",
		"evictionMinimumReclaim.memory.available: eviction percentage minimum reclaim memory.available must be positive: 0%",
		"evictionMinimumReclaim.nodefs.available: negative eviction minimum reclaim specified for nodefs.available",
		"evictionSoftGracePeriod.memory.available: grace period must be specified for the soft eviction threshold memory.available",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzParseThreshold(f *testing.F) {
	for _, text := range []string{"5%", "100Mi", "NaN%", "1e30", "0x1p-2%"} {
		f.Add("memory.available", text, int64(8<<30))
	}
	f.Fuzz(func(t *testing.T, signal, text string, capacity int64) {
		threshold, err := parseThreshold(signal, text)
		if err != nil || threshold == nil {
			return
		}
		capacity = max(capacity, 0)
		q := threshold.Amount(*resource.NewQuantity(capacity, resource.BinarySI))
		if p := float64(threshold.Percentage); threshold.Quantity == nil && !math.IsNaN(p) && capacity < 1<<62 && (q.Value() < 0 || q.Value() > capacity+capacity>>20) {
			t.Errorf("%s of %d is %s", text, capacity, &q)
		}
	})
}
