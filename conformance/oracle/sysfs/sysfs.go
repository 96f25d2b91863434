// Package sysfs has cAdvisor read a machine out of a folder that holds sys and
// proc, as the kubelet has it read the host's.
//
//	info, err := sysfs.Read(root)
//	view := sysfs.ViewOf(info)
package sysfs

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	_ "unsafe" // for go:linkname

	"github.com/google/cadvisor/lib/machine"
	"github.com/google/cadvisor/lib/utils/sysfs"
	"github.com/google/cadvisor/lib/utils/sysinfo"

	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/inside"
)

//go:linkname nodeDir github.com/google/cadvisor/lib/utils/sysfs.nodeDir
var nodeDir string

//go:linkname cpusPath github.com/google/cadvisor/lib/utils/sysinfo.cpusPath
var cpusPath string

//go:linkname cpuAttributesPath github.com/google/cadvisor/lib/machine.cpuAttributesPath
var cpuAttributesPath string

//go:linkname memoryCapacity github.com/google/cadvisor/lib/machine.memoryCapacityRegexp
var memoryCapacity *regexp.Regexp

//go:linkname swapCapacity github.com/google/cadvisor/lib/machine.swapCapacityRegexp
var swapCapacity *regexp.Regexp

//go:linkname parseCapacity github.com/google/cadvisor/lib/machine.parseCapacity
func parseCapacity([]byte, *regexp.Regexp) (uint64, error)

//go:linkname cacheCPUs github.com/google/cadvisor/lib/utils/sysfs.getCPUCount
func cacheCPUs(dir string) (int, error)

// rooted is cAdvisor's own sysfs below a folder. Caches alone have a path that
// cannot be moved; they are read here as it reads them.
type rooted struct {
	sysfs.SysFs
	cpus string
}

func (r rooted) GetCaches(cpu int) ([]os.FileInfo, error) {
	entries, err := os.ReadDir(fmt.Sprintf("%s/cpu%d/cache", r.cpus, cpu))
	if err != nil {
		return nil, err
	}
	var out []os.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		out = append(out, info)
	}
	return out, nil
}

func (r rooted) GetCacheInfo(cpu int, name string) (c sysfs.CacheInfo, err error) {
	dir := fmt.Sprintf("%s/cpu%d/cache/%s", r.cpus, cpu, name)
	for _, file := range []struct {
		name, format string
		into         any
	}{{"id", "%d", &c.Id}, {"size", "%dK", &c.Size}, {"level", "%d", &c.Level}, {"type", "%s", &c.Type}} {
		data, err := os.ReadFile(filepath.Join(dir, file.name))
		if err != nil {
			return sysfs.CacheInfo{}, err
		}
		if file.name == "type" {
			c.Type = strings.TrimSpace(string(data))
		} else if _, err := fmt.Sscanf(string(data), file.format, file.into); err != nil {
			return sysfs.CacheInfo{}, err
		}
	}
	c.Size *= 1024
	c.Cpus, err = cacheCPUs(dir)
	return c, err
}

// Read is what cAdvisor tells the kubelet of the machine below root, as far as
// the kubelet takes it for resources.
//
// cAdvisor lib v0.60: machine/info.go Info.
func Read(root string) (*cadvisor.MachineInfo, error) {
	sys := filepath.Join(root, "sys")
	nodeDir, cpusPath = filepath.Join(sys, "devices/system/node")+"/", filepath.Join(sys, "devices/system/cpu")
	cpuAttributesPath = cpusPath + "/"
	own := sysfs.NewRealSysFs()
	inside.Set(reflect.ValueOf(own), "cpuPath", cpusPath)
	files := rooted{own, cpusPath}

	cpuinfo, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	if err != nil {
		return nil, err
	}
	meminfo, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return nil, err
	}
	info := &cadvisor.MachineInfo{}
	if info.MemoryCapacity, err = parseCapacity(meminfo, memoryCapacity); err != nil {
		return nil, err
	}
	if info.SwapCapacity, err = parseCapacity(meminfo, swapCapacity); err != nil {
		return nil, err
	}
	if info.HugePages, err = sysinfo.GetHugePagesInfo(files, filepath.Join(sys, "kernel/mm/hugepages")+"/"); err != nil {
		return nil, err
	}
	// An error is logged, and the kubelet left with what there is.
	info.Topology, info.NumCores, _ = machine.GetTopology(files)
	info.NumSockets = machine.GetSockets(cpuinfo)
	return info, nil
}
