package quantity

import "fmt"

// Count prints a number of things for people: 1 CPU, 4 CPUs. The thing is named
// in the singular, and its plural ends in s.
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
