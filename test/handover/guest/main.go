//go:build handover

// Command guest is what the hand-over needs inside its machine besides the
// kubelet: a network address, a wait for pods, a look at what changes, and an
// API server to which the kubelet posts its Node.
//
//	guest network 10.0.2.15
//	guest wait 8 300
//	guest get https://127.0.0.1:10250/pods pods.json
//	guest watch changes.txt /sys/fs/cgroup/kubepods/cpu.weight
//	guest serve folder
package main

import (
	"errors"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("a command and its arguments are wanted")
	}
	switch command, args := args[0], args[1:]; {
	case command == "network":
		return network(args[0])
	case command == "wait" && len(args) == 2:
		return wait(args[0], args[1])
	case command == "get" && len(args) == 2:
		return get(args[0], args[1])
	case command == "watch":
		return watch(args[0], args[1:])
	case command == "serve":
		return serve(args[0])
	default:
		return fmt.Errorf("no such command: %s %q", command, args)
	}
}
