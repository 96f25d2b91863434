package cli

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/cgroups"
	quantities "github.com/kqos/kqos/internal/quantity"
)

// nodeAllocatable is the contract of the allocatable command.
type nodeAllocatable struct {
	typeMeta
	// Config and Machine say what was read; empty for the kubelet's defaults.
	Config                string                             `json:"config,omitempty"`
	Machine               string                             `json:"machine,omitempty"`
	Driver                string                             `json:"driver"`
	CgroupVersion         int                                `json:"cgroupVersion"`
	Capacity              corev1.ResourceList                `json:"capacity"`
	SystemReserved        corev1.ResourceList                `json:"systemReserved"`
	KubeReserved          corev1.ResourceList                `json:"kubeReserved"`
	EvictionHard          map[string]string                  `json:"evictionHard"`
	EvictionReservation   corev1.ResourceList                `json:"evictionReservation"`
	Allocatable           corev1.ResourceList                `json:"allocatable"`
	AllocatableForCgroups corev1.ResourceList                `json:"allocatableForCgroups"`
	Terms                 []allocatable.Term                 `json:"terms"`
	Enforced              []enforcedCgroup                   `json:"enforced"`
	ReservedCPUs          string                             `json:"reservedCPUs"`
	ReservedMemory        []kubeletv1beta1.MemoryReservation `json:"reservedMemory"`
	Warnings              []string                           `json:"warnings"`
}

// enforcedCgroup is what the enforcement writes to one cgroup.
type enforcedCgroup struct {
	Name       string            `json:"name"`
	Path       string            `json:"path"`
	Unit       string            `json:"unit,omitempty"`
	Files      map[string]string `json:"files"`
	Properties map[string]string `json:"properties,omitempty"`
	Why        map[string]string `json:"why"`

	// amounts are those behind the files, for people.
	amounts allocatable.Enforced
}

// newNodeAllocatable computes the answer on a node whose kubelet starts.
func newNodeAllocatable(n *node) *nodeAllocatable {
	result, _ := allocatable.Compute(n.config, n.onNode())
	v := &nodeAllocatable{
		typeMeta: kind("NodeAllocatable"), Config: n.config.Source, Driver: n.driver, CgroupVersion: n.cgroupVersion,
		Capacity: result.Capacity, SystemReserved: listed(result.Reservations.System), KubeReserved: listed(result.Reservations.Kube),
		EvictionHard: resolved(result), EvictionReservation: result.Eviction,
		Allocatable: result.Allocatable, AllocatableForCgroups: result.Absolute, Terms: result.Terms,
		ReservedCPUs: n.reservedCPUs().String(), ReservedMemory: n.config.ReservedMemory,
		Warnings: result.Warnings, Enforced: []enforcedCgroup{},
	}
	if n.machine != nil {
		v.Machine = n.machine.Source
	}
	if v.ReservedMemory == nil {
		v.ReservedMemory = []kubeletv1beta1.MemoryReservation{}
	}
	sizes, err := n.pageSizes()
	if err != nil {
		v.Warnings = append(v.Warnings, err.Error())
	}
	for _, e := range result.Enforced {
		c, err := n.enforce(e, sizes)
		if err != nil {
			v.Warnings = append(v.Warnings, fmt.Sprintf("%s: %v (the kubelet crashes)", e.Group, err))
			continue
		}
		v.Enforced = append(v.Enforced, c)
	}
	return v
}

// resolved gives each threshold as an amount where the capacity it is a part of
// is known, else as written.
func resolved(r *allocatable.Result) map[string]string {
	thresholds := map[string]string{}
	for _, t := range r.Thresholds {
		thresholds[t.Signal] = t.Text
		if q, ok := r.Eviction[t.Resource()]; ok {
			thresholds[t.Signal] = q.String()
		}
	}
	return thresholds
}

// enforce renders one enforced cgroup under the node's driver and version.
func (n *node) enforce(e allocatable.Enforced, sizes []string) (enforcedCgroup, error) {
	path, err := cgroups.EnforcedName(e, n.config.PerQOS(), n.driver).Path(n.driver)
	if err != nil {
		return enforcedCgroup{}, err
	}
	c := enforcedCgroup{amounts: e, Name: string(e.Group), Path: path, Files: map[string]string{}, Why: map[string]string{}}
	r := cgroups.EnforcedSettings(e).Render(cgroups.Platform{Driver: n.driver, Version: n.cgroupVersion, PageSizes: sizes})
	for _, f := range r.Files {
		c.Files[f.Name], c.Why[f.Name] = f.Is, f.Why
	}
	if n.driver == cgroups.Systemd {
		c.Unit, _ = cgroups.Unit(path)
		c.Properties = map[string]string{}
	}
	for _, p := range r.Properties {
		c.Properties[p.Name] = p.Is
	}
	return c, nil
}

func isHugePages(name string) bool { return strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) }

// amount prints a quantity for people, or exactly.
func amount(name corev1.ResourceName, q resource.Quantity, exact bool) string {
	if !exact && (name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || isHugePages(string(name))) {
		return quantities.Bytes(q)
	}
	if !exact && name == allocatable.ResourcePID {
		// A Quantity of a thousand calls itself 1k.
		return strconv.FormatInt(q.Value(), 10)
	}
	return q.String()
}
