package apply

import "testing"

func TestOwnTree(t *testing.T) {
	for _, tt := range []struct {
		name  string
		touch func(*fake)
		pods  int
		prune bool
		want  bool
	}{
		{"nothing there yet", func(f *fake) { clear(f.groups) }, 2, false, true},
		{"all our own and wanted", func(*fake) {}, 2, false, true},
		{"one of our own is not given", func(*fake) {}, 1, false, false},
		{"one of our own is not given, and goes", func(*fake) {}, 1, true, true},
		{"one that goes is still lived in", func(f *fake) { f.groups["/kubepods/burstable/podu1"].procs = 1 }, 1, true, false},
		{"another's tier", func(f *fake) { f.groups["/kubepods/burstable"].marked = false }, 2, false, false},
		{"another's pod", func(f *fake) { f.add("/kubepods/burstable/podx", false) }, 2, true, false},
		{"another's wanted pod", func(f *fake) { f.groups["/kubepods/burstable/podu1"].marked = false }, 2, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFake()
			if _, _, err := pass(node(2), f, Options{}, nil); err != nil {
				t.Fatal(err)
			}
			tt.touch(f)
			got, err := OwnTree(node(tt.pods), f, tt.prune)
			if err != nil || got != tt.want {
				t.Errorf("got %v, %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestUnknownPod(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(2), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	f.add("/kubepods/burstable/system", false)
	for _, tt := range []struct {
		known map[string]bool
		want  string
	}{
		{map[string]bool{"u0": true, "u1": true, "gone": true}, ""},
		{map[string]bool{"u1": true}, "/kubepods/burstable/podu0"},
	} {
		if got, err := UnknownPod(node(0), f, tt.known); got != tt.want || err != nil {
			t.Errorf("known %v: %q, %v; want %q", tt.known, got, err, tt.want)
		}
	}
}
