package gen

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

// The devices that machines have and pods ask for.
const (
	gpu = "vendor.com/gpu"
	nic = "vendor.com/nic"
)

// Scenario generates what happens on a node, in the form of
// testdata/golden/placement: a machine, a kubelet's configuration that mostly
// starts, pods that mostly ask for CPUs of their own, removals and restarts.
func Scenario() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		hardware := scenarioMachine(t)
		s := map[string]any{"name": "s", "machine": hardware.object, "kubelet": scenarioKubelet(t, hardware.machine)}
		var events []any
		var names []string
		for i := range rapid.IntRange(1, 9).Draw(t, "events") {
			switch kind := rapid.IntRange(0, 9).Draw(t, "event"); {
			case kind == 0 && len(names) > 0:
				events = append(events, map[string]any{"op": "remove", "pod": rapid.SampledFrom(names).Draw(t, "removed")})
			case kind == 1 && i > 0:
				events = append(events, restart(t, hardware.machine))
			default:
				name := fmt.Sprintf("p%d", i)
				names = append(names, name)
				events = append(events, map[string]any{"op": "add", "pod": scenarioPod(t, name, hardware.machine)})
			}
		}
		s["events"] = events
		data, err := json.Marshal(s)
		if err != nil {
			panic(err) // the generator draws nothing that JSON cannot hold
		}
		return data
	})
}

type scenarioHardware struct {
	machine *machine.Machine
	object  map[string]any
}

// scenarioMachine is a machine without its offline CPUs, with devices.
func scenarioMachine(t *rapid.T) scenarioHardware {
	m := FewNodes().Draw(t, "machine")
	if rapid.IntRange(0, 2).Draw(t, "with devices") == 0 {
		for _, r := range []string{gpu, nic} {
			for i := range rapid.IntRange(0, 4).Draw(t, r) {
				d := machine.Device{Resource: r, ID: fmt.Sprintf("d%d", i), Healthy: rapid.IntRange(0, 9).Draw(t, "healthy") > 0}
				for range rapid.SampledFrom([]int{1, 1, 1, 0, 2}).Draw(t, "nodes") {
					d.NUMA = append(d.NUMA, rapid.IntRange(0, len(m.NUMA)-1).Draw(t, "node"))
				}
				if len(d.NUMA) == 2 && d.NUMA[0] == d.NUMA[1] {
					d.NUMA = d.NUMA[:1]
				}
				m.Devices = append(m.Devices, d)
			}
		}
	}
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // a generated machine is plain
	}
	object := map[string]any{}
	if err := json.Unmarshal(data, &object); err != nil {
		panic(err) // it was just written
	}
	delete(object, "source")
	if rapid.Bool().Draw(t, "preferred") {
		object["preferred"] = []string{gpu}
	}
	return scenarioHardware{m, object}
}

// scenarioKubelet draws the managers' policies and options; about one in ten is
// refused.
func scenarioKubelet(t *rapid.T, m *machine.Machine) map[string]any {
	k := map[string]any{
		"topologyManagerPolicy": rapid.SampledFrom([]string{"none", "best-effort", "restricted", "single-numa-node"}).Draw(t, "topology"),
		"topologyManagerScope":  rapid.SampledFrom([]string{"container", "pod"}).Draw(t, "scope"),
	}
	gates := map[string]bool{}
	if rapid.IntRange(0, 5).Draw(t, "cpu policy") > 0 {
		k["cpuManagerPolicy"] = "static"
		cpuOptions(t, k, gates)
	}
	if rapid.IntRange(0, 3).Draw(t, "pod-level managers") == 0 {
		gates["PodLevelResourceManagers"] = true
	}
	if rapid.IntRange(0, 4).Draw(t, "topology options") == 0 {
		k["topologyManagerPolicyOptions"] = map[string]string{"prefer-closest-numa-nodes": "true"}
		if rapid.Bool().Draw(t, "max nodes") {
			k["topologyManagerPolicyOptions"] = map[string]string{"max-allowable-numa-nodes": "9"}
			gates["TopologyManagerPolicyBetaOptions"] = true
		}
	}
	reserve(t, k, m)
	if len(gates) > 0 {
		k["featureGates"] = gates
	}
	return k
}

func cpuOptions(t *rapid.T, k map[string]any, gates map[string]bool) {
	options := map[string]string{}
	for _, name := range []string{
		"full-pcpus-only", "distribute-cpus-across-numa", "align-by-socket", "distribute-cpus-across-cores",
		"strict-cpu-reservation", "prefer-align-cpus-by-uncorecache",
	} {
		if rapid.IntRange(0, 4).Draw(t, name) == 0 {
			options[name] = "true"
		}
	}
	if len(options) > 0 {
		k["cpuManagerPolicyOptions"] = options
	}
	gates["CPUManagerPolicyAlphaOptions"] = rapid.IntRange(0, 9).Draw(t, "alpha") > 0
}

