package parallel

import (
	"sync/atomic"
	"testing"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		seen := make([]int, n)
		var calls atomic.Int64
		Each(n, func(i int) {
			seen[i]++
			calls.Add(1)
		})
		if calls.Load() != int64(n) {
			t.Errorf("%d calls for %d", calls.Load(), n)
		}
		for i, times := range seen {
			if times != 1 {
				t.Errorf("index %d of %d was called %d times", i, n, times)
			}
		}
	}
}
