package cpumanager

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCombinationsShareMemory holds the one thing about combinations that is
// not obvious: what becomes of a choice that is kept.
func TestCombinationsShareMemory(t *testing.T) {
	t.Parallel()
	tests := []struct {
		nodes, k int
		// kept is what the first choice has become at the end.
		kept []int
	}{
		{4, 2, []int{0, 1}},
		{5, 3, []int{0, 1, 2}},
		{6, 4, []int{0, 1, 2, 5}},
		{7, 5, []int{0, 1, 2, 3, 4}},
		{8, 6, []int{0, 1, 2, 3, 4, 7}},
		{9, 7, []int{0, 1, 2, 3, 4, 7, 8}},
		{10, 8, []int{0, 1, 2, 3, 4, 7, 8, 9}},
	}
	for _, tt := range tests {
		nodes := make([]int, tt.nodes)
		for i := range nodes {
			nodes[i] = i
		}
		var first []int
		seen := map[string]bool{}
		combinations(nodes, tt.k, func(chosen []int) bool {
			if first == nil {
				first = chosen
				if !slices.Equal(chosen, nodes[:tt.k]) {
					t.Errorf("%d of %d: first choice %v", tt.k, tt.nodes, chosen)
				}
			}
			seen[string(bytesOf(chosen))] = true
			return true
		})
		if diff := cmp.Diff(tt.kept, first); diff != "" {
			t.Errorf("%d of %d: the first choice became (-want +got):\n%s", tt.k, tt.nodes, diff)
		}
		if want := binomial(tt.nodes, tt.k); len(seen) != want {
			t.Errorf("%d of %d: %d choices, want %d", tt.k, tt.nodes, len(seen), want)
		}
	}
}

func bytesOf(chosen []int) []byte {
	b := make([]byte, len(chosen))
	for i, node := range chosen {
		b[i] = byte(node)
	}
	return b
}

func binomial(n, k int) int {
	result := 1
	for i := range k {
		result = result * (n - i) / (i + 1)
	}
	return result
}
