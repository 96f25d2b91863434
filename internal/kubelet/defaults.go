package kubelet

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	logsapi "k8s.io/component-base/logs/api/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

// setFlagDefaults are the defaults of the command line, which hold when no file
// is read.
//
// kubelet v1.37: cmd/kubelet/app/options/options.go applyLegacyDefaults.
func setFlagDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	*c.Authentication.Anonymous.Enabled = true
	*c.Authentication.Webhook.Enabled = false
	c.Authorization.Mode = kubeletv1beta1.KubeletAuthorizationModeAlwaysAllow
	c.ReadOnlyPort = 10255
}

// DefaultEvictionHard are the thresholds that reading a configuration file
// without evictionHard sets on Linux.
//
// kubelet v1.37: pkg/kubelet/eviction/defaults_linux.go.
func DefaultEvictionHard() map[string]string {
	return map[string]string{
		"memory.available":   "100Mi",
		"nodefs.available":   "10%",
		"nodefs.inodesFree":  "5%",
		"imagefs.available":  "15%",
		"imagefs.inodesFree": "5%",
	}
}

// setDefaults fills in what is not set. The kubelet panics where it returns an
// error: when the gates of the configuration cannot be set on top of global,
// those that its flags set.
//
// kubelet v1.37: pkg/kubelet/apis/config/v1beta1/defaults.go.
func setDefaults(c *kubeletv1beta1.KubeletConfiguration, global Gates) error {
	gates, err := global.With(c.FeatureGates)
	if err != nil {
		return fmt.Errorf("failed to merge global and in-flight KubeletConfiguration while setting defaults, error: %w", err)
	}
	setServerDefaults(c)
	setNodeStatusDefaults(c)
	setImageDefaults(c)
	setCgroupDefaults(c)
	setPodDefaults(c)
	setManagerDefaults(c)
	setLogDefaults(c)
	// kubelet v1.36 and before: DefaultMemoryThrottlingFactor.
	if !gates.Since(37) {
		setPointer(&c.MemoryThrottlingFactor, 0.9)
	}
	if gates.Enabled("KubeletCrashLoopBackOffMax") {
		setPointer(&c.CrashLoopBackOff.MaxContainerRestartPeriod, metav1.Duration{Duration: 300 * time.Second})
	}
	if gates.Enabled("KubeletEnsureSecretPulledImages") {
		set(&c.ImagePullCredentialsVerificationPolicy, kubeletv1beta1.NeverVerifyPreloadedImages)
	}
	return nil
}

func setServerDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	setPointer(&c.EnableServer, true)
	setDuration(&c.SyncFrequency, time.Minute)
	setDuration(&c.FileCheckFrequency, 20*time.Second)
	setDuration(&c.HTTPCheckFrequency, 20*time.Second)
	set(&c.Address, "0.0.0.0")
	set(&c.Port, 10250)
	setPointer(&c.Authentication.Anonymous.Enabled, false)
	setPointer(&c.Authentication.Webhook.Enabled, true)
	setDuration(&c.Authentication.Webhook.CacheTTL, 2*time.Minute)
	set(&c.Authorization.Mode, kubeletv1beta1.KubeletAuthorizationModeWebhook)
	setDuration(&c.Authorization.Webhook.CacheAuthorizedTTL, 5*time.Minute)
	setDuration(&c.Authorization.Webhook.CacheUnauthorizedTTL, 30*time.Second)
	setPointer(&c.EventRecordQPS, 50)
	set(&c.EventBurst, 100)
	setPointer(&c.EnableDebuggingHandlers, true)
	setPointer(&c.HealthzPort, 10248)
	set(&c.HealthzBindAddress, "127.0.0.1")
	setDuration(&c.StreamingConnectionIdleTimeout, 4*time.Hour)
	set(&c.ContentType, "application/vnd.kubernetes.protobuf")
	setPointer(&c.KubeAPIQPS, 50)
	set(&c.KubeAPIBurst, 100)
	setPointer(&c.EnableSystemLogHandler, true)
	setPointer(&c.EnableProfilingHandler, true)
	setPointer(&c.EnableDebugFlagsHandler, true)
	set(&c.ContainerRuntimeEndpoint, "unix:///run/containerd/containerd.sock")
	setDuration(&c.RuntimeRequestTimeout, 2*time.Minute)
	set(&c.ConfigMapAndSecretChangeDetectionStrategy, kubeletv1beta1.WatchChangeDetectionStrategy)
	set(&c.VolumePluginDir, "/usr/libexec/kubernetes/kubelet-plugins/volume/exec/")
	setDuration(&c.VolumeStatsAggPeriod, time.Minute)
	setPointer(&c.EnableControllerAttachDetach, true)
}

func setNodeStatusDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	// A report frequency follows an update frequency that was set, for
	// configurations older than the report frequency.
	if c.NodeStatusUpdateFrequency.Duration != 0 {
		setDuration(&c.NodeStatusReportFrequency, c.NodeStatusUpdateFrequency.Duration)
	}
	setDuration(&c.NodeStatusReportFrequency, 5*time.Minute)
	setDuration(&c.NodeStatusUpdateFrequency, 10*time.Second)
	set(&c.NodeLeaseDurationSeconds, 40)
	setPointer(&c.NodeStatusMaxImages, 50)
	setPointer(&c.RegisterNode, true)
}

func setImageDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	setPointer(&c.RegistryPullQPS, 5)
	set(&c.RegistryBurst, 10)
	setDuration(&c.ImageMinimumGCAge, 2*time.Minute)
	setPointer(&c.ImageGCHighThresholdPercent, 85)
	setPointer(&c.ImageGCLowThresholdPercent, 80)
	setPointer(&c.SerializeImagePulls, c.MaxParallelImagePulls == nil || *c.MaxParallelImagePulls < 2)
}

func setCgroupDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	setPointer(&c.OOMScoreAdj, -999)
	setPointer(&c.CgroupsPerQOS, true)
	set(&c.CgroupDriver, "cgroupfs")
	setPointer(&c.CPUCFSQuota, true)
	setPointer(&c.CPUCFSQuotaPeriod, metav1.Duration{Duration: 100 * time.Millisecond})
	setDuration(&c.EvictionPressureTransitionPeriod, 5*time.Minute)
	setPointer(&c.MergeDefaultEvictionSettings, false)
	setPointer(&c.FailSwapOn, true)
	setPointer(&c.FailCgroupV1, true)
	if c.EnforceNodeAllocatable == nil {
		c.EnforceNodeAllocatable = []string{"pods"}
	}
	set(&c.MemoryReservationPolicy, kubeletv1beta1.NoneMemoryReservationPolicy)
	setPointer(&c.LocalStorageCapacityIsolation, true)
}

func setPodDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	set(&c.HairpinMode, kubeletv1beta1.PromiscuousBridge)
	set(&c.MaxPods, 110)
	// Any negative limit reads as -1: no limit beyond the node's.
	if c.PodPidsLimit == nil || *c.PodPidsLimit < 0 {
		c.PodPidsLimit = new(int64)
		*c.PodPidsLimit = -1
	}
	setPointer(&c.ResolverConfig, "/etc/resolv.conf")
	set(&c.MaxOpenFiles, 1000000)
	setPointer(&c.MakeIPTablesUtilChains, true)
	setPointer(&c.IPTablesMasqueradeBit, 14)
	setPointer(&c.IPTablesDropBit, 15)
	set(&c.PodLogsDir, "/var/log/pods")
	setPointer(&c.SeccompDefault, false)
}

func setManagerDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	set(&c.CPUManagerPolicy, CPUPolicyNone)
	setDuration(&c.CPUManagerReconcilePeriod, 10*time.Second)
	set(&c.MemoryManagerPolicy, MemoryPolicyNone)
	set(&c.TopologyManagerPolicy, TopologyPolicyNone)
	set(&c.TopologyManagerScope, TopologyScopeContainer)
}

// kubelet v1.37: component-base/logs/api/v1 SetRecommendedLoggingConfiguration.
func setLogDefaults(c *kubeletv1beta1.KubeletConfiguration) {
	set(&c.ContainerLogMaxSize, "10Mi")
	setPointer(&c.ContainerLogMaxFiles, 5)
	setPointer(&c.ContainerLogMaxWorkers, 1)
	setPointer(&c.ContainerLogMonitorInterval, metav1.Duration{Duration: 10 * time.Second})
	set(&c.Logging.Format, "text")
	if c.Logging.FlushFrequency.Duration.Duration == 0 {
		c.Logging.FlushFrequency = logsapi.TimeOrMetaDuration{Duration: metav1.Duration{Duration: 5 * time.Second}, SerializeAsString: true}
	}
	for _, buffer := range []*resource.QuantityValue{&c.Logging.Options.Text.InfoBufferSize, &c.Logging.Options.JSON.InfoBufferSize} {
		if *buffer == (resource.QuantityValue{}) {
			buffer.Quantity = *resource.NewQuantity(0, resource.DecimalSI)
		}
	}
}

// set gives a field that has its zero value its default.
func set[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// setPointer gives a field that is absent its default.
func setPointer[T any](field **T, value T) {
	if *field == nil {
		*field = &value
	}
}

func setDuration(field *metav1.Duration, value time.Duration) { set(&field.Duration, value) }
