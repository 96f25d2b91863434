package gen

import "strings"

func durations() []any {
	return []any{"0s", "1s", "500ms", "-1s", "1ms", "999us", "1m0s", "10m0.5s", "1h", "3s", "2.9s", "300s", "301s", "100ms", "1000ms", "1001ms", "24h", "30s", "0", "1ns"}
}

func integers() []int64 {
	return []int64{0, 1, -1, 2, 5, 10, 31, 32, 40, 50, 80, 85, 100, 101, 110, 999, 1000, 1001, -999, -1000, -1001, 10250, 65535, 65536, 131072, 70000, 4294967296, 1000000, 2147483647, -2147483648}
}

// quantityTexts are quantities in all their forms, sound and odd.
func quantityTexts() []any {
	return []any{
		"0", "1", "2", "100m", "1500m", "0.5", "1e3", "1.5", "250u", "1n", "-1", "1Ki", "1Mi", "64Mi", "100Mi", "1Gi", "1.5Gi", "2G", "4096", "4097",
		"1M", "1k", "3E", "8Ei", "1e18", "0.1Gi", "-100m", "10%", "100%", "5.5%", "0%", "101%", "-1%", "abc", "", " 1", "1 Gi", "1gi", "1E", "+1", "1.23456789", "0x10", "9223372036854775808",
	}
}

// gateNames are feature gates that the kubelet knows, and some that it does not.
func gateNames() []string {
	return []string{
		"AllAlpha", "AllBeta", "MemoryQoS", "NodeSwap", "PodLevelResources", "CustomCPUCFSQuotaPeriod", "CPUManagerPolicyAlphaOptions",
		"CPUManagerPolicyBetaOptions", "CPUManagerPolicyOptions", "TopologyManagerPolicyOptions", "TopologyManagerPolicyAlphaOptions",
		"TopologyManagerPolicyBetaOptions", "GracefulNodeShutdown", "GracefulNodeShutdownBasedOnPodPriority", "KubeletCrashLoopBackOffMax",
		"KubeletEnsureSecretPulledImages", "InPlacePodVerticalScaling", "InPlacePodLevelResourcesVerticalScaling", "PodLevelResourceManagers",
		"ImageMaximumGCAge", "RotateKubeletServerCertificate", "NodeLogQuery", "DefaultPodSysctls", "LoggingAlphaOptions", "LoggingBetaOptions",
		"ContextualLogging", "KubeletTracing", "DisableCPUQuotaWithExclusiveCPUs", "WindowsCPUAndMemoryAffinity", "SidecarContainers",
		"LocalStorageCapacityIsolation", "UserNamespacesSupport", "DynamicResourceAllocation", "NoSuchGate", "memoryqos", "ReduceDefaultCrashLoopBackOffDecay",
		"DRAExtendedResource", "InPlacePodVerticalScalingExclusiveCPUs", "InPlacePodVerticalScalingExclusiveMemory", "PodAndContainerStatsFromCRI",
	}
}

// keys are the keys of the map at path.
func keys(path string) []string {
	switch path {
	case "featureGates":
		return gateNames()
	case "evictionHard", "evictionSoft", "evictionSoftGracePeriod", "evictionMinimumReclaim":
		return []string{"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree", "containerfs.available", "containerfs.inodesFree", "pid.available", "allocatableMemory.available", "Memory.available", "disk"}
	case "systemReserved", "kubeReserved":
		return []string{"cpu", "memory", "ephemeral-storage", "pid", "hugepages-2Mi", "nvidia.com/gpu", "Memory", "storage"}
	case "qosReserved":
		return []string{"memory", "cpu", "pid"}
	case "cpuManagerPolicyOptions":
		return []string{"full-pcpus-only", "distribute-cpus-across-numa", "align-by-socket", "distribute-cpus-across-cores", "strict-cpu-reservation", "prefer-align-cpus-by-uncorecache", "nope"}
	case "topologyManagerPolicyOptions":
		return []string{"prefer-closest-numa-nodes", "max-allowable-numa-nodes", "nope"}
	case "defaultPodSysctls":
		return []string{"net.ipv4.tcp_syncookies", "net/ipv4/tcp_syncookies", "kernel.shm_rmid_forced", "kernel.sem", "kernel.msgmax", "vm.swappiness", "fs.mqueue.msg_max", "Bad!", "net.core.somaxconn", "kernel.threads-max", ""}
	default:
		if strings.HasSuffix(path, ".limits") {
			return []string{"memory", "hugepages-2Mi", "hugepages-1Gi", "cpu", "hugepages-", "Memory"}
		}
		if strings.HasSuffix(path, ".vmodule") {
			return []string{"a=1"}
		}
		return []string{"a", "b", "x.y/z"}
	}
}

