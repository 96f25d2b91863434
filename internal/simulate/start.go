package simulate

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/simulate/cpumanager"
	"github.com/kqos/kqos/internal/simulate/devicemanager"
	"github.com/kqos/kqos/internal/simulate/memorymanager"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// Stages of a kubelet's start, in their order.
const (
	StageDecode         = "decode"
	StageFeatureGates   = "feature-gates"
	StageValidate       = "validate"
	StageReservedCPUs   = "reserved-cpus"
	StageKubeReserved   = "kube-reserved"
	StageSystemReserved = "system-reserved"
	StageEviction       = "eviction"
	StageTopology       = "topology-manager"
	StageCPU            = "cpu-manager"
	StageMemory         = "memory-manager"
	StageCPUStart       = "cpu-manager-start"
	StageMemoryStart    = "memory-manager-start"
)

// StartError says that the kubelet does not start.
type StartError struct {
	// Stage is one of the constants.
	Stage string `json:"stage"`
	// Message is in the kubelet's words.
	Message string `json:"message"`
	// Chance is true when several things are at fault and the order of a map
	// decides which one the kubelet names.
	Chance bool `json:"-"`
}

func (e *StartError) Error() string { return e.Message }

// Manages tells whether a manager of the configuration places containers, or
// refuses pods.
func Manages(c *kubelet.Config) bool {
	return c.CPUManagerPolicy == kubelet.CPUPolicyStatic || c.MemoryManagerPolicy == kubelet.MemoryPolicyStatic ||
		c.TopologyManagerPolicy != "" && c.TopologyManagerPolicy != kubelet.TopologyPolicyNone
}

// start makes the managers and lets them read their files. Those of the kubelet
// before stay where they cannot be made.
// kubelet v1.37: cmd/kubelet/app/server.go run
func (n *Node) start(spec Spec) error {
	if spec.Dir == "" {
		spec.Dir = "$DIR"
	}
	if spec.CgroupVersion == 0 {
		spec.CgroupVersion = 2
	}
	n.spec, n.stopped = spec, true
	on := allocatable.NewNode(spec.Machine, nil, spec.CgroupVersion)
	reserved, err := reservation(spec.Config, on)
	if err != nil {
		return err
	}
	made, err := makeManagers(spec, reserved, on.NUMANodes)
	if err != nil {
		return err
	}
	n.managers, n.allocatable = made, reserved.Allocatable
	return n.restore()
}

// managers are the four of one kubelet.
type managers struct {
	topology *topologymanager.Manager
	devices  *devicemanager.Manager
	cpus     *cpumanager.Manager
	memory   *memorymanager.Manager
}

// makeManagers makes them in the kubelet's order.
// kubelet v1.37: cm/container_manager_linux.go NewContainerManager
func makeManagers(spec Spec, reserved *allocatable.Result, nodes []int) (made managers, err error) {
	c, m := spec.Config, spec.Machine
	made.topology, err = newTopologyManager(c, m)
	if err != nil {
		return made, &StartError{StageTopology, err.Error(), several(c.TopologyManagerPolicyOptions, topologymanager.CheckOptions)}
	}
	made.devices = devicemanager.New(devicemanager.Config{Machine: m, Preferred: spec.Preferred, Gates: c.Gates})
	if made.cpus, err = NewCPUManager(c, m, reserved.Reservations); err != nil {
		return made, &StartError{StageCPU, err.Error(), c.CPUManagerPolicy == kubelet.CPUPolicyStatic &&
			several(c.CPUManagerPolicyOptions, func(one map[string]string) error {
				_, err := cpumanager.ParseOptions(one, c.Gates)
				return err
			})}
	}
	kept := memoryReservation(reserved)
	made.memory, err = memorymanager.New(memorymanager.Config{
		Policy: c.MemoryManagerPolicy, Machine: m, Reserved: c.ReservedMemory, NodeReservation: kept, Gates: c.Gates,
	})
	if err != nil {
		return made, &StartError{StageMemory, err.Error(), unequal(c, kept, nodes)}
	}
	made.topology.Providers = []topologymanager.Provider{made.devices, made.cpus, made.memory}
	return made, nil
}

