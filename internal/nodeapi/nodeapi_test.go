package nodeapi

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

type kubelet struct {
	podsv1alpha1.UnimplementedPodsServer
	pods [][]byte
}

func (k kubelet) ListPods(context.Context, *podsv1alpha1.ListPodsRequest) (*podsv1alpha1.ListPodsResponse, error) {
	return &podsv1alpha1.ListPodsResponse{Pods: k.pods}, nil
}

type runtime struct {
	runtimev1.UnimplementedRuntimeServiceServer
	driver runtimev1.CgroupDriver
}

func (r runtime) RuntimeConfig(context.Context, *runtimev1.RuntimeConfigRequest) (*runtimev1.RuntimeConfigResponse, error) {
	return &runtimev1.RuntimeConfigResponse{Linux: &runtimev1.LinuxRuntimeConfiguration{CgroupDriver: r.driver}}, nil
}

// serve listens on a new socket until the test ends.
func serve(t *testing.T, register func(*grpc.Server)) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	register(s)
	go s.Serve(l) //nolint:errcheck // Stop ends it
	t.Cleanup(s.Stop)
	return socket
}

func TestPods(t *testing.T) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web", UID: "u1"}}
	data, err := pod.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	good := serve(t, func(s *grpc.Server) { podsv1alpha1.RegisterPodsServer(s, kubelet{pods: [][]byte{data}}) })
	pods, err := Pods(t.Context(), good)
	if err != nil || len(pods) != 1 || pods[0].Name != "web" || pods[0].UID != "u1" {
		t.Errorf("got %v, %v", pods, err)
	}
	broken := serve(t, func(s *grpc.Server) { podsv1alpha1.RegisterPodsServer(s, kubelet{pods: [][]byte{{0xff}}}) })
	if _, err := Pods(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "pod 1") {
		t.Errorf("broken pod: %v", err)
	}
	if _, err := Pods(t.Context(), filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("an absent socket gave no error")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Pods(t.Context(), file); err == nil || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("a plain file: %v", err)
	}
}

// A socket that accepts and never answers must not hang the caller.
func TestPodsHang(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Pods(ctx, socket); err == nil {
		t.Error("no error from a silent socket")
	}
}

func TestCgroupDriver(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	for driver, want := range map[runtimev1.CgroupDriver]string{
		runtimev1.CgroupDriver_SYSTEMD: "systemd", runtimev1.CgroupDriver_CGROUPFS: "cgroupfs",
	} {
		socket := serve(t, func(s *grpc.Server) { runtimev1.RegisterRuntimeServiceServer(s, runtime{driver: driver}) })
		got, err := CgroupDriver(t.Context(), []string{absent, socket})
		if err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	old := serve(t, func(s *grpc.Server) {
		runtimev1.RegisterRuntimeServiceServer(s, runtimev1.UnimplementedRuntimeServiceServer{})
	})
	if got, err := CgroupDriver(t.Context(), []string{absent, old}); err == nil || got != "" {
		t.Errorf("a runtime without RuntimeConfig: got %q, %v", got, err)
	}
}
