package quantity

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestParse(t *testing.T) {
	for _, text := range []string{"1", "500m", "1Ei", "1E", "1e3", "1e-9", "-1E+03", "1e9999", "0.5", strings.Repeat("9", 1000)} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("Parse(%s): %v", text, err)
			continue
		}
		if want := resource.MustParse(text); got.Cmp(want) != 0 {
			t.Errorf("Parse(%s) = %s, want %s", text, got.String(), want.String())
		}
	}
	for _, text := range []string{"1e10000", "1e999999999", "1E-999999999", "-1e+00012345", strings.Repeat("9", 1025), "1e" + strings.Repeat("9", 100)} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "too many digits") {
			t.Errorf("Parse(%.20s): error %v, want one of too many digits", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1e999999999", "1E-99999", "1Ei", "100m", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		start := time.Now()
		_, _ = Parse(s)
		if d := time.Since(start); d > time.Second {
			t.Errorf("Parse(%q) took %v", s, d)
		}
	})
}
