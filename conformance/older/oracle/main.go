// Oracle answers the questions of package older with the kubelet that it is
// built with.
package main

import (
	"fmt"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/kqos/kqos/conformance/older"
	"github.com/kqos/kqos/conformance/oracle/apiserver"
	"github.com/kqos/kqos/conformance/oracle/cpu"
	"github.com/kqos/kqos/conformance/oracle/files"
	"github.com/kqos/kqos/conformance/oracle/gates"
	"github.com/kqos/kqos/conformance/oracle/node"
	"github.com/kqos/kqos/conformance/oracle/placement"
	"github.com/kqos/kqos/conformance/oracle/pod"
	"github.com/kqos/kqos/conformance/oracle/runtime"
	"github.com/kqos/kqos/conformance/oracle/start"
)

func main() {
	klog.SetLogger(logr.Discard())
	out := os.Stdout
	os.Stdout = os.Stderr // nothing else may come between the answers
	err := older.Serve(os.Stdin, out, map[string]any{
		"apiserver.Create": apiserver.Create,
		"cpu.Live":         cpu.Live, "cpu.Start": cpu.Start,
		"files.WriteSettings": files.WriteSettings,
		"gates.Set":           gates.Set, "gates.Values": gates.Values,
		"node.Start": node.Start, "node.Tiers": node.Tiers,
		"placement.MergeHints": placement.MergeHints, "placement.Run": placement.Run,
		"pod.Cgroup": pod.Cgroup, "pod.Convert": pod.Convert, "pod.Path": pod.Path, "pod.QOS": pod.QOS,
		"runtime.Container": runtime.Container, "runtime.IsolationOf": runtime.IsolationOf,
		"start.Judge": start.Judge,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
