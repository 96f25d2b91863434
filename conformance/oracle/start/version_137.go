//go:build !kubelet135 && !kubelet136

package start

const version = "v1.37.2"
