package simulate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/qos"
)

// wanted is what a container, or a pod as a whole, asks one provider for, and
// how much of it is free.
type wanted struct {
	// what is CPUs, memory, a huge page type or the name of a device.
	what   string
	bytes  bool
	amount int64
	// free is by NUMA node. What belongs to no node is under withoutNode.
	free map[int]int64
}

// withoutNode is where devices without a NUMA node are counted.
const withoutNode = -1

// wanted looks up a request at the time of its refusal; c is nil for the pod.
func (n *Node) wanted(pod *corev1.Pod, c *corev1.Container, provider, name string) wanted {
	resources := corev1.ResourceRequirements{Requests: qos.Requests(pod, n.spec.Config.Gates), Limits: qos.Limits(pod, n.spec.Config.Gates)}
	if c != nil {
		resources = c.Resources
	}
	w := wanted{what: name, free: map[int]int64{}}
	switch provider {
	case n.cpus.Name():
		w.what, w.amount = "CPUs", int64(n.cpus.Request(pod, c))
		for id, free := range n.cpus.Free() {
			w.free[id] = int64(free)
		}
	case n.memory.Name():
		request := resources.Requests[corev1.ResourceName(name)]
		w.bytes, w.amount = true, request.Value()
		for id, node := range n.memory.Nodes() {
			if table := node.MemoryMap[corev1.ResourceName(name)]; table != nil {
				w.free[id] = int64(min(table.Free, 1<<62))
			}
		}
	case n.devices.Name():
		limit := resources.Limits[corev1.ResourceName(name)]
		w.amount = limit.Value()
		free := n.devices.Free()[name]
		for _, d := range n.spec.Machine.Devices {
			if d.Resource != name || !slices.Contains(free, d.ID) {
				continue
			}
			if len(d.NUMA) == 0 {
				w.free[withoutNode]++
			}
			for _, id := range d.NUMA {
				w.free[id]++
			}
		}
	}
	return w
}

// text writes an amount: "8 CPUs", "4Gi of memory", "2 vendor.com/gpu".
func (w wanted) text(amount int64) string {
	switch {
	case w.bytes:
		return w.number(amount) + " of " + w.what
	case w.what == "CPUs" && amount == 1:
		return "1 CPU"
	}
	return w.number(amount) + " " + w.what
}

func (w wanted) number(amount int64) string {
	if w.bytes {
		return resource.NewQuantity(amount, resource.BinarySI).String()
	}
	return fmt.Sprint(amount)
}

// shortage tells how much is missing on the whole machine; ok is false when
// there is enough.
func (w wanted) shortage(free int64) (text string, ok bool) {
	missing := w.amount - free
	if missing <= 0 {
		return "", false
	}
	return fmt.Sprintf("it asks for %s, and %s: %s more would do", w.text(w.amount), w.freeText(), w.number(missing)), true
}

// freeText lists what is free on the nodes that have any.
func (w wanted) freeText() string {
	var words []string
	for _, id := range slices.Sorted(maps.Keys(w.free)) {
		if w.free[id] == 0 {
			continue
		}
		place := fmt.Sprintf("on node %d", id)
		if id == withoutNode {
			place = "on no node"
		}
		words = append(words, w.number(w.free[id])+" "+place)
	}
	if len(words) == 0 {
		return "none is free"
	}
	return "free are " + strings.Join(words, ", ")
}

// total counts what is free on all nodes. A device on several nodes counts on
// each.
func (w wanted) total() int64 {
	var sum int64
	for _, free := range w.free {
		sum += free
	}
	return sum
}

// roomiest is the node with the most that is free.
func (w wanted) roomiest() (id int, free int64) {
	id, free = withoutNode, -1
	for _, node := range slices.Sorted(maps.Keys(w.free)) {
		if node != withoutNode && w.free[node] > free {
			id, free = node, w.free[node]
		}
	}
	return id, free
}
