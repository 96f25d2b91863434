package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockPoll is how often a taken lock is tried again: short beside any
// --lock-timeout, long beside a system call.
const lockPoll = 50 * time.Millisecond

// Lock takes the lock of a cgroup root: a flock on its folder, which a process
// on the host and one in a pod share. It waits until ctx ends. The kernel
// drops the lock with the process.
func (d *Driver) Lock(ctx context.Context, root string) (release func(), err error) {
	if err = checkPath(root); err != nil {
		return nil, err
	}
	folder := d.folder(root)
	f, err := os.OpenFile(folder, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("locking cgroup root %s: neither the kubelet nor kqos creates cgroupRoot, make it first: %w", root, err)
	}
	if err != nil {
		return nil, fmt.Errorf("locking cgroup root %s: %w", root, err)
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil
		case errors.Is(err, unix.EINTR):
			continue
		case !errors.Is(err, unix.EWOULDBLOCK):
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: %w", folder, err)
		}
		select {
		case <-ctx.Done():
			_ = f.Close()
			return nil, fmt.Errorf("locking %s: another kqos apply works on this root: wait for it or raise --lock-timeout: %w", folder, ctx.Err())
		case <-time.After(lockPoll):
		}
	}
}
