//go:build kubelet135

package start

const version = "v1.35.4"
