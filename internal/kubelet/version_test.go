package kubelet

import "testing"

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]Minor{
		"1.37": 37, "v1.36": 36, "v1.37.2": 37, "v1.35.4+k3s1": 35, "k3s version v1.36.1+k3s1 (56ec5dd4)": 36, "Kubernetes v1.38.0-alpha.1\n": 38, "1.30+": 30,
		"": 0, "1": 0, "2.1": 0, "v1.": 0, "v1.x": 0, "1.-1": 0, "1.99999999999": 0,
	} {
		got, err := ParseVersion(text)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestNearest(t *testing.T) {
	all := Versions()
	for m, want := range map[Minor]Minor{30: all[0], 36: 36, Latest: Latest, 99: Latest} {
		if got := m.Nearest(); got != want || m.Known() != (m == want) {
			t.Errorf("%s: nearest %s, known %t", m, got, m.Known())
		}
	}
}

func FuzzParseVersion(f *testing.F) {
	f.Add("v1.37.2")
	f.Fuzz(func(t *testing.T, text string) {
		if m, err := ParseVersion(text); err == nil && (m < 0 || m > 65535) {
			t.Errorf("%q is minor version %d", text, m)
		}
	})
}
