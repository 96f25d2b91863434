package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/nodeapi"
)

// inquiry is what a node's daemons were asked, side by side: one that hangs
// keeps no other's answer back. Each answer is waited for when it is called; nil
// is one that nobody was asked for.
type inquiry struct {
	pods       func() ([]*corev1.Pod, error)
	containers func() ([]nodeapi.Container, error)
	cpus       func() ([]nodeapi.ContainerCPUs, error)
	// runtime is the socket where containers are asked for first.
	runtime string
}

// inquire asks the kubelet and the runtime for what no file tells. Pods are
// asked for where no file is named, CPUs where there is no checkpoint of them.
func (o *inspectOptions) inquire(ctx context.Context, stateDir string) *inquiry {
	root, q := o.node.hostRoot, &inquiry{}
	if len(o.pods.files) == 0 {
		q.askPods(ctx, root)
	}
	_, err := os.Stat(filepath.Join(stateDir, kubelet.CPUManagerStateFile))
	if socket := nodeapi.PodResourcesSocket(root); errors.Is(err, fs.ErrNotExist) && o.stateDir == "" && exists(socket) {
		q.cpus = inBackground(func() ([]nodeapi.ContainerCPUs, error) { return nodeapi.ExclusiveCPUs(ctx, socket) })
	}
	q.askRuntime(ctx, nodeapi.RuntimeSockets(root))
	return q
}

// askPods asks the kubelet for its pods, unless it did.
func (q *inquiry) askPods(ctx context.Context, root string) {
	if socket := nodeapi.PodsSocket(root); q.pods == nil && exists(socket) {
		q.pods = inBackground(func() ([]*corev1.Pod, error) { return nodeapi.Pods(ctx, socket) })
	}
}

// askRuntime asks for containers at the sockets that are there, unless it asks
// there already.
func (q *inquiry) askRuntime(ctx context.Context, sockets []string) {
	sockets = existing(sockets)
	if len(sockets) == 0 || sockets[0] == q.runtime {
		return
	}
	q.runtime = sockets[0]
	q.containers = inBackground(func() ([]nodeapi.Container, error) { return nodeapi.Containers(ctx, sockets) })
}

// inBackground begins to ask and gives a function that waits for the answer.
func inBackground[T any](ask func() (T, error)) func() (T, error) {
	answer := sync.OnceValues(ask)
	go answer() //nolint:errcheck // whoever calls it again gets the error
	return answer
}

// existing are those of the sockets that are there.
func existing(sockets []string) []string {
	return slices.DeleteFunc(sockets, func(socket string) bool { return !exists(socket) })
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// asking bounds a question by the time that is kept for all of them.
func (n *nodeFlags) asking(ctx context.Context) (context.Context, context.CancelFunc) {
	if n.askUntil.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, n.askUntil)
}

// reading bounds the reading of the tree by what is left of --timeout since
// begun, and by no less than the half that asking leaves it.
func (o *inspectOptions) reading(ctx context.Context, begun time.Time) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, max(o.timeout-time.Since(begun), o.timeout/2))
}
