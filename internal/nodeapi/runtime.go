package nodeapi

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// RuntimeSockets are where the CRI runtimes listen by default on the host below
// root, in the order in which they are asked.
func RuntimeSockets(root string) []string {
	var sockets []string
	for _, s := range []string{
		"run/containerd/containerd.sock", "run/crio/crio.sock", "run/cri-dockerd.sock",
		// k3s and RKE2; k0s; MicroK8s.
		"run/k3s/containerd/containerd.sock", "run/k0s/containerd.sock", "var/snap/microk8s/common/run/containerd.sock",
	} {
		sockets = append(sockets, filepath.Join(root, s))
	}
	return sockets
}

// CgroupDriver asks the first runtime that answers which cgroup driver it
// uses, as the kubelet does at its start: systemd or cgroupfs. The error says
// why no runtime answered.
//
// kubelet v1.37: cmd/kubelet/app/server.go getCgroupDriverFromCRI.
func CgroupDriver(ctx context.Context, sockets []string) (string, error) {
	if len(sockets) == 0 {
		return "", errors.New("no socket of a runtime is named")
	}
	return askFirst(ctx, sockets, cgroupDriver)
}

func cgroupDriver(ctx context.Context, conn *grpc.ClientConn, socket string) (string, error) {
	answer, err := runtimev1.NewRuntimeServiceClient(conn).RuntimeConfig(ctx, &runtimev1.RuntimeConfigRequest{})
	if err != nil {
		return "", fmt.Errorf("asking the runtime at %s for its cgroup driver: %w", socket, err)
	}
	switch d := answer.GetLinux().GetCgroupDriver(); {
	case answer.GetLinux() == nil:
		return "", fmt.Errorf("the runtime at %s names no cgroup driver", socket)
	case d == runtimev1.CgroupDriver_SYSTEMD:
		return "systemd", nil
	case d == runtimev1.CgroupDriver_CGROUPFS:
		return "cgroupfs", nil
	default:
		return "", fmt.Errorf("the runtime at %s names the unknown cgroup driver %v", socket, d)
	}
}
