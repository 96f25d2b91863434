package doctor

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/quantity"
	"github.com/kqos/kqos/internal/simulate/topologymanager"
)

// defaultMaxNodes is how many NUMA nodes the topology manager takes unless an
// option raises it: it merges every combination of them.
//
// kubelet v1.37: cm/topologymanager/policy_options.go defaultMaxAllowableNUMANodes.
const defaultMaxNodes = 8

const noMachine = "the machine is unknown; name it with --topology"

func machineChecks() []Check {
	return []Check{
		{
			ID: "swap", Title: "swap is off, or wanted",
			Explain: `With swap on and failSwapOn true, its default, the kubelet does not start. With
failSwapOn false and no swapBehavior containers get none (NoSwap); LimitedSwap
needs cgroup v2. Before kernel 6.3 the memory-backed volumes of pods, secrets
among them, may be swapped to disk.
Kubelet v1.37: cm/container_manager_linux.go NewContainerManager.`,
			run: checkSwap,
		},
		{
			ID: "numa-count", Title: "the topology manager can cope with the NUMA nodes",
			Explain: `Every policy but none merges hints over all combinations of NUMA nodes, 2^n of
them for each resource of each container. Above 8 nodes the kubelet refuses to
start unless the policy option max-allowable-numa-nodes says how many it may be.
Kubelet v1.37: cm/topologymanager/topology_manager.go NewManager.`,
			run: checkNUMACount,
		},
		{
			ID: "offline-cpus", Title: "the static policy has whole cores",
			Explain: `The kubelet knows online CPUs only. A CPU that goes on- or offline makes its state
file invalid at the next start; a core with one thread offline cannot be given
whole (full-pcpus-only); a reserved CPU whose sibling is not reserved shares its
core with a pod.`,
			run: checkOffline,
		},
		{
			ID: "hugepages", Title: "huge pages are where the configuration and pods expect them",
			Explain: `Preallocated huge pages are taken from the memory that pods can use: the node's
allocatable memory is less by all of them. Pages that lie on one NUMA node only
decide where the memory manager can place their users.
Kubelet v1.37: pkg/kubelet/nodestatus/setters.go.`,
			run: checkHugePages,
		},
		placersCheck(), deviceLinksCheck(),
	}
}

func checkSwap(f *Facts) Result {
	if f.ConfigError != nil {
		return skip(noConfig)
	}
	var found []Result
	for _, finding := range f.findings("memorySwap.swapBehavior") {
		found = append(found, Result{Status: Fail, Message: finding.Message, Fix: "set memorySwap.swapBehavior: NoSwap, or boot with cgroup v2"})
	}
	on, devices := f.swapOn()
	tolerated := f.Config.FailSwapOn != nil && !*f.Config.FailSwapOn
	switch {
	case on && !tolerated:
		found = append(found, Result{
			Status: Fail, Message: allocatable.SwapRefused,
			Fix: "swapoff -a and take it out of /etc/fstab (systemctl mask the .swap units), or set failSwapOn: false", Evidence: devices,
		})
	case on && f.Config.MemorySwap.SwapBehavior == "":
		found = append(found, Result{
			Status: Warn, Message: "swap is on and swapBehavior is not set: containers get none (NoSwap), only the node's own processes swap",
			Fix: "set memorySwap.swapBehavior: LimitedSwap for Burstable pods to have some, or NoSwap to say that none is wanted", Evidence: devices,
		})
	case !on && f.Config.MemorySwap.SwapBehavior == "LimitedSwap" && f.swapKnown():
		found = append(found, Result{Status: Warn, Message: "swapBehavior LimitedSwap does nothing: there is no swap", Fix: "swapon a device or file, or set NoSwap"})
	}
	if len(found) == 0 && !f.swapKnown() {
		return skip("whether swap is on is unknown")
	}
	return worst(ok("swap is %s, failSwapOn %v", map[bool]string{true: "on", false: "off"}[on], !tolerated), found)
}

// swapOn is what the kernel lists, else what the machine has.
//
// kubelet v1.37: pkg/kubelet/util/swap/swap_util.go IsSwapOn.
func (f *Facts) swapOn() (on bool, devices []string) {
	if f.Host != nil && f.Host.SwapsKnown {
		return len(f.Host.Swaps) > 0, f.Host.Swaps
	}
	swap := f.Node.Capacity[allocatable.ResourceSwap]
	return swap.Sign() > 0, nil
}

func (f *Facts) swapKnown() bool {
	_, capacity := f.Node.Capacity[allocatable.ResourceSwap]
	return f.Host != nil && f.Host.SwapsKnown || capacity
}

