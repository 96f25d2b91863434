package cli

import (
	"os"
	"testing"
)

// Cron and services have /dev/null for standard input, which is no terminal
// though it is a character device too.
func TestNullIsNoTerminal(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if isTerminal(f) {
		t.Error(os.DevNull + " is taken for a terminal")
	}
}
