// Command kubelet stands in for a kubelet that runs: it tells the version whose
// rules hold, and waits until it is killed.
//
//	kubelet --config=/var/lib/kubelet/config.yaml
package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/kqos/kqos/internal/kubelet"
)

func main() {
	if slices.Contains(os.Args[1:], "--version") {
		fmt.Println("Kubernetes", kubelet.FollowedVersion)
		return
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}
