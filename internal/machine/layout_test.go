package machine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/cpuset"
)

// outline writes a layout in one line: kind, id, and in brackets what is inside.
func outline(b *Box) string {
	var inner []string
	for _, i := range b.Inner {
		inner = append(inner, outline(i))
	}
	if b.Kind == BoxCore || b.Kind == BoxOffline {
		for _, c := range b.CPUs {
			inner = append(inner, fmt.Sprint(c.ID))
		}
	}
	return fmt.Sprintf("%s%d[%s]", b.Kind[:2], b.ID, strings.Join(inner, " "))
}

func TestLayout(t *testing.T) {
	tests := []struct{ machine, want string }{
		{"sockets=2,numa=2,llc=2,cores=2,threads=2", "ma0[pa0[nu0[ca0[co0[0 2]]]] pa1[nu1[ca1[co0[1 3]]]]]"},
		{"sockets=1,numa=2,llc=1,cores=2", "ma0[pa0[ca0[nu0[co0[0]] nu1[co1[1]]]]]"},
		{"sockets=2,numa=1,llc=2,cores=2", "ma0[nu0[pa0[ca0[co0[0]]] pa1[ca1[co0[1]]]]]"},
		{"pack:1 die:2 l3:2 core:1", "ma0[pa0[nu0[di0[ca0[co0[0]] ca1[co1[1]]] di1[ca2[co2[2]] ca3[co3[3]]]]]]"},
	}
	for _, tt := range tests {
		m, err := ParseSynthetic(tt.machine)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, outline(m.Layout())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.machine, diff)
		}
	}
}

func TestLayoutOfIrregular(t *testing.T) {
	m, err := detectIn(t.Context(), readCapture(t, "irregular").files(t))
	if err != nil {
		t.Fatal(err)
	}
	// CPU 4 is on no node, node 7 has no CPU, CPU 3 is offline.
	want := "ma0[pa0[nu-1[ca4[co5[4]]] nu0[ca0[co0[0 1] co4[2]]]] nu7[] of0[3]]"
	if diff := cmp.Diff(want, outline(m.Layout())); diff != "" {
		t.Errorf("layout (-want +got):\n%s", diff)
	}
}

func TestMarks(t *testing.T) {
	m, err := ParseSynthetic("cores=6")
	if err != nil {
		t.Fatal(err)
	}
	m.CPUs[5].Online = false
	m.CPUs[3].Isolated, m.CPUs[4].Isolated = true, true
	marks := m.Marks(Use{
		Reserved:  cpuset.New(0, 5),
		Shared:    cpuset.New(0, 1, 3),
		Exclusive: map[string]cpuset.CPUSet{"default/web/init": cpuset.New(2), "default/web/main": cpuset.New(2)},
	})
	want := []string{"reserved", "shared", "exclusive default/web/main", "shared, isolated", "isolated", "offline"}
	for id, text := range want {
		if got := marks[id].String(); got != text {
			t.Errorf("CPU %d: got %q, want %q", id, got, text)
		}
	}
}
