// Package nodeapi asks what lives on a node, the kubelet and the container
// runtime, over their unix sockets. It only reads, and never waits long.
//
//	pods, err := nodeapi.Pods(ctx, nodeapi.PodsSocket("/"))
package nodeapi

import (
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// timeout bounds one question; a healthy socket answers in milliseconds.
const timeout = 2 * time.Second

// dial connects to a socket. Nothing is sent before the first call.
func dial(socket string) (*grpc.ClientConn, error) {
	info, err := os.Stat(socket)
	if err != nil {
		return nil, fmt.Errorf("looking for a socket: %w", err)
	}
	if info.Mode()&os.ModeSocket == 0 {
		return nil, fmt.Errorf("%s is no socket", socket)
	}
	// All pods of a full node arrive in one message.
	return grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(64<<20)))
}
