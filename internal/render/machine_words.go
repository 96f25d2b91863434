package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/quantity"
)

// anyNode stands for devices that are near no node in particular.
const anyNode = -1

// boxTitle names a part of a machine, for the tree and the picture.
func boxTitle(m *machine.Machine, b *machine.Box) string {
	switch b.Kind {
	case machine.BoxMachine:
		return machineTitle(m)
	case machine.BoxPackage:
		if b.ID < 0 {
			return "package"
		}
		return fmt.Sprintf("package %d", b.ID)
	case machine.BoxNUMA:
		if b.Node == nil {
			return "no NUMA node"
		}
		return nodeTitle(b)
	case machine.BoxDie:
		return fmt.Sprintf("die %d", b.ID)
	case machine.BoxCache:
		if b.Cache == nil && b.ID < 0 {
			return "no cache known"
		}
		if b.Cache == nil {
			return fmt.Sprintf("last level cache %d", b.ID)
		}
		return strings.TrimSpace(fmt.Sprintf("L%d  %s", b.Cache.Level, Size(b.Cache.Size)))
	case machine.BoxOffline:
		return "offline"
	}
	return fmt.Sprintf("core %d", b.ID)
}

func machineTitle(m *machine.Machine) string {
	words := []string{"machine"}
	if m.Memory > 0 {
		words = append(words, Size(m.Memory))
	}
	counts := []string{
		quantity.Count(m.NumSockets(), "socket"), quantity.Count(len(m.NUMA), "NUMA node"),
		quantity.Count(len(m.Cores()), "core"), quantity.Count(m.Online().Size(), "CPU"),
	}
	return strings.Join(append(words, strings.Join(counts, ", ")), "  ")
}

func nodeTitle(b *machine.Box) string {
	words := []string{fmt.Sprintf("NUMA node %d", b.ID), Size(b.Node.Memory)}
	if b.Node.Memory == 0 {
		words[1] = "memory unknown"
	}
	for _, s := range slices.Sorted(maps.Keys(b.Node.HugePages)) {
		if n := b.Node.HugePages[s]; n > 0 {
			words = append(words, fmt.Sprintf("%d × %s pages", n, s))
		}
	}
	if len(b.CPUs) == 0 {
		words = append(words, "no CPUs")
	}
	return strings.Join(words, "  ")
}

// devicesOn names the PCI devices and device plugins' devices near the node;
// virtual functions are told by their number on the physical one, and like
// devices without a name by their number.
func devicesOn(m *machine.Machine, node int) []string {
	var found []string
	alike := map[pciKind]int{}
	for _, d := range m.PCI {
		if d.NUMA == node && d.Physical == "" && nameless(d) {
			alike[kindOf(d)]++
		}
	}
	for _, d := range m.PCI {
		if d.NUMA != node || d.Physical != "" {
			continue
		}
		if n := alike[kindOf(d)]; nameless(d) && n != 1 {
			if n > 1 {
				found = append(found, fmt.Sprintf("%s %s:%s × %d from %s", d.Class, d.Vendor, d.Device, n, d.Address))
				alike[kindOf(d)] = 0
			}
			continue
		}
		text := d.Class + " " + d.Address
		if len(d.Names) > 0 {
			text += " " + strings.Join(d.Names, ", ")
		}
		if d.MaxFunctions > 0 {
			text += fmt.Sprintf("  %d of %d functions", d.Functions, d.MaxFunctions)
		}
		found = append(found, text)
	}
	counts, sick := map[string]int{}, map[string]int{}
	for _, d := range m.Devices {
		if slices.Contains(d.NUMA, node) || len(d.NUMA) == 0 && node == anyNode {
			counts[d.Resource]++
			if !d.Healthy {
				sick[d.Resource]++
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		text := fmt.Sprintf("%s × %d", name, counts[name])
		if sick[name] > 0 {
			text += fmt.Sprintf(", %d unhealthy", sick[name])
		}
		found = append(found, text)
	}
	return found
}

type pciKind struct{ class, vendor, device string }

// nameless says that nothing tells the device from others of its kind.
func nameless(d machine.PCIDevice) bool { return len(d.Names) == 0 && d.MaxFunctions == 0 }

func kindOf(d machine.PCIDevice) pciKind {
	return pciKind{d.Class, d.Vendor, d.Device}
}

// Size is an amount of bytes for people; empty where it is not known.
func Size(bytes int64) string {
	if bytes <= 0 {
		return ""
	}
	return quantity.Bytes(*resource.NewQuantity(bytes, resource.BinarySI))
}
