package machine

import (
	"fmt"
	"strings"
)

// coreKind is one kind of cores of a hybrid machine.
type coreKind struct {
	cpuset string
	// name is hwloc's CoreType: IntelAtom or IntelCore.
	name string
}

func (r *hwlocReader) markKinds(hardware map[int]*hardwareCPU) error {
	for _, k := range r.kinds {
		kind := map[string]CoreType{"IntelAtom": Efficiency, "IntelCore": Performance}[k.name]
		if kind == "" {
			continue
		}
		cpus, err := parseBitmap(k.cpuset)
		if err != nil {
			return fmt.Errorf("cpuset of a cpukind: %w", err)
		}
		for _, id := range cpus {
			if h := hardware[id]; h != nil {
				h.kind = kind
			}
		}
	}
	return nil
}

// pci reads the PCI devices that pods come near to, each on the node that the
// nearest object around it stands for.
func (r *hwlocReader) pci() []PCIDevice {
	var found []PCIDevice
	for _, o := range r.objects {
		if o.kind != "PCIDev" {
			continue
		}
		// pci_type is "0200 [14e4:1639] [subsystem] revision interface".
		code, rest, _ := strings.Cut(o.attr["pci_type"], " ")
		class := pciClass(code)
		if class == "" {
			continue
		}
		d := PCIDevice{Address: o.attr["pci_busid"], Class: class, NUMA: unknown, Names: o.names}
		id, _, _ := strings.Cut(strings.TrimPrefix(rest, "["), "]")
		d.Vendor, d.Device, _ = strings.Cut(id, ":")
		for p := o.parent; p != nil; p = p.parent {
			if p.attr["nodeset"] == "" {
				continue
			}
			if nodes, err := parseBitmap(p.attr["nodeset"]); err == nil && len(nodes) == 1 {
				d.NUMA = nodes[0]
			}
			break
		}
		found = append(found, d)
	}
	return found
}
