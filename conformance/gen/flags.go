package gen

import (
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// Flags draws a command line of a kubelet: flags that kqos reads and some that
// it passes over, in both ways of writing a value, now and then a bad one.
func Flags() *rapid.Generator[[]string] {
	values := flagValues()
	names := slices.Sorted(maps.Keys(values))
	return rapid.Custom(func(t *rapid.T) []string {
		var line []string
		for range rapid.IntRange(1, 6).Draw(t, "flags") {
			name := rapid.SampledFrom(names).Draw(t, "name")
			value := rapid.SampledFrom(values[name]).Draw(t, name)
			if value != "true" && value != "false" && value != "" && rapid.Bool().Draw(t, "apart") {
				line = append(line, "--"+name, value)
				continue
			}
			line = append(line, "--"+name+"="+value)
		}
		return line
	})
}

func flagValues() map[string][]string {
	policies := []string{"none", "static", "None", "Static", ""}
	reservations := []string{"cpu=1", "cpu=200m,memory=1Gi", " cpu = 1 ,pid=100", "", "cpu", "memory=1Gi,ephemeral-storage=2Gi,"}
	thresholds := []string{"memory.available<1Gi", "memory.available<5%,nodefs.available<10%", "", "memory.available=1Gi", "memory.available<100Mi,"}
	return map[string][]string{
		"cgroup-driver":                    {"systemd", "cgroupfs", ""},
		"cgroup_root":                      {"/", "/kube"},
		"kubelet-cgroups":                  {"/kubelet.slice"},
		"system-cgroups":                   {"/system.slice", ""},
		"system-reserved-cgroup":           {"/system.slice"},
		"kube-reserved-cgroup":             {"/kube.slice", ""},
		"reserved-cpus":                    {"0", "0-1,4"},
		"cpu-manager-policy":               policies,
		"memory-manager-policy":            policies,
		"topology-manager-policy":          {"none", "best-effort", "restricted", "single-numa-node"},
		"topology-manager-scope":           {"pod", "container"},
		"pod-manifest-path":                {"/etc/kubernetes/manifests"},
		"cgroups-per-qos":                  {"true", "false"},
		"cpu-cfs-quota":                    {"true", "false", "1", "yes"},
		"fail-swap-on":                     {"true", "false"},
		"fail-cgroupv1":                    {"true", "false"},
		"protect-kernel-defaults":          {"true", "false"},
		"local-storage-capacity-isolation": {"true", "false"},
		"max-pods":                         {"50", "250", "-1", "many", "2147483648"},
		"pods-per-core":                    {"10", "0"},
		"oom-score-adj":                    {"-900", "1001"},
		"pod-max-pids":                     {"100", "-1"},
		"cpu-cfs-quota-period":             {"50ms", "1s", "5"},
		"cpu-manager-reconcile-period":     {"5s"},
		"enforce-node-allocatable":         {"pods", "pods,kube-reserved", "none", ""},
		"system-reserved":                  reservations,
		"kube-reserved":                    reservations,
		"qos-reserved":                     {"memory=50%"},
		"topology-manager-policy-options":  {"prefer-closest-numa-nodes=true", "a=b,c=d"},
		"cpu-manager-policy-options":       {"full-pcpus-only=true", "a=b,c=d"},
		"eviction-soft-grace-period":       {"memory.available=1m"},
		"eviction-minimum-reclaim":         {"memory.available=1Gi"},
		"eviction-hard":                    thresholds,
		"eviction-soft":                    thresholds,
		"reserved-memory":                  {"0:memory=1Gi", "0:memory=1Gi,hugepages-2Mi=4Mi;1:memory=2Gi", "", "0", "x:memory=1Gi", "0:cpu=1", "0:memory", "0:memory=x", "4294967297:memory=1"},
		"feature-gates":                    {"MemoryQoS=true", "TopologyManagerPolicyAlphaOptions=true,MemoryQoS=false", "MemoryQoS=maybe", ""},
		"node-ip":                          {"192.0.2.1"},
		"hostname-override":                {"n1"},
		"node-labels":                      {"a=b,c=d"},
	}
}
