// Command cluster prints a made-up cluster, or reads one as plainly as Go's own
// decoder does: what fleet is measured on, and against.
//
//	go run ./test/cluster -nodes 5000 -pods 150000 >cluster.json
//	time kqos fleet cluster.json
//	time go run ./test/cluster -decode <cluster.json
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/kqos/kqos/test/cluster/made"
)

func main() {
	var c made.Cluster
	flag.IntVar(&c.Nodes, "nodes", 5000, "nodes of the cluster")
	flag.IntVar(&c.Pods, "pods", 150000, "pods of the cluster, spread over the nodes")
	flag.BoolVar(&c.PodsFirst, "pods-first", false, "print the pods before the nodes")
	decode := flag.Bool("decode", false, "read a cluster from stdin, item by item, and count them")
	flag.Parse()
	err := run(c, *decode)
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(c made.Cluster, decode bool) error {
	if decode {
		n, err := count(bufio.NewReaderSize(os.Stdin, 64<<10))
		fmt.Fprintln(os.Stderr, n, "objects")
		return err
	}
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	return errors.Join(c.Write(out), out.Flush())
}

// count decodes each item by itself, into nothing but its text.
func count(r io.Reader) (int, error) {
	d := json.NewDecoder(r)
	for {
		token, err := d.Token()
		if err != nil {
			return 0, err
		}
		if token == "items" {
			break
		}
	}
	if _, err := d.Token(); err != nil {
		return 0, err
	}
	n := 0
	for ; d.More(); n++ {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return n, err
		}
	}
	return n, nil
}
