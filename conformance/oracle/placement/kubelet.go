// Package placement plays scenarios on the kubelet's own topology, CPU, memory
// and device managers.
//
//	result := placement.Run(scenario, dir)
package placement

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm/containermap"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"

	"github.com/kqos/kqos/conformance/oracle/cadvisor"
	"github.com/kqos/kqos/conformance/oracle/node"
	"github.com/kqos/kqos/conformance/oracle/start"
)

//go:linkname newDeviceManager k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.newManagerImpl
func newDeviceManager(klog.Logger, string, []cadvisor.Node, topologymanager.Store) (*devicemanager.ManagerImpl, error)

// never keeps the managers' own loops from running.
const never = 10000 * time.Hour

// kubelet is one start of a kubelet with its managers.
type kubelet struct {
	host     *host
	hardware *Hardware
	policy   struct{ cpu, memory, topology string }
	reserved string

	topology topologymanager.Manager
	cpus     cpumanager.Manager
	memory   memorymanager.Manager
	devices  *devicemanager.ManagerImpl
	told     told

	mu    sync.Mutex
	ready bool
}

// host is what outlives a kubelet: its pods and its folder.
type host struct {
	dir string
	mu  sync.Mutex
	// active are the admitted pods, with the one under admission.
	active []*v1.Pod
	// running are the ids of the containers that run.
	containers containermap.ContainerMap
	running    sets.Set[string]
}

func (h *host) pods() []*v1.Pod {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.active)
}

// AddSource and AllReady make the kubelet its own readiness of sources.
func (k *kubelet) AddSource(string) {}

func (k *kubelet) AllReady() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ready
}

func (k *kubelet) setReady(ready bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ready = ready
}

// GetPodStatus knows no pod: nothing is reconciled here.
func (k *kubelet) GetPodStatus(types.UID) (v1.PodStatus, bool) { return v1.PodStatus{}, false }

// UpdateContainerResources is the container runtime's part.
func (k *kubelet) UpdateContainerResources(context.Context, string, *runtimeapi.ContainerResources) error {
	return nil
}

// boot starts a kubelet on the host; nil with an error that stops it.
func boot(h *host, raw json.RawMessage, hardware *Hardware) (*kubelet, *StartError) {
	k := &kubelet{host: h, hardware: hardware}
	fail := func(stage string, err error) (*kubelet, *StartError) {
		return nil, &StartError{Stage: stage, Message: strings.ReplaceAll(err.Error(), h.dir, "$DIR")}
	}
	file, err := start.Write(h.dir, "kubelet.json", document(raw))
	if err != nil {
		return fail("decode", err)
	}
	defer func() { _ = os.Remove(file) }()
	c, err := start.Load(start.Options{File: file})
	if err != nil {
		return fail("decode", err)
	}
	if err := start.Validate(c, 2); err != nil {
		return fail("validate", err)
	}
	info := cadvisor.Info(hardware.Machine)
	reserved, reservation, stage, err := node.Reservation(c, info)
	if err != nil {
		return fail(stages()[stage], err)
	}
	k.policy.cpu, k.policy.memory, k.policy.topology = c.CPUManagerPolicy, c.MemoryManagerPolicy, c.TopologyManagerPolicy
	logger := klog.Background()
	if k.topology, err = node.NewTopologyManager(info.Topology, c.TopologyManagerPolicy, c.TopologyManagerScope, c.TopologyManagerPolicyOptions); err != nil {
		return fail("topology-manager", err)
	}
	if k.devices, err = newDeviceManager(logger, filepath.Join(h.dir, "device-plugins", "kubelet.sock"), info.Topology, k.topology); err != nil {
		return fail("device-manager", err)
	}
	k.topology.AddHintProvider(logger, listened{k.devices, &k.told})
	if k.cpus, err = cpumanager.NewManager(logger, c.CPUManagerPolicy, c.CPUManagerPolicyOptions, never, info, reserved, reservation, h.dir, k.topology); err != nil {
		return fail("cpu-manager", err)
	}
	k.topology.AddHintProvider(logger, listened{k.cpus, &k.told})
	if k.memory, err = memorymanager.NewManager(logger, c.MemoryManagerPolicy, info, reservation, c.ReservedMemory, h.dir, k.topology); err != nil {
		return fail("memory-manager", err)
	}
	k.topology.AddHintProvider(logger, listened{k.memory, &k.told})
	if err := k.cpus.Start(context.Background(), k.host.pods, k, k, k, h.containers.Clone()); err != nil {
		return fail("cpu-manager-start", err)
	}
	if err := k.memory.Start(context.Background(), k.host.pods, k, k, k, h.containers.Clone()); err != nil {
		return fail("memory-manager-start", err)
	}
	if err := k.devices.Start(logger, k.host.pods, k, h.containers.Clone(), h.running.Clone()); err != nil {
		return fail("device-manager", err)
	}
	if c.CPUManagerPolicy == "static" {
		all := k.cpus.GetAllCPUs()
		k.reserved = all.Difference(k.cpus.GetAllocatableCPUs()).String()
	}
	return k, nil
}

// stages are the names that scenarios have for the steps of the start.
func stages() map[string]string {
	return map[string]string{
		"reservedSystemCPUs": "reserved-cpus", "kubeReserved": "kube-reserved", "systemReserved": "system-reserved",
		"evictionHard": "eviction", "qosReserved": "qos-reserved",
	}
}

// document gives a scenario's fields the type that a file must name.
func document(raw json.RawMessage) []byte {
	fields := map[string]json.RawMessage{}
	if raw != nil && json.Unmarshal(raw, &fields) != nil {
		return raw
	}
	fields["apiVersion"], fields["kind"] = json.RawMessage(`"kubelet.config.k8s.io/v1beta1"`), json.RawMessage(`"KubeletConfiguration"`)
	data, err := json.Marshal(fields)
	if err != nil {
		return raw
	}
	return data
}

// register lets every device plugin connect and report its devices.
func (k *kubelet) register() {
	for _, resource := range resources(k.hardware.Machine) {
		p := &plugin{resource: resource, preferred: slices.Contains(k.hardware.Preferred, resource)}
		if err := k.devices.PluginConnected(context.Background(), resource, p); err != nil {
			panic(err) // each plugin connects once to each kubelet
		}
		k.devices.PluginListAndWatchReceiver(klog.Background(), resource, devicesOf(k.hardware.Machine, resource))
	}
}

// stop ends the kubelet; the pods go on.
func (k *kubelet) stop() { _ = k.devices.Stop(klog.Background()) }
