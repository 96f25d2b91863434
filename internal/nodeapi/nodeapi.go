// Package nodeapi asks what lives on a node, the kubelet and the container
// runtime, over their unix sockets. It only reads, and never waits long.
//
//	pods, err := nodeapi.Pods(ctx, nodeapi.PodsSocket("/"))
package nodeapi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// timeout bounds one question; a healthy socket answers in milliseconds.
const timeout = 2 * time.Second

// question is what is asked over a connection to a socket, which errors name.
type question[T any] func(ctx context.Context, conn *grpc.ClientConn, socket string) (T, error)

// ask puts a question to one socket.
func ask[T any](ctx context.Context, socket string, q question[T]) (T, error) {
	var none T
	conn, err := dial(socket)
	if err != nil {
		return none, err
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return q(ctx, conn, socket)
}

// askFirst takes the answer of the first socket that gives one. The error says why
// none did.
func askFirst[T any](ctx context.Context, sockets []string, q question[T]) (T, error) {
	var none T
	var all []error
	for _, socket := range sockets {
		answer, err := ask(ctx, socket, q)
		if err == nil {
			return answer, nil
		}
		all = append(all, err)
	}
	return none, errors.Join(all...)
}

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
