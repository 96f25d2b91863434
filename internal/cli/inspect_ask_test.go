package cli

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"
	podresourcesv1 "k8s.io/kubelet/pkg/apis/podresources/v1"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/kqos/kqos/internal/nodeapi"
)

const (
	askedPod       = "11111111-0000-4000-8000-000000000001"
	askedContainer = "0101010101010101010101010101010101010101010101010101010101010101"
)

// askedNode is a host with one pod of one container, whose daemons are silent:
// they take a question and never answer.
func askedNode(t *testing.T) (root string) {
	t.Helper()
	root, err := os.MkdirTemp("", "kqos") //nolint:usetesting // the name of a socket may have 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	for _, at := range []string{"", "/kubepods", "/kubepods/pod" + askedPod, "/kubepods/pod" + askedPod + "/" + askedContainer} {
		captured(t, root, "sys/fs/cgroup"+at+"/cgroup.controllers", "cpu cpuset memory pids\n")
		captured(t, root, "sys/fs/cgroup"+at+"/memory.current", "4096\n")
	}
	return root
}

func daemons(root string) []string {
	return []string{nodeapi.PodsSocket(root), nodeapi.PodResourcesSocket(root), nodeapi.RuntimeSockets(root)[0]}
}

// silentAt gives a socket's listener, which nobody need serve.
func silentAt(t *testing.T, socket string) net.Listener {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(socket), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

type answering struct {
	podsv1alpha1.UnimplementedPodsServer
	runtimev1.UnimplementedRuntimeServiceServer
}

func (answering) ListPods(context.Context, *podsv1alpha1.ListPodsRequest) (*podsv1alpha1.ListPodsResponse, error) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: askedPod}}
	data, err := pod.Marshal()
	return &podsv1alpha1.ListPodsResponse{Pods: [][]byte{data}}, err
}

func (answering) ListContainers(context.Context, *runtimev1.ListContainersRequest) (*runtimev1.ListContainersResponse, error) {
	return &runtimev1.ListContainersResponse{Containers: []*runtimev1.Container{
		{Id: askedContainer, Metadata: &runtimev1.ContainerMetadata{Name: "nginx"}},
	}}, nil
}

func (answering) ListPodSandbox(context.Context, *runtimev1.ListPodSandboxRequest) (*runtimev1.ListPodSandboxResponse, error) {
	return &runtimev1.ListPodSandboxResponse{}, nil
}

type answeringResources struct {
	podresourcesv1.UnimplementedPodResourcesListerServer
}

func (answeringResources) List(context.Context, *podresourcesv1.ListPodResourcesRequest) (*podresourcesv1.ListPodResourcesResponse, error) {
	return &podresourcesv1.ListPodResourcesResponse{PodResources: []*podresourcesv1.PodResources{{
		Namespace: "shop", Name: "web", Containers: []*podresourcesv1.ContainerResources{{Name: "nginx", CpuIds: []int64{2, 3}}},
	}}}, nil
}

func answer(t *testing.T, socket string, options ...grpc.ServerOption) {
	t.Helper()
	s := grpc.NewServer(options...)
	podsv1alpha1.RegisterPodsServer(s, answering{})
	runtimev1.RegisterRuntimeServiceServer(s, answering{})
	podresourcesv1.RegisterPodResourcesListerServer(s, answeringResources{})
	l := silentAt(t, socket)
	go s.Serve(l) //nolint:errcheck // Stop ends it
	t.Cleanup(s.Stop)
}

// TestSilentDaemons shows the whole tree whoever of the node's daemons hangs,
// with what the others answer and a word on each that did not.
func TestSilentDaemons(t *testing.T) {
	words := []string{"does not tell its pods", "what its managers gave", "does not tell its containers"}
	for _, tt := range []struct {
		name   string
		silent []int
	}{{"none", nil}, {"pods", []int{0}}, {"resources", []int{1}}, {"runtime", []int{2}}, {"all", []int{0, 1, 2}}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			root := askedNode(t)
			for n, socket := range daemons(root) {
				if slices.Contains(tt.silent, n) {
					silentAt(t, socket)
				} else {
					answer(t, socket)
				}
			}
			// A question ends by itself after two seconds.
			got := testInspect(t, "--host-root", root, "--topology", "synthetic:cores=8", "--driver", "cgroupfs", "--sample", "0", "--timeout", "1m")
			there := slices.DeleteFunc(got.Cgroups, func(c inspectedCgroup) bool { return c.Missing })
			if len(there) != 3 {
				t.Fatalf("%d cgroups, want 3; %v", len(there), got.Notes)
			}
			notes := strings.Join(got.Notes, "\n")
			for n, word := range words {
				if silent := slices.Contains(tt.silent, n); strings.Contains(notes, word) != silent {
					t.Errorf("silent %v, and told %q: %s", silent, word, notes)
				}
			}
			c := there[2]
			if named := c.Pod != nil && c.Pod.Name == "web"; named == slices.Contains(tt.silent, 0) {
				t.Errorf("pod %+v", c.Pod)
			}
			if named := c.Container == "nginx"; named == slices.Contains(tt.silent, 2) {
				t.Errorf("container %q", c.Container)
			}
			if placed := len(got.Alignment) == 1; placed != (len(tt.silent) == 0 || tt.name == "runtime") {
				t.Errorf("alignment %+v", got.Alignment)
			}
		})
	}
}

// TestTimeoutIsShared leaves the tree half of --timeout: no question has more than
// the other.
func TestTimeoutIsShared(t *testing.T) {
	const timeout = 3 * time.Second // a question alone has two
	root := askedNode(t)
	var asked sync.Map
	for _, socket := range daemons(root) {
		answer(t, socket, grpc.UnaryInterceptor(func(ctx context.Context, in any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			until, _ := ctx.Deadline()
			asked.Store(info.FullMethod, time.Until(until))
			return next(ctx, in)
		}))
	}
	o := &inspectOptions{timeout: timeout, planOptions: planOptions{containers: true, podsFrom: "auto", node: nodeFlags{
		driver: "auto", cgroupVersion: "auto", kubernetes: "auto", topology: "synthetic:cores=8", hostRoot: root, live: true, hostConfig: true,
	}}}
	s, err := o.survey(t.Context(), &app{System: silent(nil)}, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Hierarchy.Close()
	questions := 0
	asked.Range(func(question, left any) bool {
		questions++
		if left, _ := left.(time.Duration); left <= 0 || left > timeout/2 {
			t.Errorf("%s has %s, want at most %s", question, left, timeout/2)
		}
		return true
	})
	if questions < len(daemons(root)) {
		t.Errorf("%d questions to %d daemons; %v", questions, len(daemons(root)), s.notes)
	}
}

// TestReading leaves the tree what asking left of --timeout, and half of it
// however late it has become.
func TestReading(t *testing.T) {
	o := &inspectOptions{timeout: 10 * time.Hour}
	for took, want := range map[time.Duration]time.Duration{0: 10 * time.Hour, 3 * time.Hour: 7 * time.Hour, 24 * time.Hour: 5 * time.Hour} {
		ctx, cancel := o.reading(t.Context(), time.Now().Add(-took))
		defer cancel()
		until, _ := ctx.Deadline()
		if left := time.Until(until); left > want || left < want-time.Hour {
			t.Errorf("after asking for %s the tree has %s, want %s", took, left, want)
		}
	}
}