// pools are the values that mean something to the field at a path.
func pools() map[string][]any {
	options := []any{"true", "false", "maybe", "", "8", "0", "16", "7", "-1"}
	thresholds := []any{"100Mi", "1Gi", "5%", "10%", "0%", "100%", "0", "15.5%", "-1%", "-5Mi", "", "1e3", "101%", "1%", "1.5Gi", "abc", "50 %", "1Gi%"}
	reserved := []any{"100m", "1", "0", "500Mi", "1Gi", "10%", "-1", "1.5", "2", "", "1500m", "1e3", "abc", "0.0001", "1000", "1Ki"}
	p := map[string][]any{
		"topologyManagerPolicy":                      {"none", "best-effort", "restricted", "single-numa-node", "", "None", "numa"},
		"topologyManagerScope":                       {"container", "pod", "", "node"},
		"cpuManagerPolicy":                           {"none", "static", "", "Static", "dynamic"},
		"memoryManagerPolicy":                        {"None", "Static", "BestEffort", "", "none"},
		"memorySwap.swapBehavior":                    {"NoSwap", "LimitedSwap", "", "UnlimitedSwap"},
		"hairpinMode":                                {"none", "hairpin-veth", "promiscuous-bridge", "", "x"},
		"enforceNodeAllocatable":                     {"pods", "system-reserved", "kube-reserved", "none", "system-reserved-compressible", "kube-reserved-compressible", "", "pod"},
		"memoryReservationPolicy":                    {"None", "TieredReservation", "", "HardReservation"},
		"memoryThrottlingFactor":                     {0.9, 0.8, 1.0, 0.0, 1.5, -1.0, 0.5},
		"imagePullCredentialsVerificationPolicy":     {"NeverVerify", "NeverVerifyPreloadedImages", "NeverVerifyAllowlistedImages", "AlwaysVerify", "", "x"},
		"preloadedImagesVerificationAllowlist":       {"docker.io/library/a", "*", "docker.io/*", "a/*/b", "", "r.io/a:tag", "https://x"},
		"reservedSystemCPUs":                         {"0", "0-1", "0,2", "", "3-1", "a", "0-", "1,1", "99", " 0", "0-3"},
		"showHiddenMetricsForVersion":                {"1.36", "1.37", "1.35", "1.36.0", "x", "", "1.38"},
		"cgroupDriver":                               {"systemd", "cgroupfs", "", "x"},
		"cgroupRoot":                                 {"", "/", "/kube", "kube", "/a/b", "a_b"},
		"systemReservedCgroup":                       {"", "/system.slice", "/sys", "system"},
		"kubeReservedCgroup":                         {"", "/kube.slice", "/podruntime", "/kubelet"},
		"systemCgroups":                              {"", "/sys", "/system.slice"},
		"kubeletCgroups":                             {"", "/kubelet", "/kube.slice/kubelet.service"},
		"podLogsDir":                                 {"/var/log/pods", "/var/log/../x", "logs", "/lögs", "/a/", "/"},
		"containerRuntimeEndpoint":                   {"unix:///run/containerd/containerd.sock", "", "unix:///run/crio/crio.sock"},
		"containerLogMaxSize":                        {"10Mi", "0", "", "5x"},
		"logging.format":                             {"text", "json", "", "xml"},
		"logging.verbosity":                          {0, 1, 5, 10},
		"logging.vmodule":                            {map[string]any{"filePattern": "a", "verbosity": 1}, map[string]any{"filePattern": "", "verbosity": 1}, map[string]any{"filePattern": "a,b=c", "verbosity": 0}},
		"tracing.samplingRatePerMillion":             {0, 1, 1000000, 1000001, -1},
		"tracing.endpoint":                           {"localhost:4317", "", "[::1", "unix:///x", "http://a/b"},
		"cpuCFSQuotaPeriod":                          {"100ms", "1ms", "999us", "1s", "1001ms", "0s", "10ms"},
		"crashLoopBackOff.maxContainerRestartPeriod": {"1s", "300s", "301s", "999ms", "0s", "60s"},
		"userNamespaces.idsPerPod":                   {65536, 65535, 131072, 65537, 4294967296, 0},
		"registerWithTaints":                         {map[string]any{"key": "a", "effect": "NoSchedule"}, map[string]any{"key": "a", "effect": "Bad"}, map[string]any{"key": "", "effect": "NoExecute"}, map[string]any{"key": "a b", "value": "v", "effect": "NoSchedule"}, map[string]any{"key": "a", "value": "v v", "effect": "NoSchedule"}, map[string]any{"key": "a", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}},
		"authorization.mode":                         {"AlwaysAllow", "Webhook", "", "x"},
		"tlsMinVersion":                              {"VersionTLS12", "VersionTLS13", "", "x"},
		"tlsCipherSuites":                            {"TLS_AES_128_GCM_SHA256", "TLS_RSA_WITH_RC4_128_SHA", "x"},
		"configMapAndSecretChangeDetectionStrategy":  {"Watch", "Cache", "Get", "x"},
		"reservedMemory": {
			map[string]any{"numaNode": 0, "limits": map[string]any{"memory": "1Gi"}},
			map[string]any{"numaNode": 0, "limits": map[string]any{"memory": "0"}},
			map[string]any{"numaNode": 1, "limits": map[string]any{"memory": "100Mi", "hugepages-2Mi": "4Mi"}},
			map[string]any{"numaNode": 1, "limits": map[string]any{"cpu": "1"}},
			map[string]any{"numaNode": -1, "limits": map[string]any{"memory": "-1"}},
			map[string]any{"numaNode": 0, "limits": map[string]any{"hugepages-2Mi": "3Mi", "pid": "0"}},
			map[string]any{"numaNode": 2},
		},
		"shutdownGracePeriodByPodPriority": {map[string]any{"priority": 0, "shutdownGracePeriodSeconds": 10}, map[string]any{"priority": 1000, "shutdownGracePeriodSeconds": 0}},
		"qosReserved.memory":               {"50%", "100%", "0%", "101%", "-1%", "50", "a%", "", "1.5%"},
		"qosReserved.cpu":                  {"50%", "0%"},
	}
	for _, key := range keys("cpuManagerPolicyOptions") {
		p["cpuManagerPolicyOptions."+key] = options
	}
	for _, key := range keys("topologyManagerPolicyOptions") {
		p["topologyManagerPolicyOptions."+key] = options
	}
	for _, key := range keys("evictionHard") {
		p["evictionHard."+key], p["evictionSoft."+key], p["evictionMinimumReclaim."+key] = thresholds, thresholds, thresholds
		p["evictionSoftGracePeriod."+key] = []any{"30s", "1m", "0s", "-1s", "x", ""}
	}
	for _, key := range keys("systemReserved") {
		p["systemReserved."+key], p["kubeReserved."+key] = reserved, reserved
	}
	return p
}