// reservation parses what the configuration reserves, or fails as the kubelet
// does at the first of its checks.
func reservation(c *kubelet.Config, on allocatable.Node) (*allocatable.Result, error) {
	if found := c.Validate(on.CgroupVersion); len(found) > 0 {
		return nil, &StartError{Stage: StageValidate, Message: aggregate(found)}
	}
	if found := allocatable.CheckReservedCPUs(c, on); len(found) > 0 {
		return nil, &StartError{Stage: StageReservedCPUs, Message: found[0].Message}
	}
	_, found := allocatable.ReadReservations(c)
	for _, stage := range []struct{ name, field string }{{StageKubeReserved, "kubeReserved."}, {StageSystemReserved, "systemReserved."}} {
		for _, f := range found {
			if strings.HasPrefix(f.Field, stage.field) {
				return nil, &StartError{Stage: stage.name, Message: f.Message}
			}
		}
	}
	if _, found := allocatable.ReadThresholds(c); len(found) > 0 {
		return nil, &StartError{Stage: StageEviction, Message: found[0].Message}
	}
	result, _ := allocatable.Compute(c, on)
	return result, nil
}

// aggregate joins messages as the kubelet prints a list of errors.
// apimachinery v0.37: util/errors Aggregate
func aggregate(found []kubelet.Finding) string {
	var messages []string
	for _, f := range found {
		messages = append(messages, f.Message)
	}
	if len(messages) == 1 {
		return messages[0]
	}
	return "[" + strings.Join(messages, ", ") + "]"
}

// memoryReservation is what the node reserves of memory and huge pages.
// kubelet v1.37: cm/node_container_manager_linux.go GetNodeAllocatableReservation
func memoryReservation(r *allocatable.Result) corev1.ResourceList {
	list := corev1.ResourceList{}
	// The kubelet goes through the capacity, which always has memory.
	for name := range r.Capacity {
		list[name] = resource.Quantity{}
	}
	list[corev1.ResourceMemory] = resource.Quantity{}
	for name := range list {
		q := r.Reservation(name)
		if q.IsZero() {
			delete(list, name)
		} else {
			list[name] = q
		}
	}
	return list
}

// restore lets the managers read their checkpoint files.
func (n *Node) restore() error {
	gates := n.spec.Config.Gates
	n.cpusRead = nil
	if blob, ok := n.files[kubelet.CPUManagerStateFile]; ok {
		s, err := kubelet.ReadCPUManagerState([]byte(blob), n.spec.Config.CPUManagerPolicy, gates)
		if err != nil {
			return n.refuse(StageCPUStart, "CPU", kubelet.CPUManagerStateFile, err)
		}
		n.cpusRead = s
	}
	if err := n.cpus.Start(cpuState(n.cpusRead)); err != nil {
		return &StartError{Stage: StageCPUStart, Message: err.Error()}
	}
	n.files = n.cpuFile(n.files)
	var s *kubelet.MemoryManagerState
	if blob, ok := n.files[kubelet.MemoryManagerStateFile]; ok {
		var err error
		if s, err = kubelet.ReadMemoryManagerState([]byte(blob), n.spec.Config.MemoryManagerPolicy, gates); err != nil {
			return n.refuse(StageMemoryStart, "memory", kubelet.MemoryManagerStateFile, err)
		}
	}
	if err := n.memory.Start(s); err != nil {
		return &StartError{Stage: StageMemoryStart, Message: err.Error()}
	}
	n.devices.Start(n.deviceState())
	n.stopped = false
	return nil
}

func (n *Node) refuse(stage, manager, file string, err error) error {
	return &StartError{Stage: stage, Message: kubelet.RestoreError(manager, path.Join(n.spec.Dir, file), err).Error()}
}

// deviceState is the device manager's file; one that cannot be read counts as
// none, which the kubelet only logs.
func (n *Node) deviceState() *kubelet.DeviceManagerState {
	blob, ok := n.files[kubelet.DeviceManagerStateFile]
	if !ok {
		return nil
	}
	s, err := kubelet.ReadDeviceManagerState([]byte(blob))
	if err != nil {
		return nil
	}
	return s
}
