package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	sd "github.com/coreos/go-systemd/v22/dbus"

	"github.com/kqos/kqos/internal/cgroups"
)

// startReserved makes a reserved slice that outlives a reboot: a unit file for
// it, and a service that starts it before the kubelet with the controllers that
// the kubelet's check wants.
func (d *Driver) startReserved(cg *cgroups.Cgroup) error {
	possible, err := os.ReadFile("/sys/devices/system/cpu/possible")
	if err != nil {
		return fmt.Errorf("reading the possible CPUs: %w", err)
	}
	version := 1
	if d.v2() {
		version = 2
	}
	service := handingUnit(cg.Unit)
	if err := writeUnit(cg.Unit, sliceUnit(cg.Unit, strings.TrimSpace(string(possible)), version)); err != nil {
		return err
	}
	if err := writeUnit(service, handingService(cg.Unit, cg.Path, version)); err != nil {
		return err
	}
	if err := manage("enabling "+service, func(ctx context.Context, c *sd.Conn) error {
		if err := c.ReloadContext(ctx); err != nil {
			return err
		}
		_, _, err := c.EnableUnitFilesContext(ctx, []string{service}, false, true)
		return err
	}); err != nil {
		return err
	}
	return job("starting", service, func(ctx context.Context, c *sd.Conn, done chan<- string) error {
		_, err := c.StartUnitContext(ctx, service, "replace", done)
		return err
	})
}

// writeUnit writes a unit file whole or not at all. One that kqos did not write
// is left.
func writeUnit(unit, text string) error {
	file := filepath.Join(unitFolder, unit)
	old, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("reading unit file: %w", err)
	case !strings.HasPrefix(string(old), unitMark):
		return fmt.Errorf("unit file %s was not made by kqos: start that unit, or remove the file", file)
	}
	beside := file + ".kqos"
	if err := os.WriteFile(beside, []byte(text), 0o644); err != nil { //nolint:gosec // unit files are public, as systemd's own are
		return fmt.Errorf("writing unit file: %w", err)
	}
	if err := os.Rename(beside, file); err != nil {
		return fmt.Errorf("writing unit file: %w", err)
	}
	return nil
}

// ownUnit says whether kqos wrote the unit file of this name.
func ownUnit(unit string) bool {
	text, err := os.ReadFile(filepath.Join(unitFolder, unit))
	return err == nil && strings.HasPrefix(string(text), unitMark)
}

// dropUnits removes what startReserved wrote, if it did.
func dropUnits(unit string) error {
	service := handingUnit(unit)
	if !ownUnit(service) {
		return nil
	}
	file := filepath.Join(unitFolder, service)
	if err := manage("disabling "+service, func(ctx context.Context, c *sd.Conn) error {
		_, err := c.DisableUnitFilesContext(ctx, []string{service}, false)
		return err
	}); err != nil {
		return err
	}
	if err := stopSlice(service); err != nil {
		return err
	}
	if err := errors.Join(os.Remove(file), os.Remove(filepath.Join(unitFolder, unit))); err != nil {
		return fmt.Errorf("removing the unit files of %s: %w", unit, err)
	}
	return manage("reloading systemd without "+service, func(ctx context.Context, c *sd.Conn) error { return c.ReloadContext(ctx) })
}

// manageTimeout is how long systemd may take to answer: a reload reads every
// unit file anew, which takes a busy node longer than a job.
const manageTimeout = 2 * time.Minute

// manage asks the service manager for something that is no job.
func manage(what string, do func(context.Context, *sd.Conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), manageTimeout)
	defer cancel()
	c, err := sd.NewWithContext(ctx)
	if err != nil {
		return fmt.Errorf("%s: connecting to systemd: %w", what, err)
	}
	defer c.Close()
	if err := do(ctx, c); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: no answer of systemd within %s", what, manageTimeout)
		}
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
