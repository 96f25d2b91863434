//go:build handover

package main

import (
	"fmt"
	"net/netip"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// route is the kernel's struct rtentry on a 64-bit machine.
type route struct {
	_                         uint64
	destination, gateway, net [16]byte
	flags                     uint16
	_                         [6]byte
	_                         uint64
	_                         uint64
	metric                    int16
	_                         [6]byte
	device                    *byte
	_                         [3]uint64
}

// network gives the loopback device this address too, and the default route:
// the kubelet takes its node's address from the device of that route, and the
// machine has no other device.
func network(address string) error {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return err
	}
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	for _, step := range []struct {
		name    string
		request uint
		device  string
		set     func(*unix.Ifreq) error
	}{
		{"setting the address", unix.SIOCSIFADDR, "lo:1", func(r *unix.Ifreq) error { return r.SetInet4Addr(ip.AsSlice()) }},
		{"setting the mask", unix.SIOCSIFNETMASK, "lo:1", func(r *unix.Ifreq) error { return r.SetInet4Addr([]byte{255, 255, 255, 0}) }},
		{"setting the device up", unix.SIOCSIFFLAGS, "lo", func(r *unix.Ifreq) error {
			r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
			return nil
		}},
	} {
		ifreq, err := unix.NewIfreq(step.device)
		if err != nil {
			return err
		}
		if err := step.set(ifreq); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(socket, step.request, ifreq); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	device := append([]byte("lo"), 0)
	r := route{flags: unix.RTF_UP, device: &device[0]}
	for _, sockaddr := range []*[16]byte{&r.destination, &r.gateway, &r.net} {
		sockaddr[0] = unix.AF_INET
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(socket), unix.SIOCADDRT, uintptr(unsafe.Pointer(&r))); errno != 0 {
		return os.NewSyscallError("SIOCADDRT", errno)
	}
	return nil
}
