package nodeapi

import (
	"context"
	"fmt"
	"path/filepath"

	"google.golang.org/grpc"
	podresourcesv1 "k8s.io/kubelet/pkg/apis/podresources/v1"
	"k8s.io/utils/cpuset"
)

// PodResourcesSocket is where the kubelet of the host below root tells what its
// managers gave to containers.
//
// kubelet v1.37: pkg/kubelet/kubeletconfig/defaults.go DefaultKubeletPodResourcesDirName.
func PodResourcesSocket(root string) string {
	return filepath.Join(root, "var/lib/kubelet/pod-resources/kubelet.sock")
}

// ContainerCPUs are the CPUs that a container has for itself; without a
// container's name those of the pod, its containers' own among them.
type ContainerCPUs struct {
	Namespace, Pod, Container string
	CPUs                      cpuset.CPUSet
}

// ExclusiveCPUs lists the containers to which the kubelet gave CPUs of their
// own.
func ExclusiveCPUs(ctx context.Context, socket string) ([]ContainerCPUs, error) {
	return ask(ctx, socket, exclusiveCPUs)
}

func exclusiveCPUs(ctx context.Context, conn *grpc.ClientConn, socket string) ([]ContainerCPUs, error) {
	answer, err := podresourcesv1.NewPodResourcesListerClient(conn).List(ctx, &podresourcesv1.ListPodResourcesRequest{})
	if err != nil {
		return nil, fmt.Errorf("asking the kubelet at %s what its managers gave: %w", socket, err)
	}
	var found []ContainerCPUs
	for _, pod := range answer.GetPodResources() {
		add := func(container string, ids []int64) {
			if len(ids) > 0 {
				found = append(found, ContainerCPUs{pod.GetNamespace(), pod.GetName(), container, cpus(ids)})
			}
		}
		add("", pod.GetCpuIds())
		for _, c := range pod.GetContainers() {
			add(c.GetName(), c.GetCpuIds())
		}
	}
	return found, nil
}

func cpus(ids []int64) cpuset.CPUSet {
	all := make([]int, len(ids))
	for i, id := range ids {
		all[i] = int(id)
	}
	return cpuset.New(all...)
}
