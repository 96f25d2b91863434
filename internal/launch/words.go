package launch

import (
	"os"
	"strings"
)

// words splits a line as systemd and shells do: at blanks, which quotes and
// backslashes keep in a word.
func words(line string) []string {
	var all []string
	var word strings.Builder
	begun, quote := false, rune(0)
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			begun, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			begun, quote = true, r
		case quote == 0 && strings.ContainsRune(" \t\r\n", r):
			if begun {
				all = append(all, word.String())
			}
			word.Reset()
			begun = false
		default:
			word.WriteRune(r)
			begun = true
		}
	}
	if begun {
		all = append(all, word.String())
	}
	return all
}

// expand puts variables in: $NAME as a word of its own becomes the words of its
// value, ${NAME} stays within its word. An unknown one is empty.
//
// systemd.service(5), "Command lines".
func expand(line []string, variables map[string]string) []string {
	var all []string
	for _, word := range line {
		if name, ok := strings.CutPrefix(word, "$"); ok && !strings.HasPrefix(name, "{") {
			all = append(all, words(variables[name])...)
			continue
		}
		all = append(all, os.Expand(word, func(name string) string { return variables[name] }))
	}
	return all
}
