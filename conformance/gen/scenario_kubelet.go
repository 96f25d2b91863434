package gen

import (
	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

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
			k["topologyManagerPolicyOptions"] = map[string]string{
				"max-allowable-numa-nodes":  rapid.SampledFrom([]string{"9", "8", "16", "7", "x"}).Draw(t, "most"),
				"prefer-closest-numa-nodes": rapid.SampledFrom([]string{"true", "false"}).Draw(t, "closest"),
			}
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
			options[name] = rapid.SampledFrom([]string{"true", "true", "true", "true", "true", "true", "true", "false", "1", "yes"}).Draw(t, "option")
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
	if rapid.IntRange(0, 9).Draw(t, "system") == 0 {
		k["systemReserved"] = map[string]string{"cpu": rapid.SampledFrom([]string{"500m", "1", "100m"}).Draw(t, "system cpu")}
	}
	if rapid.IntRange(0, 9).Draw(t, "threshold") == 0 {
		k["evictionHard"] = map[string]string{"memory.available": rapid.SampledFrom([]string{"100Mi", "1%", "0%"}).Draw(t, "eviction")}
	}
	if rapid.IntRange(0, 5).Draw(t, "reserved CPUs") == 0 {
		k["reservedSystemCPUs"] = rapid.SampledFrom([]string{"0", "0-1", "1", "0,2", "3"}).Draw(t, "list")
	}
	if rapid.IntRange(0, 2).Draw(t, "memory policy") > 0 {
		return
	}
	k["memoryManagerPolicy"] = "Static"
	first := map[string]any{"numaNode": m.NUMA[0].ID, "limits": map[string]string{"memory": "1Gi"}}
	k["reservedMemory"] = []any{first}
	switch rapid.IntRange(0, 9).Draw(t, "reserved memory") {
	case 0:
		k["reservedMemory"] = []any{map[string]any{"numaNode": len(m.NUMA), "limits": map[string]string{"memory": "1Gi"}}}
	case 1, 2, 3:
		if len(m.NUMA) > 1 {
			first["limits"] = map[string]string{"memory": "512Mi"}
			k["reservedMemory"] = []any{first, map[string]any{"numaNode": m.NUMA[1].ID, "limits": map[string]string{"memory": "512Mi"}}}
		}
	case 4:
		// Pages are reserved in equal amounts on both sides, or not.
		k["kubeReserved"].(map[string]string)["hugepages-2Mi"] = rapid.SampledFrom([]string{"2Mi", "4Mi", "0"}).Draw(t, "reserved pages")
		first["limits"] = map[string]string{"memory": "1Gi", "hugepages-2Mi": rapid.SampledFrom([]string{"2Mi", "4Mi", "3Mi"}).Draw(t, "pages of the node")}
	}
}
