//go:build !linux

package nodeapi

import (
	"context"
	"errors"
)

// Version is known on Linux only.
func (k *Kubelet) Version(context.Context, string) (string, error) {
	return "", errors.ErrUnsupported
}
