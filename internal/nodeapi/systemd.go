package nodeapi

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	sd "github.com/coreos/go-systemd/v22/dbus"
	"github.com/godbus/dbus/v5"

	"github.com/kqos/kqos/internal/input"
)

// Unit is what systemd holds of one of its slices, scopes or services.
type Unit struct {
	Name string `json:"name"`
	// Properties are those of its resource control by D-Bus name: numbers as text,
	// 2^64-1 as infinity, sets of CPUs and memory nodes as hexadecimal masks.
	Properties map[string]string `json:"properties"`
	// Delegated says that what lies below is for another to manage (Delegate=yes).
	Delegated bool `json:"delegated,omitempty"`
	// Files are the unit's file and its drop-ins.
	Files []string `json:"files,omitempty"`
}

const (
	systemdName = "org.freedesktop.systemd1"
	getAll      = "org.freedesktop.DBus.Properties.GetAll"
)

// UnitsFile is where a captured host has what its systemd told, as JSON of units
// by name; below the root of a running one there is none.
const UnitsFile = "run/systemd/kqos-units.json"

// SystemdSockets are where systemd answers on the host below root: its own
// socket, for root only, that of the bus, and UnitsFile, which stands for it.
func SystemdSockets(root string) []string {
	return []string{filepath.Join(root, "run/systemd/private"), filepath.Join(root, "run/dbus/system_bus_socket"), filepath.Join(root, UnitsFile)}
}

// recordedUnits are those of a captured host that have one of the names.
func recordedUnits(file string, names []string) (map[string]Unit, error) {
	text, err := input.File(file, input.Config)
	if err != nil {
		return nil, err
	}
	var all map[string]Unit
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	maps.DeleteFunc(all, func(name string, _ Unit) bool { return !slices.Contains(names, name) })
	return all, nil
}

// Units asks systemd for units by name; those that it does not know are left
// out. It reads only. Where the answer ends early, what was learnt until then
// comes with the error.
func Units(ctx context.Context, sockets, names []string) (map[string]Unit, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var failed []error
	for _, socket := range sockets {
		if filepath.Base(socket) == filepath.Base(UnitsFile) {
			units, err := recordedUnits(socket, names)
			if err == nil {
				return units, nil
			}
			failed = append(failed, err)
			continue
		}
		conn, err := dialSystemd(ctx, socket)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		defer conn.Close()
		units := make(map[string]Unit, len(names))
		for _, name := range names {
			u, err := unit(ctx, conn, name)
			if err != nil {
				return units, fmt.Errorf("asking systemd at %s for unit %s: %w", socket, name, err)
			}
			if len(u.Properties) > 0 {
				units[name] = u
			}
		}
		return units, nil
	}
	return nil, errors.Join(failed...)
}

func dialSystemd(ctx context.Context, socket string) (*dbus.Conn, error) {
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("asking systemd: %w", err)
	}
	conn, err := dbus.NewConn(raw, dbus.WithContext(ctx))
	if err != nil {
		return nil, fmt.Errorf("asking systemd at %s: %w", socket, err)
	}
	// A silent socket would hold up the greeting, which knows no context.
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	defer stop()
	err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Getuid()))})
	if err == nil && filepath.Base(socket) != "private" {
		err = conn.Hello() // a bus wants it, systemd's own socket does not know it
	}
	if err != nil {
		return nil, fmt.Errorf("asking systemd at %s: %w", socket, errors.Join(err, ctx.Err(), conn.Close()))
	}
	return conn, nil
}

func unit(ctx context.Context, conn *dbus.Conn, name string) (Unit, error) {
	u := Unit{Name: name, Properties: map[string]string{}}
	kind := name[strings.LastIndexByte(name, '.')+1:]
	if kind == "" {
		return u, nil
	}
	at := conn.Object(systemdName, dbus.ObjectPath("/org/freedesktop/systemd1/unit/"+sd.PathBusEscape(name)))
	var general, own map[string]dbus.Variant
	if err := at.CallWithContext(ctx, getAll, 0, systemdName+".Unit").Store(&general); err != nil {
		return u, known(err)
	}
	if state, _ := general["LoadState"].Value().(string); state != "loaded" {
		return u, nil
	}
	if err := at.CallWithContext(ctx, getAll, 0, systemdName+"."+strings.ToUpper(kind[:1])+kind[1:]).Store(&own); err != nil {
		return u, known(err)
	}
	if file, _ := general["FragmentPath"].Value().(string); file != "" {
		u.Files = append(u.Files, file)
	}
	dropins, _ := general["DropInPaths"].Value().([]string)
	u.Files = append(u.Files, dropins...)
	u.Delegated, _ = own["Delegate"].Value().(bool)
	for property, value := range own {
		switch value := value.Value().(type) {
		case uint64:
			u.Properties[property] = strconv.FormatUint(value, 10)
			if value == math.MaxUint64 {
				u.Properties[property] = "infinity"
			}
		case []byte:
			u.Properties[property] = hex.EncodeToString(value)
		}
	}
	return u, nil
}

// known takes an answer of systemd that it has no such unit for no error.
func known(err error) error {
	if _, answer := errors.AsType[dbus.Error](err); answer {
		return nil
	}
	return err
}
