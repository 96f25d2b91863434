package kubelet

import (
	"cmp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		version    int
		want       []string // field: message
	}{
		{name: "defaults", yaml: ""},
		{name: "cgroup v1", version: 1, want: []string{"failCgroupV1: kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release"}},
		{name: "cgroup v1 and group kill", version: 1, yaml: "failCgroupV1: false\nsingleProcessOOMKill: false", want: []string{"singleProcessOOMKill: invalid configuration: singleProcessOOMKill must not be explicitly set to false when using cgroup v1"}},
		{name: "numbers", yaml: "nodeLeaseDurationSeconds: -1\noomScoreAdj: -1001\nreadOnlyPort: 70000\nkubeAPIQPS: -1\nimageGCLowThresholdPercent: 90\niptablesDropBit: 32\nport: -5", want: []string{
			"nodeLeaseDurationSeconds: invalid configuration: nodeLeaseDurationSeconds must be greater than 0",
			"imageGCLowThresholdPercent: invalid configuration: imageGCLowThresholdPercent (--image-gc-low-threshold) 90 must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) 85",
			"iptablesDropBit: invalid configuration: iptablesDropBit (--iptables-drop-bit) 32 must be between 0 and 31, inclusive",
			"kubeAPIQPS: invalid configuration: kubeAPIQPS (--kube-api-qps) -1 must not be a negative number",
			"oomScoreAdj: invalid configuration: oomScoreAdj (--oom-score-adj) -1001 must be between -1000 and 1000, inclusive",
			"port: invalid configuration: port (--port) -5 must be between 1 and 65535, inclusive",
			"readOnlyPort: invalid configuration: readOnlyPort (--read-only-port) 70000 must be between 0 and 65535, inclusive",
		}},
		{name: "period", yaml: "cpuCFSQuotaPeriod: 500us", want: []string{"cpuCFSQuotaPeriod: invalid configuration: cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {500µs} must be between 1ms and 1sec, inclusive"}},
		{name: "period, gate off", yaml: "cpuCFSQuotaPeriod: 10ms\nfeatureGates: {CustomCPUCFSQuotaPeriod: false}", want: []string{"cpuCFSQuotaPeriod: invalid configuration: cpuCFSQuotaPeriod (--cpu-cfs-quota-period) {10ms} requires feature gate CustomCPUCFSQuotaPeriod"}},
		{name: "enforcement", yaml: "enforceNodeAllocatable: [pods, pods, system-reserved, system-reserved-compressible, none, x]", want: []string{
			`enforceNodeAllocatable: invalid configuration: both "system-reserved" and "system-reserved-compressible" cannot be specified together in enforceNodeAllocatable (--enforce-node-allocatable)`,
			`enforceNodeAllocatable: invalid configuration: duplicated enforcements "pods" in enforceNodeAllocatable (--enforce-node-allocatable)`,
			`systemReservedCgroup: invalid configuration: systemReservedCgroup (--system-reserved-cgroup) must be specified when "system-reserved" or "system-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)`,
			`systemReservedCgroup: invalid configuration: systemReservedCgroup (--system-reserved-cgroup) must be specified when "system-reserved" or "system-reserved-compressible" included in enforceNodeAllocatable (--enforce-node-allocatable)`,
			`enforceNodeAllocatable: invalid configuration: enforceNodeAllocatable (--enforce-node-allocatable) may not contain additional enforcements when "none" is specified`,
			`enforceNodeAllocatable: invalid configuration: option "x" specified for enforceNodeAllocatable (--enforce-node-allocatable). Valid options are "pods", "system-reserved", "system-reserved-compressible", "kube-reserved", "kube-reserved-compressible" or "none"`,
		}},
		{name: "without tiers", yaml: "cgroupsPerQOS: false", want: []string{`enforceNodeAllocatable: invalid configuration: cgroupsPerQOS (--cgroups-per-qos) must be set to true when "pods" contained in enforceNodeAllocatable (--enforce-node-allocatable)`}},
		{name: "without tiers, none", yaml: "cgroupsPerQOS: false\nenforceNodeAllocatable: [none]"},
		{name: "reserved CPUs", yaml: "reservedSystemCPUs: 3-1\nkubeReservedCgroup: /kube", want: []string{
			"reservedSystemCPUs: invalid configuration: can't use reservedSystemCPUs (--reserved-cpus) with systemReservedCgroup (--system-reserved-cgroup) or kubeReservedCgroup (--kube-reserved-cgroup)",
			`reservedSystemCPUs: invalid configuration: unable to parse reservedSystemCPUs (--reserved-cpus) 3-1, error: invalid range "3-1" (3 > 1)`,
		}},
		{name: "reserved memory", yaml: "reservedMemory: [{numaNode: 0, limits: {cpu: 1, memory: 0}}, {numaNode: 0, limits: {memory: 1Gi}}]", want: []string{
			`reservedMemory[0].limits: invalid configuration: the limit type "cpu" for NUMA node 0 is not supported, only [memory hugepages-<HugePageSize>] is accepted`,
			`reservedMemory[0].limits: invalid configuration: reserved memory may not be zero for NUMA node 0 and resource "memory"`,
			`reservedMemory[1].limits: invalid configuration: the reserved memory has a duplicate value for NUMA node 0 and resource "memory"`,
		}},
		{name: "memory QoS off", yaml: "featureGates: {MemoryQoS: false}\nmemoryThrottlingFactor: 1.1\nmemoryReservationPolicy: TieredReservation", want: []string{
			"memoryThrottlingFactor: invalid configuration: memoryThrottlingFactor must not be set when MemoryQoS feature gate is disabled",
			"memoryThrottlingFactor: invalid configuration: memoryThrottlingFactor 1.1 must be greater than 0 and less than or equal to 1.0",
			`memoryReservationPolicy: invalid configuration: memoryReservationPolicy "TieredReservation" requires MemoryQoS feature gate to be enabled`,
		}},
		{name: "the old factor", yaml: "featureGates: {MemoryQoS: false}\nmemoryThrottlingFactor: 0.9"},
		{name: "shutdown", yaml: "shutdownGracePeriod: 500ms\nshutdownGracePeriodCriticalPods: 2s", want: []string{
			"shutdownGracePeriodCriticalPods: invalid configuration: shutdownGracePeriodCriticalPods {2s} must be <= shutdownGracePeriod {500ms}",
			"shutdownGracePeriod: invalid configuration: shutdownGracePeriod {500ms} must be either zero or otherwise >= 1 sec",
		}},
		{name: "logging", yaml: "logging: {format: xml, verbosity: 1, vmodule: [{filePattern: \"\", verbosity: 1}]}\nshowHiddenMetricsForVersion: \"1.30\"\ntracing: {samplingRatePerMillion: -1}", want: []string{
			`showHiddenMetricsForVersion: invalid showHiddenMetricsForVersion: showHiddenMetricsForVersion: Invalid value: "1.30": must be omitted or have the value '1.36'; only the previous minor version is allowed`,
			`logging.format: logging.format: Invalid value: "xml": Unsupported log format`,
			`logging.vmodule: logging.vmodule: Forbidden: Only supported for text log format`,
			`logging.vmodule[0]: logging.vmodule[0]: Required value: File pattern must not be empty`,
			`tracing.samplingRatePerMillion: tracing.samplingRatePerMillion: Invalid value: -1: sampling rate must be positive`,
		}},
		{name: "JSON logs", yaml: "logging: {format: json}"},
		{name: "images", yaml: "maxParallelImagePulls: 3\nserializeImagePulls: true\nimagePullCredentialsVerificationPolicy: NeverVerifyAllowlistedImages\npreloadedImagesVerificationAllowlist: [\"a/*/b\"]", want: []string{
			"maxParallelImagePulls: invalid configuration: maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false",
			"preloadedImagesVerificationAllowlist: invalid configuration: invalid image pattern in `preloadedImagesVerificationAllowlist`: not a valid wildcard pattern, only patterns ending with '/*' are allowed: a/*/b",
		}},
		{name: "sysctls", yaml: "featureGates: {DefaultPodSysctls: true}\ndefaultPodSysctls: {net.ipv4.a: \"1\", net/ipv4/a: \"1\", vm.swappiness: \"1\", BAD: x}", want: []string{
			`defaultPodSysctls: invalid configuration: "BAD" is not a valid sysctl name for defaultPodSysctls`,
			`defaultPodSysctls: invalid configuration: duplicate sysctl "net.ipv4.a" found in defaultPodSysctls`,
			`defaultPodSysctls: invalid configuration: "vm.swappiness" is not known to be namespaced for defaultPodSysctls`,
		}},
		{name: "taints", yaml: "registerWithTaints: [{key: a b, effect: NoSchedule}]", want: []string{"registerWithTaints: invalid taint: {a b  NoSchedule <nil>}"}},
		{name: "the rest", yaml: "crashLoopBackOff: {maxContainerRestartPeriod: 301s}\nuserNamespaces: {idsPerPod: 65537}\npodLogsDir: /var//lög\ncontainerLogMaxFiles: 1\nmemorySwap: {swapBehavior: Some}\nhairpinMode: x\ntopologyManagerScope: node\nrunOnce: true", want: []string{
			`runOnce: invalid configuration: runOnce (--runOnce) true, Runonce mode has been deprecated and should not be set`,
			`topologyManagerScope: invalid configuration: topologyManagerScope (--topology-manager-scope) "node" must be one of: "container", or "pod"`,
			`memorySwap.swapBehavior: invalid configuration: memorySwap.swapBehavior "Some" must be one of: "", "LimitedSwap" or "NoSwap"`,
			`crashLoopBackOff.maxContainerRestartPeriod: invalid configuration: CrashLoopBackOff.MaxContainerRestartPeriod (got: 301 seconds) must be set between 1s and 300s`,
			`hairpinMode: invalid configuration: option "x" specified for hairpinMode (--hairpin-mode). Valid options are "none", "hairpin-veth" or "promiscuous-bridge"`,
			`userNamespaces.idsPerPod: invalid configuration: userNamespaces.idsPerPod must be a multiple of 65536`,
			`containerLogMaxFiles: invalid configuration: containerLogMaxFiles must be greater than 1`,
			`podLogsDir: invalid configuration: pod logs path "/var//lög" must be normalized`,
			`podLogsDir: invalid configuration: pod logs path "/var//lög" mut contains ASCII characters only`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(LoadOptions{File: "config", Data: []byte(head + tt.yaml)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range c.Validate(cmp.Or(tt.version, 2)) {
				if f.Stage != StageValidate {
					t.Errorf("stage %s", f.Stage)
				}
				got = append(got, f.Field+": "+f.Message)
			}
			if diff := gocmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckImagePattern(t *testing.T) {
	for pattern, want := range map[string]string{
		"example.com/pause":     "",
		"example.com/team/*":    "",
		" a":                    "spaces are not allowed",
		"":                      "too short",
		"*":                     "not a valid wildcard",
		"/*":                    "at least registry hostname is required",
		"example.com/pause:3.9": "neither tag nor digest",
		"a/UPPER":               "failed to parse as an image name",
	} {
		got := errText(checkImagePattern(pattern))
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%q: error %q, want %q", pattern, got, want)
		}
	}
}
