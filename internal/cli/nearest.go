package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func oneOf(s string, words ...string) bool { return slices.Contains(words, s) }

// nearestFlag suggests the flag that was meant, from pflag's "unknown flag" text.
func nearestFlag(cmd *cobra.Command, err error) string {
	wrong, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return ""
	}
	best, at := "", 3
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := distance(wrong, f.Name); d < at && !f.Hidden {
			best, at = f.Name, d
		}
	})
	if best == "" {
		return ""
	}
	return ", did you mean --" + best + "?"
}

// distance is the number of letters to insert, delete or change (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
