package machine

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/utils/cpuset"
)

// formatList writes ids in the kernel's list format, such as "0-3,8".
func formatList(ids []int) string { return cpuset.New(ids...).String() }

// parseList reads the kernel's list format, such as "0-3,8". Unlike the
// kubelet's parser it bounds the numbers, so that "0-4000000000" in a hostile
// file costs nothing.
func parseList(text string) ([]int, error) {
	var ids []int
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		first, last, ranged := strings.Cut(part, "-")
		from, err := parseID(first)
		if err != nil {
			return nil, fmt.Errorf("list %q: %w", text, err)
		}
		to := from
		if ranged {
			if to, err = parseID(last); err != nil {
				return nil, fmt.Errorf("list %q: %w", text, err)
			}
		}
		if to < from || len(ids)+to-from >= 2*maxID {
			return nil, fmt.Errorf("list %q: %d-%d is not a range", text, from, to)
		}
		for id := from; id <= to; id++ {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// parseID reads the number of a CPU or node.
func parseID(text string) (int, error) {
	id, err := strconv.ParseUint(strings.TrimSpace(text), 10, 16)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number between 0 and %d", text, maxID)
	}
	return int(id), nil
}
