package nodeapi

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	podresourcesv1 "k8s.io/kubelet/pkg/apis/podresources/v1"
	"k8s.io/utils/cpuset"
)

func (r runtime) ListContainers(_ context.Context, q *runtimev1.ListContainersRequest) (*runtimev1.ListContainersResponse, error) {
	if q.GetFilter().GetState().GetState() != runtimev1.ContainerState_CONTAINER_RUNNING {
		return &runtimev1.ListContainersResponse{}, nil
	}
	return &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{{
		Id: "beef", Metadata: &runtimev1.ContainerMetadata{Name: "c"},
	}, {Id: "bare"}}}, nil
}

func (runtime) ListPodSandbox(context.Context, *runtimev1.ListPodSandboxRequest) (*runtimev1.ListPodSandboxResponse, error) {
	return &runtimev1.ListPodSandboxResponse{Items: []*runtimev1.PodSandbox{{Id: "sand"}}}, nil
}

func TestContainers(t *testing.T) {
	socket := serve(t, func(s *grpc.Server) { runtimev1.RegisterRuntimeServiceServer(s, runtime{}) })
	got, err := Containers(t.Context(), []string{"/nowhere", socket})
	if err != nil {
		t.Fatal(err)
	}
	want := []Container{{ID: "beef", Name: "c"}, {ID: "bare"}, {ID: "sand", Sandbox: true}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error("-want +got:\n" + d)
	}
	if _, err := Containers(t.Context(), []string{"/nowhere"}); err == nil {
		t.Error("no error without a runtime")
	}
}

type podResources struct {
	podresourcesv1.UnimplementedPodResourcesListerServer
}

func (podResources) List(context.Context, *podresourcesv1.ListPodResourcesRequest) (*podresourcesv1.ListPodResourcesResponse, error) {
	return &podresourcesv1.ListPodResourcesResponse{PodResources: []*podresourcesv1.PodResources{{
		Namespace: "n", Name: "p", CpuIds: []int64{2, 3, 4},
		Containers: []*podresourcesv1.ContainerResources{{Name: "own", CpuIds: []int64{3, 2}}, {Name: "shared"}},
	}}}, nil
}

func TestExclusiveCPUs(t *testing.T) {
	socket := serve(t, func(s *grpc.Server) { podresourcesv1.RegisterPodResourcesListerServer(s, podResources{}) })
	got, err := ExclusiveCPUs(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	want := []ContainerCPUs{{Namespace: "n", Pod: "p", CPUs: cpuset.New(2, 3, 4)}, {Namespace: "n", Pod: "p", Container: "own", CPUs: cpuset.New(2, 3)}}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b cpuset.CPUSet) bool { return a.Equals(b) })); d != "" {
		t.Error("-want +got:\n" + d)
	}
	if _, err := ExclusiveCPUs(t.Context(), "/nowhere"); err == nil {
		t.Error("no error without a kubelet")
	}
}
