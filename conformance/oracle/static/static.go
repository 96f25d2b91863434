// Package static has the kubelet's file source read the files of a static pod
// folder.
//
//	pod, err := static.Read("/etc/kubernetes/manifests/etcd.yaml", "node-1")
package static

import (
	"time"
	"unsafe"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	_ "k8s.io/kubernetes/pkg/kubelet/config" // the functions below are its own
)

//go:linkname newSourceFile k8s.io/kubernetes/pkg/kubelet/config.newSourceFile
func newSourceFile(path string, node types.NodeName, period time.Duration, updates unsafe.Pointer) unsafe.Pointer

//go:linkname extractFromFile k8s.io/kubernetes/pkg/kubelet/config.(*sourceFile).extractFromFile
func extractFromFile(source unsafe.Pointer, logger klog.Logger, file string) (*corev1.Pod, error)

//go:linkname extractFromDir k8s.io/kubernetes/pkg/kubelet/config.(*sourceFile).extractFromDir
func extractFromDir(source unsafe.Pointer, logger klog.Logger, dir string) ([]*corev1.Pod, error)

// Read is the pod of one file on the node, under the gates as they are set.
func Read(file, node string) (*corev1.Pod, error) {
	return extractFromFile(newSourceFile(file, types.NodeName(node), time.Hour, nil), klog.Background(), file)
}

// ReadFolder are the pods of a folder; files that are none are left away.
func ReadFolder(dir, node string) ([]*corev1.Pod, error) {
	return extractFromDir(newSourceFile(dir, types.NodeName(node), time.Hour, nil), klog.Background(), dir)
}
