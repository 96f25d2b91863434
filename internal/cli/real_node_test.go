package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A node on which the kubelet v1.37.2 and containerd had made everything, and
// what that kubelet told: test/handover recorded it.
const (
	realNode = "../../testdata/nodes/kubelet-v2.tar.gz"
	realTold = "../../testdata/nodes/kubelet-v2/"
)

// realAnswer runs a command on that node and reads its object.
func realAnswer(t *testing.T, into any, args ...string) {
	t.Helper()
	var out, messages bytes.Buffer
	sys := System{In: bytes.NewReader(nil), Out: &out, Err: &messages, Getenv: func(string) string { return "" }}
	args = append(args, "--host-root", realNode, "--config", realTold+"configz.json", "-o", "json")
	if code := Main(args, sys); code != exitDone {
		t.Fatalf("kqos %v: exit code %d\n%s", args, code, &messages)
	}
	if err := json.Unmarshal(out.Bytes(), into); err != nil {
		t.Fatalf("kqos %v: %v", args, err)
	}
}

func TestDiffOfRealNode(t *testing.T) {
	for name, pods := range map[string][]string{
		"as the kubelet lists them": {"--as-written", realTold + "pods.json"},
		"as they were written":      {"--static", "../../test/handover/node/pods"},
	} {
		t.Run(name, func(t *testing.T) {
			var plan cgroupPlan
			realAnswer(t, &plan, append(pods, "diff", "--pods-complete")...)
			if len(plan.Changes)+len(plan.Withheld) > 0 {
				t.Errorf("changes: %+v, withheld: %+v", plan.Changes, plan.Withheld)
			}
			// kubepods, two classes, nine pods.
			if len(plan.Cgroups) != 12 {
				t.Errorf("%d cgroups are wanted, not 12", len(plan.Cgroups))
			}
		})
	}
}

func TestInspectRealNode(t *testing.T) {
	var found cgroupInspection
	realAnswer(t, &found, "inspect", "--as-written", "-f", realTold+"pods.json")
	named := 0
	for _, c := range found.Cgroups {
		if len(c.Drift) > 0 {
			t.Errorf("%s: %+v", c.Path, c.Drift)
		}
		if c.ContainerID != "" && c.Container != "" {
			named++
		}
	}
	// Of the pods' containers one, an init container, has ended.
	if named != 13 || len(found.Leaks) > 0 {
		t.Errorf("%d containers are named, not 13; leaks: %+v", named, found.Leaks)
	}
}

// What the Node says of storage is not in an archive.
func TestAllocatableOfRealNode(t *testing.T) {
	text, err := os.ReadFile(realTold + "node.json")
	if err != nil {
		t.Fatal(err)
	}
	var node corev1.Node
	if err := json.Unmarshal(text, &node); err != nil {
		t.Fatal(err)
	}
	var told struct{ Capacity, Allocatable corev1.ResourceList }
	realAnswer(t, &told, "allocatable")
	for _, list := range []corev1.ResourceList{node.Status.Capacity, node.Status.Allocatable, told.Capacity, told.Allocatable} {
		delete(list, corev1.ResourceEphemeralStorage)
		delete(list, "pid") // the kubelet keeps one, and posts none
	}
	equal := cmp.Comparer(func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
	if diff := cmp.Diff(node.Status.Capacity, told.Capacity, equal); diff != "" {
		t.Errorf("capacity (-the kubelet's +kqos's): %s", diff)
	}
	if diff := cmp.Diff(node.Status.Allocatable, told.Allocatable, equal); diff != "" {
		t.Errorf("allocatable (-the kubelet's +kqos's): %s", diff)
	}
}
