//go:build handover

// Command pause is what the containers of the hand-over's pods run: it waits to
// be ended, or ends at once when asked to, as an init container does.
//
//	pause exit
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "exit" {
		return
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
}
