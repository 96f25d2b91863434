package nodeapi

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Container is one that the runtime runs for the kubelet.
type Container struct {
	ID, Name string
	// Sandbox says that it is the pod's own, which holds its namespaces; it has no
	// name.
	Sandbox bool
}

// Containers asks the first runtime that answers for its running containers,
// and for the sandboxes of its pods.
// The error says why none answered.
func Containers(ctx context.Context, sockets []string) ([]Container, error) {
	return askFirst(ctx, sockets, containers)
}

func containers(ctx context.Context, conn *grpc.ClientConn, socket string) ([]Container, error) {
	answer, err := runtimev1.NewRuntimeServiceClient(conn).ListContainers(ctx, &runtimev1.ListContainersRequest{
		Filter: &runtimev1.ContainerFilter{State: &runtimev1.ContainerStateValue{State: runtimev1.ContainerState_CONTAINER_RUNNING}},
	})
	if err != nil {
		return nil, fmt.Errorf("asking the runtime at %s for its containers: %w", socket, err)
	}
	found := make([]Container, 0, len(answer.GetContainers()))
	for _, c := range answer.GetContainers() {
		found = append(found, Container{ID: c.GetId(), Name: c.GetMetadata().GetName()})
	}
	pods, err := runtimev1.NewRuntimeServiceClient(conn).ListPodSandbox(ctx, &runtimev1.ListPodSandboxRequest{
		Filter: &runtimev1.PodSandboxFilter{State: &runtimev1.PodSandboxStateValue{State: runtimev1.PodSandboxState_SANDBOX_READY}},
	})
	if err != nil {
		return nil, fmt.Errorf("asking the runtime at %s for its sandboxes: %w", socket, err)
	}
	for _, p := range pods.GetItems() {
		found = append(found, Container{ID: p.GetId(), Sandbox: true})
	}
	return found, nil
}
