// Command podsapi stands in for the socket on which a kubelet tells its pods: it
// serves those of manifests, as the API server would have stored them.
//
//	podsapi /var/lib/kubelet/pods-api/pods-api.sock shop/
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/kqos/kqos/internal/admission"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/manifest"
	"github.com/kqos/kqos/internal/qos"
)

func main() {
	err := errors.New("usage: podsapi SOCKET FOLDER")
	if len(os.Args) == 3 {
		err = serve(os.Args[1], os.Args[2])
	}
	fmt.Fprintln(os.Stderr, "podsapi:", err)
	os.Exit(1)
}

type server struct {
	podsv1alpha1.UnimplementedPodsServer
	pods [][]byte
}

func (s server) ListPods(context.Context, *podsv1alpha1.ListPodsRequest) (*podsv1alpha1.ListPodsResponse, error) {
	return &podsv1alpha1.ListPodsResponse{Pods: s.pods}, nil
}

func serve(socket, folder string) error {
	var s server
	in := manifest.Read([]string{folder}, manifest.Options{})
	for _, problem := range in.Errors {
		return problem
	}
	gates := kubelet.DefaultGates(kubelet.Latest)
	for _, w := range in.Workloads {
		admission.Admit(w.Pod, admission.Created, admission.Objects{}, gates)
		w.Pod.Status.QOSClass = qos.ComputeClass(w.Pod, gates)
		w.Pod.Status.Phase = "Running"
		data, err := w.Pod.Marshal()
		if err != nil {
			return fmt.Errorf("encoding pod %s: %w", w.Pod.Name, err)
		}
		s.pods = append(s.pods, data)
	}
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", socket)
	if err != nil {
		return err
	}
	g := grpc.NewServer()
	podsv1alpha1.RegisterPodsServer(g, s)
	return g.Serve(listener)
}
