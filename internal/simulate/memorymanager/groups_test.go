package memorymanager

import (
	"errors"
	"testing"

	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// A node of a group can serve alone when the merged hint is narrower than the
// group. Once that container is gone the group's mark is not the group any
// more, and the kubelet refuses its own state.
func TestSingleAllocationBreaksAGroup(t *testing.T) {
	t.Parallel()
	m := started(t, config())
	large := pod("large", nil, container("c", "memory=12Gi"))
	guest := pod("guest", nil, container("c", "memory=1Gi"))
	if err := m.Allocate(large, &large.Spec.Containers[0], topologymanager.Hint{}); err != nil {
		t.Fatal(err)
	}
	if err := m.Allocate(guest, &guest.Spec.Containers[0], topologymanager.Hint{Affinity: 2}); err != nil {
		t.Fatal(err)
	}
	restart := func() (*Manager, error) {
		again, err := New(config())
		if err != nil {
			t.Fatal(err)
		}
		return again, again.Start(m.State())
	}
	if again, err := restart(); err != nil || !again.Chance() {
		t.Errorf("while both run: error %v, chance %t; want a start that is chance", err, again.Chance())
	}
	m.RemoveStale(func(uid string) bool { return uid == "large" })
	if again, err := restart(); !errors.Is(err, errOtherMachine) || again.Chance() {
		t.Errorf("after the guest: error %v, chance %t; want a refusal that is none", err, again.Chance())
	}
}
