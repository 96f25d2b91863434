//go:build kubelet136

package runtime

import (
	"reflect"

	"github.com/kqos/kqos/conformance/oracle/inside"
)

// setMemoryQoS needs a factor: the defaults of this minor set it.
func setMemoryQoS(m reflect.Value, n Node) {
	inside.Set(m, "memoryReservationPolicy", n.MemoryReservationPolicy)
	inside.Set(m, "memoryThrottlingFactor", *n.MemoryThrottlingFactor)
}
