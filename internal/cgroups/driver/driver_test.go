package driver

import (
	"strings"
	"testing"
)

func TestCheckPath(t *testing.T) {
	for _, tt := range []struct {
		path string
		ok   bool
	}{
		{"/", true},
		{"/kubepods/burstable/pod1", true},
		{"/kubepods.slice/kubepods-podx.slice", true},
		{"", false},
		{"kubepods", false},
		{"/kubepods/", false},
		{"/kubepods/../../etc", false},
		{"/kubepods/./x", false},
		{"//kubepods", false},
		{"/kubepods/a\nb", false},
		{"/kubepods/a\x00b", false},
		{"/" + strings.Repeat("x", 255), true},
		{"/" + strings.Repeat("x", 256), false},
		{"/" + strings.Repeat("x", 4096), false},
	} {
		if err := checkPath(tt.path); (err == nil) != tt.ok {
			t.Errorf("checkPath(%.40q) = %v, want ok %v", tt.path, err, tt.ok)
		}
	}
}

func FuzzCheckPath(f *testing.F) {
	f.Add("/kubepods/pod..")
	f.Add("/..")
	f.Fuzz(func(t *testing.T, p string) {
		if checkPath(p) != nil {
			return
		}
		for part := range strings.SplitSeq(p, "/") {
			if part == ".." || strings.ContainsAny(part, "\n\x00") {
				t.Errorf("checkPath let %q through", p)
			}
		}
	})
}