func checkNUMACount(f *Facts) Result {
	switch {
	case f.ConfigError != nil:
		return skip(noConfig)
	case f.Machine == nil:
		return skip(noMachine)
	}
	nodes := len(f.Machine.NUMA)
	policy := f.Config.TopologyManagerPolicy
	if policy == kubelet.TopologyPolicyNone {
		return ok("%s, of which topologyManagerPolicy none takes no notice", quantity.Count(nodes, "NUMA node"))
	}
	fix := fmt.Sprintf("topologyManagerPolicyOptions: {%s: %q}", topologymanager.OptionMaxNodes, strconv.Itoa(max(nodes, defaultMaxNodes)))
	_, err := topologymanager.New(topologymanager.Config{
		Policy: policy, Scope: f.Config.TopologyManagerScope, Options: f.Config.TopologyManagerPolicyOptions, Nodes: f.Machine.NUMA, Gates: f.Config.Gates,
	})
	cost := fmt.Sprintf("%s: 2^%d masks for each resource of a container", quantity.Count(nodes, "NUMA node"), nodes)
	switch {
	case err != nil && nodes > defaultMaxNodes:
		return Result{Status: Fail, Message: err.Error(), Fix: fix, Evidence: []string{cost}}
	case err != nil:
		return Result{Status: Fail, Message: err.Error(), Fix: "change topologyManagerPolicyOptions"}
	case nodes > defaultMaxNodes:
		return Result{
			Status: Warn, Message: cost + ": admission of pods with several devices can take seconds, and memory",
			Fix: "fewer NUMA nodes by firmware (NPS), topologyManagerPolicy none, or live with it",
		}
	}
	return ok("%s", cost)
}

func checkOffline(f *Facts) Result {
	switch {
	case f.ConfigError != nil:
		return skip(noConfig)
	case f.Machine == nil:
		return skip(noMachine)
	case f.Config.CPUManagerPolicy != kubelet.CPUPolicyStatic:
		return ok("cpuManagerPolicy %s gives no CPUs away", f.Config.CPUManagerPolicy)
	}
	offline := f.offline()
	var found []Result
	if !offline.IsEmpty() {
		found = append(found, Result{
			Status: Warn, Message: fmt.Sprintf("CPUs %s are offline: the kubelet does not know them, and refuses its state file once they come back", offline),
			Fix: "decide before the kubelet starts: on with 'echo 1 > /sys/devices/system/cpu/cpuN/online', or off for good with the kernel parameter maxcpus= or nosmt",
		})
	}
	reserved := allocatableReserved(f)
	for _, core := range f.Machine.Cores() {
		var in, out []string
		for _, c := range core {
			if reserved.Contains(c.ID) {
				in = append(in, strconv.Itoa(c.ID))
			} else {
				out = append(out, strconv.Itoa(c.ID))
			}
		}
		if in != nil && out != nil {
			found = append(found, Result{
				Status: Warn, Message: fmt.Sprintf("reserved CPU %s shares its core with CPU %s, which pods can get", strings.Join(in, ","), strings.Join(out, ",")),
				Fix: "reserve whole cores: 'kqos topology --suggest-reserved N' prints the lines",
			})
		}
	}
	return worst(ok("all CPUs are online, and reserved CPUs are whole cores"), found)
}

// offline are the CPUs that the kernel does not run on.
func (f *Facts) offline() cpuset.CPUSet {
	offline := cpuset.New()
	for _, c := range f.Machine.CPUs {
		if !c.Online {
			offline = offline.Union(cpuset.New(c.ID))
		}
	}
	return offline
}

// allocatableReserved are the CPUs that the configuration names as reserved.
func allocatableReserved(f *Facts) cpuset.CPUSet {
	r, _ := allocatable.ReadReservations(f.Config)
	return r.CPUs
}

func checkHugePages(f *Facts) Result {
	if f.Machine == nil {
		return skip(noMachine)
	}
	var found []Result
	var have []string
	sum := int64(0)
	for _, size := range f.Machine.HugePageSizes() {
		var per []string
		with, count := 0, int64(0)
		for _, n := range f.Machine.NUMA {
			per = append(per, fmt.Sprintf("node %d: %d", n.ID, n.HugePages[size]))
			count += n.HugePages[size]
			if n.HugePages[size] > 0 {
				with++
			}
		}
		if count == 0 {
			continue
		}
		have = append(have, fmt.Sprintf("hugepages-%s: %s", size, strings.Join(per, ", ")))
		q := f.Node.Capacity[corev1.ResourceName(corev1.ResourceHugePagesPrefix+size)]
		sum += q.Value()
		if with < len(f.Machine.NUMA) && f.Config.MemoryManagerPolicy == kubelet.MemoryPolicyStatic {
			found = append(found, Result{
				Status: Warn, Message: fmt.Sprintf("huge pages of %s lie on %d of %d NUMA nodes: their users can be placed there only", size, with, len(f.Machine.NUMA)),
				Fix: "preallocate on each node: /sys/devices/system/node/nodeN/hugepages, or the kernel parameter hugepages=0:N,1:N",
			})
		}
	}
	if memory := f.Node.Capacity["memory"]; sum > 0 && memory.Value() > 0 && sum*2 > memory.Value() {
		found = append(found, Result{
			Status: Warn, Message: fmt.Sprintf("huge pages take %d %% of the memory: allocatable memory is less by all of them", sum*100/memory.Value()),
			Fix: "preallocate fewer, if that is not meant",
		})
	}
	if have == nil {
		return ok("no huge pages are preallocated")
	}
	r := worst(ok("huge pages are preallocated on every NUMA node that needs them"), found)
	r.Evidence = append(r.Evidence, have...)
	return r
}
