//go:build !linux

package doctor

// unlinked is for Linux nodes.
func unlinked(string) []string { return nil }
