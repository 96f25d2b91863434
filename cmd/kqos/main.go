// Command kqos answers what the kubelet will do with a pod on a node, what it
// did, and whether the node is really in that state.
package main

import (
	"os"

	"github.com/kqos/kqos/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Host()))
}
