package cgroups

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSystemdQuota holds what rounding must keep: the file grants no less than
// was asked for, less than a percent of a CPU more, and what the property says.
func TestSystemdQuota(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Uint64Range(1000, 1_000_000).Draw(t, "period")
		quota := rapid.Int64Range(1000, 1<<40).Draw(t, "quota")
		s := Settings{CPUQuota: set(quota, "limit"), CPUPeriod: set(period, "period")}
		r := s.Render(Platform{Driver: Systemd, Version: 2})
		files, properties := values(r.Files), values(r.Properties)
		written, err := strconv.ParseInt(strings.Fields(files["cpu.max"])[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		// The library divides downwards twice, which may cost one µs of the period.
		if percent := int64(period)/100 + 1; written < quota-1 || written > quota+percent {
			t.Errorf("asked for %d of %d, written %d", quota, period, written)
		}
		perSecond, err := strconv.ParseUint(properties["CPUQuotaPerSecUSec"], 10, 64)
		if err != nil || perSecond%10_000 != 0 {
			t.Errorf("CPUQuotaPerSecUSec=%s is no whole percent", properties["CPUQuotaPerSecUSec"])
		}
	})
}

func TestUnlimitedMemory(t *testing.T) {
	s := Settings{Memory: set[int64](-1, "exactly -1 is no limit")}
	for _, tt := range []struct {
		platform          Platform
		files, properties string
	}{
		{Platform{Driver: Cgroupfs, Version: 1}, "map[memory/memory.limit_in_bytes:-1]", "map[]"},
		{Platform{Driver: Systemd, Version: 1}, "map[memory/memory.limit_in_bytes:-1]", "map[MemoryLimit:infinity]"},
		{Platform{Driver: Systemd, Version: 2}, "map[memory.max:max memory.swap.max:max]", "map[MemoryMax:infinity MemorySwapMax:infinity]"},
	} {
		r := s.Render(tt.platform)
		if got := fmt.Sprint(values(r.Files)); got != tt.files {
			t.Errorf("%v: files %s, want %s", tt.platform, got, tt.files)
		}
		if got := fmt.Sprint(values(r.Properties)); got != tt.properties {
			t.Errorf("%v: properties %s, want %s", tt.platform, got, tt.properties)
		}
	}
}
