package quantity

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 NUMA nodes", 1: "1 NUMA node", 2: "2 NUMA nodes", -1: "-1 NUMA nodes"} {
		if got := Count(n, "NUMA node"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
