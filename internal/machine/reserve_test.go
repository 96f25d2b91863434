package machine

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWholeCores(t *testing.T) {
	tests := []struct {
		name, machine string
		isolated      []int
		n             int
		split         bool
		want          string
	}{
		{"threads come along", "sockets=2,numa=2,cores=8,threads=2", nil, 2, false, "0-1,8-9"},
		{"split", "sockets=2,numa=2,cores=8,threads=2", nil, 2, true, "0,4,8,12"},
		{"split unevenly", "sockets=2,numa=2,cores=8,threads=2", nil, 3, true, "0-1,4,8-9,12"},
		{"compact numbering", "cores=4,threads=2,numbering=compact", nil, 1, false, "0-1"},
		{"over to the next node", "sockets=2,numa=2,cores=4", nil, 3, false, "0-2"},
		{"not the isolated", "cores=4", []int{0, 1}, 1, false, "2"},
		// Node 0 has the even CPUs, as on many two-socket servers.
		{"interleaved nodes", "numa:2 core:4 pu:1(indexes=4*2:1*4)", nil, 2, false, "0,2"},
		{"cache by cache", "l3:2 core:4 pu:1(indexes=4*2:1*4)", nil, 3, false, "0,2,4"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := ParseSynthetic(tt.machine)
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range tt.isolated {
				m.CPUs[id].Isolated = true
			}
			got, err := m.WholeCores(tt.n, tt.split)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWholeCoresRefuses(t *testing.T) {
	for n, want := range map[int]string{0: "at least one", 4: "nothing would be left"} {
		if _, err := small().WholeCores(n, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d cores: got %v, want an error with %q", n, err, want)
		}
	}
}

func TestWholeCoresNeverTakesAnOddThread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		numa := rapid.IntRange(1, 4).Draw(t, "numa")
		m := (&totals{sockets: 1, numa: numa, llc: numa, cores: numa * 3, threads: 2, distances: usualDistances()}).machine()
		for i := range m.CPUs {
			m.CPUs[i].Online = rapid.IntRange(0, 4).Draw(t, "online") > 0
		}
		n := rapid.IntRange(1, numa*3).Draw(t, "n")
		got, err := m.WholeCores(n, rapid.Bool().Draw(t, "split"))
		if err != nil {
			if n < len(m.Cores()) {
				t.Fatal(err)
			}
			return
		}
		whole := 0
		for _, core := range m.Cores() {
			in := 0
			for _, c := range core {
				if got.Contains(c.ID) {
					in++
				}
			}
			if in != 0 && in != len(core) {
				t.Fatalf("%d of %d threads of a core in %s", in, len(core), got)
			}
			if in > 0 {
				whole++
			}
		}
		if whole != n {
			t.Fatalf("%d cores in %s, want %d", whole, got, n)
		}
	})
}
