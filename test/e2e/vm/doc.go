// Package vm builds small Debian machines with systemd and runs jobs in them
// under QEMU, without KVM. It needs root, and Debian's qemu-system-x86,
// mmdebstrap, e2fsprogs, lz4 and zstd.
//
//	img, err := vm.Build(ctx, cacheFolder)
//	err = vm.Run(ctx, img, vm.Machine{Sockets: 2, Cores: 2, Threads: 2, NUMA: 2, MemoryMiB: 2048}, "jobs", "./job.sh", os.Stdout)
package vm
