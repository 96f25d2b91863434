package nodeapi

import (
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// PodsSocket is where the kubelet of the host below root serves its PodsAPI.
//
// kubelet v1.37: pkg/kubelet/kubeletconfig/defaults.go DefaultKubeletPodsAPIDirName.
func PodsSocket(root string) string {
	return filepath.Join(root, "var/lib/kubelet/pods-api/pods-api.sock")
}

// Pods lists the pods that the kubelet knows, static and mirrored ones
// included, as the kubelet holds them: with defaults and status. The list is
// complete. The API is beta in 1.37.
func Pods(ctx context.Context, socket string) ([]*corev1.Pod, error) {
	conn, err := dial(socket)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	answer, err := podsv1alpha1.NewPodsClient(conn).ListPods(ctx, &podsv1alpha1.ListPodsRequest{})
	if err != nil {
		return nil, fmt.Errorf("asking the kubelet at %s for its pods: %w", socket, err)
	}
	pods := make([]*corev1.Pod, 0, len(answer.GetPods()))
	for i, data := range answer.GetPods() {
		pod := &corev1.Pod{}
		if err := pod.Unmarshal(data); err != nil {
			return nil, fmt.Errorf("decoding pod %d of the kubelet's answer: %w", i+1, err)
		}
		pods = append(pods, pod)
	}
	return pods, nil
}
