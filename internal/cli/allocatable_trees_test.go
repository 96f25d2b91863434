package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestAllocatableOfRecordedNodes compares what a node is said to post with the
// Node that a real kubelet posted for it in testdata/golden/kubelet-trees.
func TestAllocatableOfRecordedNodes(t *testing.T) {
	posted, err := filepath.Glob("../../testdata/golden/kubelet-trees/*/node.json")
	if err != nil || len(posted) == 0 {
		t.Fatalf("no recorded nodes (%v)", err)
	}
	for _, file := range posted {
		folder := filepath.Dir(file)
		t.Run(filepath.Base(folder), func(t *testing.T) {
			var want struct{ Capacity, Allocatable corev1.ResourceList }
			readJSON(t, file, &want)
			m := recordedMachine(t, folder)
			meminfo, err := os.ReadFile(folder + "/machine.json")
			if err != nil {
				t.Fatal(err)
			}
			// One recording kept huge pages of the whole machine alone, and says nothing of nodes.
			if pages := regexp.MustCompile(`"HugePages_Total: +(\d+)`).FindSubmatch(meminfo); pages != nil {
				m.NUMA[0].HugePages["2Mi"], _ = strconv.ParseInt(string(pages[1]), 10, 64)
			}
			_, version := recordedTree(t, folder)
			disk := want.Capacity[corev1.ResourceEphemeralStorage]
			var out, messages bytes.Buffer
			sys := System{In: bytes.NewReader(nil), Out: &out, Err: &messages, Getenv: func(string) string { return "" }}
			if code := Main([]string{
				"allocatable", "--config", folder + "/config.yaml", "--cgroup-version", strconv.Itoa(version),
				"--topology", writeJSON(t, m), "--capacity", "ephemeral-storage=" + disk.String(), "-o", "json",
			}, sys); code != exitDone {
				t.Fatalf("exit code %d\n%s", code, &messages)
			}
			got := want
			got.Capacity, got.Allocatable = nil, nil
			if err := json.Unmarshal(out.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			for _, list := range []corev1.ResourceList{got.Capacity, got.Allocatable} {
				delete(list, "pid") // no resource of a Node
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("posted against told (-want +got):\n%s", diff)
			}
		})
	}
}
