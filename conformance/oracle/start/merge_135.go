//go:build kubelet135

package start

import (
	_ "unsafe" // for go:linkname

	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
)

//go:linkname merge k8s.io/kubernetes/cmd/kubelet/app.mergeKubeletConfigurations
func merge(c *kubeletconfig.KubeletConfiguration, dir string) error
