// Package made makes up a cluster as kubectl get nodes,pods -A -o json prints one,
// each object of the size that a real one has with its managedFields.
//
//	err := made.Cluster{Nodes: 5000, Pods: 150000}.Write(os.Stdout)
package made

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The objects as kubectl prints them; $WORDS differ from one to the next.
var (
	//go:embed node.json
	nodeText string
	//go:embed pod.json
	podText string
)

// Cluster says what is made.
type Cluster struct {
	// Nodes and Pods are how many; the pods go to one node after the other.
	Nodes, Pods int
	// PodsFirst has the pods stand before the nodes.
	PodsFirst bool
}

// Write prints the List. The same numbers give the same bytes.
func (c Cluster) Write(w io.Writer) error {
	kinds := []struct {
		n    int
		text func(i int) string
	}{{c.Nodes, c.node}, {c.Pods, c.pod}}
	if c.PodsFirst {
		kinds[0], kinds[1] = kinds[1], kinds[0]
	}
	separator := "{\n    \"apiVersion\": \"v1\",\n    \"items\": [\n"
	for _, kind := range kinds {
		for i := range kind.n {
			if _, err := io.WriteString(w, separator+strings.TrimSuffix(kind.text(i), "\n")); err != nil {
				return err
			}
			separator = ",\n"
		}
	}
	_, err := io.WriteString(w, "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	return err
}

// node is the i-th Node. One in 500 leaves less to pods than its peers.
func (c Cluster) node(i int) string {
	left := "261563240Ki"
	if i%500 == 499 {
		left = "259466088Ki"
	}
	return fill(nodeText, i, "$ALLOC", left, "$TYPE", "standard-64", "$Z", strconv.Itoa(i%3), "$NODE", nodeName(i))
}

// pod is the i-th Pod, on one node after the other.
func (c Cluster) pod(i int) string {
	// Every node gets pods of every shape.
	class, resources := shape(i + i/max(c.Nodes, 1))
	return fill(podText, i, "$CLASS", class, "$NODE", nodeName(i%max(c.Nodes, 1)),
		"$RES0", resources[0], "$RES1", resources[1], "$RES2", resources[2])
}

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

// fill replaces the words that every object has, and those of pairs.
func fill(text string, i int, pairs ...string) string {
	return strings.NewReplacer(append(pairs,
		"$HEX", fmt.Sprintf("%064x", uint64(i+1)*0x9e3779b97f4a7c15),
		"$G12", fmt.Sprintf("%012d", i%997), "$I12", fmt.Sprintf("%012d", i),
		"$G", strconv.Itoa(i%997), "$I", strconv.Itoa(i), "$A", strconv.Itoa(i/250%250), "$B", strconv.Itoa(i%250),
	)...).Replace(text)
}

// shape is the class of the i-th pod and the resources of its server, proxy and
// init container: of ten, two Guaranteed, seven Burstable, one BestEffort.
func shape(i int) (class string, resources [3]string) {
	switch i % 10 {
	case 0, 1:
		two := `{"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "2", "memory": "4Gi"}}`
		small := `{"limits": {"cpu": "100m", "memory": "128Mi"}, "requests": {"cpu": "100m", "memory": "128Mi"}}`
		return "Guaranteed", [3]string{two, small, small}
	case 2:
		return "BestEffort", [3]string{"{}", "{}", "{}"}
	}
	server := fmt.Sprintf(`{"limits": {"memory": "%dMi"}, "requests": {"cpu": "%dm", "memory": "%dMi"}}`, 512+i%7*256, 100+i%9*50, 256+i%5*128)
	return "Burstable", [3]string{server, `{"requests": {"cpu": "100m", "memory": "128Mi"}}`, "{}"}
}
