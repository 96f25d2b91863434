//go:build !linux

package nodeapi

import "context"

// Version is asked for on Linux only.
func (k *Kubelet) Version(context.Context, string) (string, error) {
	return "", ErrNotAsked
}
