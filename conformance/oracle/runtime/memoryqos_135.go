//go:build kubelet135

package runtime

import (
	"reflect"

	"github.com/kqos/kqos/conformance/oracle/inside"
)

// setMemoryQoS needs a factor: the defaults of this minor set it.
func setMemoryQoS(m reflect.Value, n Node) {
	inside.Set(m, "memoryThrottlingFactor", *n.MemoryThrottlingFactor)
}
