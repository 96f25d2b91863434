//go:build !kubelet135

package start

import (
	_ "unsafe" // for go:linkname

	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
)

//go:linkname mergeKubeletConfigurations k8s.io/kubernetes/cmd/kubelet/app.mergeKubeletConfigurations
func mergeKubeletConfigurations(c *kubeletconfig.KubeletConfiguration, dir string) ([]string, error)

func merge(c *kubeletconfig.KubeletConfiguration, dir string) error {
	_, err := mergeKubeletConfigurations(c, dir)
	return err
}
