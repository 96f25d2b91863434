//go:build kubelet135

package placement

// describePod: no pod has anything as a whole in this minor.
func (k *kubelet) describePod(string, *EventResult) {}
