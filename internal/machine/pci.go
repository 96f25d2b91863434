package machine

import (
	"io/fs"
	"path"
	"slices"
	"strings"
)

const pciDir = "bus/pci/devices"

// pciClass names the PCI base classes and subclasses that pods come near to;
// others are "".
// https://pcisig.com, PCI Code and ID Assignment Specification
func pciClass(code string) string {
	code = strings.TrimPrefix(code, "0x")
	switch {
	case strings.HasPrefix(code, "0207"):
		return "infiniband"
	case strings.HasPrefix(code, "02"):
		return "network"
	case strings.HasPrefix(code, "03"):
		return "gpu"
	case strings.HasPrefix(code, "0108"):
		return "nvme"
	case strings.HasPrefix(code, "12"), strings.HasPrefix(code, "0b40"):
		return "accelerator"
	}
	return ""
}

// pci reads the PCI functions of those classes. A file that is missing leaves
// its field empty: captures hold some of them only.
func (t tree) pci() []PCIDevice {
	var found []PCIDevice
	for _, address := range t.names(pciDir) {
		code, _ := t.text(pciDir, address, "class")
		class := pciClass(code)
		if class == "" {
			continue
		}
		d := PCIDevice{Address: address, Class: class, NUMA: unknown}
		if n, err := t.number(pciDir, address, "numa_node"); err == nil && n >= 0 {
			d.NUMA = n
		}
		vendor, _ := t.text(pciDir, address, "vendor")
		device, _ := t.text(pciDir, address, "device")
		d.Vendor, d.Device = strings.TrimPrefix(vendor, "0x"), strings.TrimPrefix(device, "0x")
		d.Functions, _ = t.number(pciDir, address, "sriov_numvfs")
		d.MaxFunctions, _ = t.number(pciDir, address, "sriov_totalvfs")
		if link, err := fs.ReadLink(t.files, path.Join(t.sys, pciDir, address, "physfn")); err == nil {
			d.Physical = path.Base(link)
		}
		for _, kind := range []string{"net", "nvme", "infiniband", "drm"} {
			names := t.names(pciDir, address, kind)
			names = slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, "render") })
			d.Names = append(d.Names, names...)
		}
		found = append(found, d)
	}
	return found
}
