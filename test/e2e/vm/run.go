//go:build e2e

package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Machine is the hardware and the kernel arguments of a guest.
type Machine struct {
	Sockets, Cores, Threads int
	// NUMA nodes share CPUs and memory evenly.
	NUMA      int
	MemoryMiB int
	// Kernel arguments besides those that every guest needs.
	Kernel string
}

// V1 boots systemd with the controllers of cgroup v1.
const V1 = "systemd.unified_cgroup_hierarchy=0 systemd.legacy_systemd_cgroup_controller=1"

// A guest is up within half a minute where nothing else runs; this is for hosts
// that do a lot beside it.
const bootTime = 5 * time.Minute

// bootError is a guest whose agent never said a word.
type bootError struct{ reason string }

func (e *bootError) Error() string { return "booting: " + e.reason }

// Run boots a guest, runs script in a copy of the folder at /job, and passes on
// what it prints. Files that it leaves in /out land in the out folder. A guest
// that does not boot is tried twice more, as nothing of the script was done yet;
// a script that fails is an error with its exit code.
func Run(ctx context.Context, img Image, m Machine, folder, script, out string, stdout io.Writer) error {
	for attempt := 1; ; attempt++ {
		err := run(ctx, img, m, folder, script, out, stdout)
		var boot *bootError
		if !errors.As(err, &boot) || attempt == 3 {
			return err
		}
		fmt.Fprintf(stdout, "attempt %d: %v\n", attempt, err)
	}
}

func run(ctx context.Context, img Image, m Machine, folder, script, out string, stdout io.Writer) error {
	work, err := os.MkdirTemp("", "kqos-e2e-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	disk := func(name string) string { return filepath.Join(work, name) }
	if err := mkfs(ctx, disk("job.img"), folder, 512); err != nil {
		return err
	}
	if err := os.WriteFile(disk("out.img"), make([]byte, 64<<20), 0o600); err != nil {
		return err
	}
	snapshot := "on"
	if img.Keep {
		snapshot = "off"
	}
	args := append(m.arguments(),
		"-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-bios", "qboot.rom",
		"-kernel", img.Kernel, "-append", strings.Join([]string{
			"console=ttyS0 root=/dev/nvme0n1 rw rootfstype=ext4 quiet mitigations=off no_timer_check",
			"random.trust_cpu=on cryptomgr.notests panic=-1 systemd.show_status=0 e2e.script=" + script, m.Kernel,
		}, " "),
		"-drive", "if=none,id=d0,format=raw,cache=unsafe,snapshot="+snapshot+",file="+img.Root, "-device", "nvme,drive=d0,serial=root",
		"-drive", "if=none,id=d1,format=raw,cache=unsafe,file="+disk("job.img"), "-device", "nvme,drive=d1,serial=job",
		"-drive", "if=none,id=d2,format=raw,cache=unsafe,file="+disk("out.img"), "-device", "nvme,drive=d2,serial=out",
		"-serial", "file:"+disk("console"), "-serial", "stdio", "-serial", "file:"+disk("status"))
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", args...)
	cmd.Stdout, cmd.Stderr = stdout, stdout
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the guest: %w", err)
	}
	late := time.AfterFunc(bootTime, func() {
		if up, _, _ := told(disk("status")); !up {
			_ = cmd.Process.Kill()
		}
	})
	err = cmd.Wait()
	late.Stop()
	up, code, ended := told(disk("status"))
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("running the guest: %w: %s", ctx.Err(), tail(disk("console")))
	case !up:
		return &bootError{fmt.Sprintf("%v: %s", err, tail(disk("console")))}
	case err != nil:
		return fmt.Errorf("running the guest: %w: %s", err, tail(disk("console")))
	case !ended:
		return fmt.Errorf("the guest ended without a status: %s", tail(disk("console")))
	}
	if out != "" {
		if err := command(ctx, "tar", "-C", out, "--no-same-owner", "-xf", disk("out.img")); err != nil {
			return err
		}
	}
	if code != 0 {
		return fmt.Errorf("%s ended with exit code %d", script, code)
	}
	return nil
}

// told reads what the agent tells: that it runs, and the script's exit code.
func told(file string) (up bool, code int, ended bool) {
	text, _ := os.ReadFile(file)
	words := strings.Fields(string(text))
	if len(words) < 2 {
		return len(words) > 0, 0, false
	}
	code, err := strconv.Atoi(words[1])
	return true, code, err == nil
}

// arguments are QEMU's for the hardware. The vendor matters: with the default
// one a guest sees no threads.
func (m Machine) arguments() []string {
	cpus := m.Sockets * m.Cores * m.Threads
	args := []string{
		"-machine", "q35,hpet=off", "-accel", "tcg,thread=multi,tb-size=512", "-cpu", "max,vendor=GenuineIntel",
		"-m", strconv.Itoa(m.MemoryMiB),
		"-smp", fmt.Sprintf("%d,sockets=%d,cores=%d,threads=%d", cpus, m.Sockets, m.Cores, m.Threads),
	}
	if m.NUMA < 2 {
		return args
	}
	for n := range m.NUMA {
		args = append(args,
			"-object", fmt.Sprintf("memory-backend-ram,id=m%d,size=%dM", n, m.MemoryMiB/m.NUMA),
			"-numa", fmt.Sprintf("node,nodeid=%d,cpus=%d-%d,memdev=m%d", n, n*cpus/m.NUMA, (n+1)*cpus/m.NUMA-1, n))
	}
	return append(args, "-numa", "dist,src=0,dst=1,val=21")
}

func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}
