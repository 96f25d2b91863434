package files

import (
	"encoding/hex"
	"fmt"
	"math"
	"sync"
	"unsafe"

	systemdDbus "github.com/coreos/go-systemd/v22/dbus"
	libcgroups "github.com/opencontainers/cgroups"
)

//go:linkname propertiesV1 github.com/opencontainers/cgroups/systemd.genV1ResourcesProperties
func propertiesV1(r *libcgroups.Resources, connection unsafe.Pointer) ([]systemdDbus.Property, error)

//go:linkname propertiesV2 github.com/opencontainers/cgroups/systemd.genV2ResourcesProperties
func propertiesV2(dir string, r *libcgroups.Resources, connection unsafe.Pointer) ([]systemdDbus.Property, error)

//go:linkname versionOnce github.com/opencontainers/cgroups/systemd.versionOnce
var versionOnce sync.Once

//go:linkname systemdVersion github.com/opencontainers/cgroups/systemd.version
var systemdVersion int

// properties are those of the unit, under systemd 255.
func properties(r *libcgroups.Resources, version int, dir string) (map[string]string, error) {
	versionOnce.Do(func() {})
	systemdVersion = 255
	var list []systemdDbus.Property
	var err error
	if version == 1 {
		list, err = propertiesV1(r, nil)
	} else {
		list, err = propertiesV2(dir, r, nil)
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, p := range list {
		switch value := p.Value.Value().(type) {
		case uint64:
			out[p.Name] = fmt.Sprint(value)
			if value == math.MaxUint64 {
				out[p.Name] = "infinity"
			}
		case []byte:
			out[p.Name] = hex.EncodeToString(value)
		default:
			out[p.Name] = fmt.Sprint(value)
		}
	}
	return out, nil
}
