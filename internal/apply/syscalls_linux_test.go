package apply

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ticksVariable tells TestSystemCallsOfATick, run anew below strace, how many ticks
// to do.
const ticksVariable = "KQOS_TEST_TICKS"

// tracedPods is how many pods the traced tree has.
const tracedPods = 20

// doTicks does steady ticks and nothing else worth a system call.
func doTicks(t *testing.T, n int) {
	t.Helper()
	d, root, version := realHost(t)
	tree := realTree(root, version, tracedPods)
	if _, r, _ := realPass(t, tree, d, Options{}); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	memory := NewMemory()
	for range n {
		if p, err := Make(tree, d, Options{}, memory); err != nil || len(p.Changes()) > 0 {
			t.Fatal(err, p.Changes())
		}
	}
}

// A tick with nothing to do makes at most three system calls for each file that
// it looks at, and none of them writes. What ticks cost is told from all else by
// running with few and with many.
func TestSystemCallsOfATick(t *testing.T) {
	if n, err := strconv.Atoi(os.Getenv(ticksVariable)); err == nil {
		doTicks(t, n)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root: it makes cgroups on this host")
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace, to count system calls")
	}
	const few, many = 5, 25
	before, after := traced(t, few), traced(t, many)
	files, sum := 0, 0
	for _, cg := range realTree("", hostVersion(), tracedPods).Cgroups {
		files += len(cg.Files)
	}
	for _, call := range slices.Sorted(maps.Keys(after)) {
		perTick := float64(after[call]-before[call]) / (many - few)
		if perTick >= 0.5 {
			t.Logf("%-16s %8.1f a tick", call, perTick)
		}
		if !strings.HasPrefix(call, "epoll_") { // the runtime's own waiting
			sum += after[call] - before[call]
		}
		// A runtime that wakes a thread writes a byte to itself now and then.
		if slices.Contains([]string{"write", "pwrite64", "mkdirat", "lsetxattr", "rmdir"}, call) && perTick >= 0.5 {
			t.Errorf("%.1f calls of %s in a tick with nothing to do", perTick, call)
		}
	}
	perFile := float64(sum) / (many - few) / float64(files)
	t.Logf("%d files, %.2f system calls for each", files, perFile)
	// Below a half the ticks did not run, or were not counted.
	if perFile < 0.5 || perFile > 3 {
		t.Errorf("%.2f system calls for each of %d files, want one to three", perFile, files)
	}
}

// traced counts the system calls on files of a run of doTicks by name; how
// often the runtime sleeps and wakes depends on what else the machine does.
func traced(t *testing.T, ticks int) map[string]int {
	t.Helper()
	out := filepath.Join(t.TempDir(), "calls")
	cmd := exec.Command("strace", "-f", "-c", "-U", "calls,name", "-e", "trace=%file,%desc", "-o", out, os.Args[0], "-test.run", "^TestSystemCallsOfATick$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", ticksVariable, ticks))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) != 2 || fields[1] == "total" {
			continue
		}
		if n, err := strconv.Atoi(fields[0]); err == nil {
			calls[fields[1]] = n
		}
	}
	return calls
}
