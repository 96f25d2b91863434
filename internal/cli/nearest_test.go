package cli

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"json", "svg", "container", "pod", "MemoryQoS", "single-numa-node", "systemd", "1.37"}
	for typed, want := range map[string]string{
		"jsn": "json", "JSON": "json", "sgv": "svg", "pods": "pod", "memoryqos": "MemoryQoS", "sytsemd": "systemd",
		"single-numa": "single-numa-node", "con": "container",
		"": "", "pod": "", "node": "", "xml": "", "1.36": "", "p": "", "systemctl": "",
	} {
		if got := nearest(typed, words); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
	}
}
