package manifest

import (
	"strings"
	"testing"
)

func TestRefusedAsStatic(t *testing.T) {
	const pod = "apiVersion: v1\nkind: Pod\n"
	for text, want := range map[string]string{
		pod:                                  "",
		"# a pod\n---\n" + pod:               "",
		pod + "---\nkind: Service\n":         "",
		"\ufeff" + pod:                       "",
		`{"apiVersion":"v1","kind":"Pod"}`:   "",
		`{"apiVersion":"v1","kind":"Pod"}{}`: "invalid character '{' after top-level value",
		"{apiVersion: v1, kind: Pod}":        "invalid character 'a' looking for beginning of object key string",
		"---\n---\n" + pod:                   "its first document is empty",
		"apiVersion: apps/v1\nkind: DaemonSet\n---\n" + pod: `its first document is no Pod of v1 but kind "DaemonSet" of apiVersion "apps/v1"`,
		"kind: Pod\n":                     `its first document is no Pod of v1 but kind "Pod" of apiVersion ""`,
		pod + strings.Repeat("#", 10<<20): "it has 10 MiB or more",
	} {
		if got := refusedAsStatic([]byte(text)); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}
