package apply

import (
	"errors"
	"testing"
)

// blind is a host that can't list what is in one cgroup.
type blind struct {
	*fake
	at string
}

func (b blind) Children(at string) ([]string, error) {
	if at == b.at {
		return nil, errors.New("permission denied")
	}
	return b.fake.Children(at)
}

// A list without the pods that could not be read would give away what they hold.
func TestPodsThatCannotBeListed(t *testing.T) {
	f := newFake()
	if _, _, err := pass(node(2), f, Options{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/kubepods", "/kubepods/burstable"} {
		if held, err := ReadHeld(node(0), blind{f, at}, "cpuset.cpus"); err == nil {
			t.Errorf("held without %s: %v", at, held)
		}
		if unknown, err := UnknownPod(node(0), blind{f, at}, nil); err == nil {
			t.Errorf("unknown without %s: %q", at, unknown)
		}
	}
}
