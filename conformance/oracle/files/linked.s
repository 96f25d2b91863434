// Lets the package declare the functions that go:linkname fills in.
