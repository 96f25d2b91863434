// Command cluster prints a made-up cluster as kubectl get nodes,pods -A -o json
// does, each object of the size that a real one has with its managedFields: what
// fleet is measured on.
//
//	go run ./test/cluster -nodes 5000 -pods 150000 | kqos fleet
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	nodes := flag.Int("nodes", 5000, "nodes of the cluster")
	pods := flag.Int("pods", 150000, "pods of the cluster, spread over the nodes")
	podsFirst := flag.Bool("pods-first", false, "print the pods before the nodes")
	managed := flag.Bool("show-managed-fields", true, "print managedFields")
	flag.Parse()
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	err := write(out, cluster{nodes: *nodes, pods: *pods, podsFirst: *podsFirst, managed: *managed})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1) //nolint:forbidigo // main of its own
	}
}

// cluster says what is made.
type cluster struct {
	nodes, pods        int
	podsFirst, managed bool
}

// write prints the List. The same numbers give the same bytes.
func write(w io.Writer, c cluster) error {
	if _, err := io.WriteString(w, "{\n    \"apiVersion\": \"v1\",\n    \"items\": ["); err != nil {
		return err
	}
	kinds := []struct {
		n    int
		text func(i int) string
	}{{c.nodes, c.node}, {c.pods, c.pod}}
	if c.podsFirst {
		kinds[0], kinds[1] = kinds[1], kinds[0]
	}
	separator := "\n"
	for _, kind := range kinds {
		for i := range kind.n {
			if _, err := io.WriteString(w, separator+kind.text(i)); err != nil {
				return err
			}
			separator = ",\n"
		}
	}
	_, err := io.WriteString(w, "\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n")
	return err
}
