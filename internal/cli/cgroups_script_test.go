package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/cgroups/driver"
)

// condition knows [cgroups]: the script may make cgroups on this host, which
// takes root.
func condition(name string) (bool, error) {
	if name != "cgroups" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return os.Geteuid() == 0 && driver.HostVersion("/") != 0, nil
}

// cgroot makes a cgroup root of the script's own on this host, $ROOT, and a
// KubeletConfiguration with it, kubelet.yaml. It is removed after the script.
func cgroot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: cgroot")
	}
	host, err := driver.Open(driver.Options{Kind: driver.Cgroupfs, Version: driver.HostVersion("/"), HostRoot: "/"})
	ts.Check(err)
	root := &cgroups.Cgroup{Path: fmt.Sprintf("/kqos-test-%08x", rand.Uint32())}
	ts.Check(host.Create(root))
	ts.Defer(func() {
		defer host.Close()
		if err := host.Remove(root); err != nil {
			ts.Logf("leaves cgroups behind: %v", err)
		}
	})
	ts.Setenv("ROOT", root.Path)
	config := "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nfailCgroupV1: false\nfailSwapOn: false\ncgroupRoot: " + root.Path + "\n"
	ts.Check(os.WriteFile(ts.MkAbs("kubelet.yaml"), []byte(config), 0o600))
}

// cgwrite PATH FILE VALUE writes a control file below $ROOT, as another would;
// on v1 FILE is looked for in the hierarchy of its controller.
func cgwrite(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 || strings.Contains(args[0], "..") {
		ts.Fatalf("usage: cgwrite PATH FILE VALUE")
	}
	folder := "/sys/fs/cgroup"
	if driver.HostVersion("/") == 1 {
		controller, _, _ := strings.Cut(args[1], ".")
		folder = filepath.Join(folder, controller)
	}
	file := filepath.Join(folder, ts.Getenv("ROOT"), args[0], args[1])
	ts.Check(os.WriteFile(file, []byte(args[2]), 0o600))
}

// cgmkdir PATH makes a cgroup below $ROOT as another would, in all hierarchies.
func cgmkdir(ts *testscript.TestScript, neg bool, args []string) {
	for _, folder := range folders(ts, "cgmkdir", neg, args) {
		ts.Check(os.Mkdir(folder, 0o755))
	}
}

// cgrmdir PATH removes such a cgroup.
func cgrmdir(ts *testscript.TestScript, neg bool, args []string) {
	for _, folder := range folders(ts, "cgrmdir", neg, args) {
		ts.Check(os.Remove(folder))
	}
}

// folders are those of a cgroup below $ROOT, one a hierarchy.
func folders(ts *testscript.TestScript, name string, neg bool, args []string) []string {
	if neg || len(args) != 1 || strings.Contains(args[0], "..") {
		ts.Fatalf("usage: %s PATH", name)
	}
	roots, err := filepath.Glob("/sys/fs/cgroup/*" + ts.Getenv("ROOT"))
	ts.Check(err)
	if driver.HostVersion("/") == 2 {
		roots = []string{"/sys/fs/cgroup" + ts.Getenv("ROOT")}
	}
	var all []string
	for _, root := range roots {
		all = append(all, filepath.Join(root, args[0]))
	}
	return all
}

// cglock N PROGRAM ARGS… is code while another holds the lock of $ROOT.
func cglock(ts *testscript.TestScript, neg bool, args []string) {
	host, err := driver.Open(driver.Options{Kind: driver.Cgroupfs, Version: driver.HostVersion("/"), HostRoot: "/"})
	ts.Check(err)
	defer host.Close()
	release, err := host.Lock(context.Background(), ts.Getenv("ROOT"))
	ts.Check(err)
	defer release()
	code(ts, neg, args)
}