// reserve draws reservations, and for the static memory policy a reservedMemory
// that mostly adds up.
func reserve(t *rapid.T, k map[string]any, m *machine.Machine) {
	k["kubeReserved"] = map[string]string{
		"cpu": rapid.SampledFrom([]string{"1", "500m", "1", "2", "1500m", "0"}).Draw(t, "reserved cpu"), "memory": "924Mi",
	}
	if rapid.IntRange(0, 5).Draw(t, "reserved CPUs") == 0 {
		k["reservedSystemCPUs"] = rapid.SampledFrom([]string{"0", "0-1", "1", "0,2", "3"}).Draw(t, "list")
	}
	if rapid.IntRange(0, 2).Draw(t, "memory policy") > 0 {
		return
	}
	k["memoryManagerPolicy"] = "Static"
	first := map[string]any{"numaNode": 0, "limits": map[string]string{"memory": "1Gi"}}
	k["reservedMemory"] = []any{first}
	switch rapid.IntRange(0, 9).Draw(t, "reserved memory") {
	case 0:
		k["reservedMemory"] = []any{map[string]any{"numaNode": len(m.NUMA), "limits": map[string]string{"memory": "1Gi"}}}
	case 1, 2, 3:
		if len(m.NUMA) > 1 {
			first["limits"] = map[string]string{"memory": "512Mi"}
			k["reservedMemory"] = []any{first, map[string]any{"numaNode": 1, "limits": map[string]string{"memory": "512Mi"}}}
		}
	}
}

func restart(t *rapid.T, m *machine.Machine) map[string]any {
	e := map[string]any{"op": "restart", "pluginsFirst": rapid.Bool().Draw(t, "plugins first")}
	switch rapid.IntRange(0, 5).Draw(t, "change") {
	case 0:
		e["kubelet"] = scenarioKubelet(t, m)
	case 1:
		name := rapid.SampledFrom([]string{"cpu_manager_state", "memory_manager_state", "kubelet_internal_checkpoint"}).Draw(t, "file")
		content := rapid.SampledFrom([]any{nil, "", "{}", "garbage", `{"policyName":"none","defaultCpuSet":"","checksum":1353318690}`, `{"policyName":"static","defaultCpuSet":"0-3","checksum":1}`}).Draw(t, "content")
		e["files"] = map[string]any{name: content}
	}
	return e
}

// scenarioPod draws a pod of which most containers are Guaranteed with whole CPUs.
func scenarioPod(t *rapid.T, name string, m *machine.Machine) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
	burstable := rapid.IntRange(0, 7).Draw(t, "burstable") == 0
	for i := range rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "containers") {
		p.Spec.Containers = append(p.Spec.Containers, scenarioContainer(t, fmt.Sprintf("c%d", i), m, burstable))
	}
	always := corev1.ContainerRestartPolicyAlways
	for i := range rapid.SampledFrom([]int{0, 0, 0, 1, 2}).Draw(t, "init containers") {
		c := scenarioContainer(t, fmt.Sprintf("i%d", i), m, burstable)
		if rapid.Bool().Draw(t, "sidecar") {
			c.RestartPolicy = &always
		}
		p.Spec.InitContainers = append(p.Spec.InitContainers, c)
	}
	if rapid.IntRange(0, 5).Draw(t, "pod level") == 0 {
		list := corev1.ResourceList{
			"cpu":    resource.MustParse(rapid.SampledFrom([]string{"1", "2", "4", "6", "8", "2500m"}).Draw(t, "pod cpu")),
			"memory": resource.MustParse(rapid.SampledFrom([]string{"1Gi", "2Gi", "4Gi"}).Draw(t, "pod memory")),
		}
		p.Spec.Resources = &corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
	}
	return p
}

func scenarioContainer(t *rapid.T, name string, m *machine.Machine, burstable bool) corev1.Container {
	c := corev1.Container{Name: name, Image: "a:1"}
	cpus := rapid.OneOf(rapid.SampledFrom([]int{1, 2, 2, 3, 4, 4, 6, 8}), rapid.IntRange(1, max(1, len(m.CPUs)))).Draw(t, "cpus")
	text := fmt.Sprint(cpus)
	if rapid.IntRange(0, 6).Draw(t, "fraction") == 0 {
		text = fmt.Sprintf("%d500m", cpus)
	}
	list := corev1.ResourceList{
		"cpu":    resource.MustParse(text),
		"memory": resource.MustParse(rapid.SampledFrom([]string{"64Mi", "512Mi", "1Gi", "1Gi", "3Gi", "6Gi", "9Gi", "20Gi"}).Draw(t, "memory")),
	}
	for size := range m.HugePageCounts() {
		if rapid.IntRange(0, 4).Draw(t, size) == 0 {
			q := resource.MustParse(size)
			q.Mul(int64(rapid.IntRange(1, 3).Draw(t, "pages")))
			list[corev1.ResourceName("hugepages-"+size)] = q
		}
	}
	if len(m.Devices) > 0 {
		for _, r := range []corev1.ResourceName{gpu, nic} {
			if rapid.IntRange(0, 2).Draw(t, string(r)) == 0 {
				list[r] = *resource.NewQuantity(int64(rapid.IntRange(1, 3).Draw(t, "devices")), resource.DecimalSI)
			}
		}
	}
	c.Resources = corev1.ResourceRequirements{Requests: list, Limits: list.DeepCopy()}
	if burstable {
		c.Resources.Limits["cpu"] = resource.MustParse("1000")
	}
	return c
}
