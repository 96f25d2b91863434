package driver

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"github.com/kqos/kqos/internal/cgroups"
)

// jobTimeout is how long the kubelet's library waits for systemd to start or
// stop a unit.
const jobTimeout = 30 * time.Second

// parentSlice names the unit above a slice: that of the folder above, or the
// root slice.
//
// kubelet v1.37: cm/cgroup_manager_linux.go libctCgroupConfig
func parentSlice(p string) string {
	if dir := path.Dir(p); dir != "/" {
		return path.Base(dir)
	}
	return "-.slice"
}

// startSlice starts a transient slice with the properties that the kubelet's
// library gives it. The library's own start also enables every controller from
// the root down and may write cgroup.type, which kqos plans or leaves alone.
func startSlice(cg *cgroups.Cgroup) error {
	if !strings.HasSuffix(cg.Unit, ".slice") {
		return fmt.Errorf("unit %s: kqos makes slices only; a scope needs a process, which the CRI runtime brings", cg.Unit)
	}
	properties := []sd.Property{
		sd.PropDescription("libcontainer container " + cg.Unit),
		sd.PropWants(parentSlice(cg.Path)),
		{Name: "MemoryAccounting", Value: dbus.MakeVariant(true)},
		{Name: "CPUAccounting", Value: dbus.MakeVariant(true)},
		{Name: "IOAccounting", Value: dbus.MakeVariant(true)},
		{Name: "TasksAccounting", Value: dbus.MakeVariant(true)},
		{Name: "DefaultDependencies", Value: dbus.MakeVariant(false)},
	}
	return job("starting", cg.Unit, func(ctx context.Context, c *sd.Conn, done chan<- string) error {
		_, err := c.StartTransientUnitContext(ctx, cg.Unit, "replace", properties, done)
		var known dbus.Error
		if errors.As(err, &known) && known.Name == "org.freedesktop.systemd1.UnitExists" {
			done <- "done"
			return nil
		}
		return err
	})
}

// stopSlice stops a slice whose folder is gone already. Stopping a slice as
// usual kills whatever was put into it meanwhile, so its dependencies are left
// out: only the slice itself ends.
func stopSlice(unit string) error {
	return job("stopping", unit, func(ctx context.Context, c *sd.Conn, done chan<- string) error {
		_, err := c.StopUnitContext(ctx, unit, "ignore-dependencies", done)
		var known dbus.Error
		if errors.As(err, &known) && known.Name == "org.freedesktop.systemd1.NoSuchUnit" {
			done <- "done"
			return nil
		}
		return err
	})
}

// job runs one job of systemd to its end.
func job(what, unit string, start func(context.Context, *sd.Conn, chan<- string) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), jobTimeout)
	defer cancel()
	conn, err := sd.NewWithContext(ctx)
	if err != nil {
		return fmt.Errorf("%s unit %s: connecting to systemd: %w", what, unit, err)
	}
	defer conn.Close()
	done := make(chan string, 1)
	if err := start(ctx, conn, done); err != nil {
		return fmt.Errorf("%s unit %s: %w", what, unit, err)
	}
	select {
	case result := <-done:
		if result != "done" {
			return fmt.Errorf("%s unit %s: systemd says %q; see systemctl status %s", what, unit, result, unit)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s unit %s: no answer of systemd within %s", what, unit, jobTimeout)
	}
}
