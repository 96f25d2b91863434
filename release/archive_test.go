package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestArchive(t *testing.T) {
	const want = `-rw-r--r-- LICENSE
-rw-r--r-- THIRD-PARTY-LICENSES
-rw-r--r-- completions/_kqos
-rw-r--r-- completions/kqos.bash
-rw-r--r-- completions/kqos.fish
-rwxr-xr-x kqos
-rwxr-xr-x kubectl_complete-kqos
-rw-r--r-- man/man1/kqos.1
`
	for _, b := range made.binaries {
		found := entries(t, bytes.NewReader(unpacked(t, file(t, made.name(b)+".tar.gz"))))
		if diff := cmp.Diff(want, modes(found)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", b, diff)
		}
		if !bytes.Equal(found["kqos"].data, program(t, b.os, b.arch)) {
			t.Errorf("%s: kqos is not the binary", b)
		}
		for name, e := range found {
			if len(e.data) == 0 {
				t.Errorf("%s: %s is empty", b, name)
			}
		}
	}
}
