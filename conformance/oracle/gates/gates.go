// Package gates sets the kubelet's process-wide feature gates.
//
//	err := gates.Set(map[string]bool{"MemoryQoS": true})
package gates

import (
	"sync"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	_ "k8s.io/kubernetes/pkg/features" // registers the kubelet's gates

	"github.com/kqos/kqos/conformance/older"
)

// pristine are the kubelet's gates before anything was set on them, taken after
// every package has registered its own. A copy that is reset would lack their
// dependencies.
var pristine = sync.OnceValue(func() featuregate.MutableVersionedFeatureGate {
	return utilfeature.DefaultMutableFeatureGate.DeepCopy()
})

// Reset gives the kubelet's gates their defaults back, as at the start of a
// process, and returns them.
func Reset() featuregate.MutableVersionedFeatureGate {
	fresh := pristine().DeepCopy()
	utilfeature.DefaultMutableFeatureGate, utilfeature.DefaultFeatureGate = fresh, fresh
	return fresh
}

// Set resets the gates and sets some.
func Set(values map[string]bool) error {
	if older.Asked() {
		_, err := older.Try[any]("gates.Set", values)
		return err
	}
	return Reset().SetFromMap(values)
}

// Values are all gates as they are now.
func Values() map[string]bool {
	if older.Asked() {
		return older.Ask[map[string]bool]("gates.Values")
	}
	values := map[string]bool{}
	for name := range utilfeature.DefaultMutableFeatureGate.GetAll() {
		values[string(name)] = utilfeature.DefaultFeatureGate.Enabled(name)
	}
	return values
}
