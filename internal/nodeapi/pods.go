package nodeapi

import (
	"context"
	"fmt"
	"path/filepath"

	"google.golang.org/grpc"
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
	return ask(ctx, socket, pods)
}

func pods(ctx context.Context, conn *grpc.ClientConn, socket string) ([]*corev1.Pod, error) {
	answer, err := podsv1alpha1.NewPodsClient(conn).ListPods(ctx, &podsv1alpha1.ListPodsRequest{})
	if err != nil {
		return nil, fmt.Errorf("asking the kubelet at %s for its pods: %w", socket, err)
	}
	list := make([]*corev1.Pod, 0, len(answer.GetPods()))
	for i, data := range answer.GetPods() {
		pod := &corev1.Pod{}
		if err := pod.Unmarshal(data); err != nil {
			return nil, fmt.Errorf("decoding pod %d of the kubelet's answer: %w", i+1, err)
		}
		list = append(list, pod)
	}
	return list, nil
}
