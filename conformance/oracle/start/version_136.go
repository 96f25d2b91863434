//go:build kubelet136

package start

const version = "v1.36.3"
