package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func oneOf(s string, words ...string) bool { return slices.Contains(words, s) }

// checkWord refuses a value that is none of those that a flag takes.
func checkWord(flag, value string, words ...string) error {
	if oneOf(value, words...) {
		return nil
	}
	return fmt.Errorf("--%s %q: must be %s%s", flag, value, anyOf(words), didYouMean(value, words))
}

// anyOf is "a, b or c".
func anyOf(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// didYouMean ends a message with the word that was meant; empty where none is near.
func didYouMean(typed string, words []string) string {
	if word := nearest(typed, words); word != "" {
		return ", did you mean " + word + "?"
	}
	return ""
}

// nearest is the word that is nearest to a mistyped one: at most two letters away,
// and less than half of them, whatever their case; else the first that it begins.
// It is empty where none is, or the word is one of them.
func nearest(typed string, words []string) string {
	if slices.Contains(words, typed) {
		return ""
	}
	best, at := "", min(3, (len(typed)+1)/2)
	for _, word := range words {
		if !strings.ContainsFunc(word, unicode.IsLetter) {
			continue // a version is another one, not a slip
		}
		if d := distance(strings.ToLower(typed), strings.ToLower(word)); d < at {
			best, at = word, d
		}
	}
	const shortest = 3 // of a beginning
	if i := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, typed) }); best == "" && i >= 0 && len(typed) >= shortest {
		return words[i]
	}
	return best
}

// nearestFlag suggests the flag that was meant, from pflag's "unknown flag" text.
func nearestFlag(cmd *cobra.Command, err error) string {
	wrong, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	if name := nearest(wrong, names); name != "" {
		return ", did you mean --" + name + "?"
	}
	return ""
}

// unknownCommand names the command or topic below cmd that was meant.
func unknownCommand(cmd *cobra.Command, name string) error {
	var names []string
	for _, child := range shownBelow(cmd) {
		names = append(names, child.Name())
	}
	return fmt.Errorf("unknown command %q%s; see '%s --help'", name, didYouMean(name, names), cmd.CommandPath())
}

// distance is the number of letters to insert, delete, change, or swap with the next.
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
