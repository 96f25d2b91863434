package kubelet

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Validate lists everything for which the kubelet would refuse the
// configuration before it looks at the machine, on a host with the given cgroup
// version (1 or 2), in the order of the kubelet's own list. The kubelet stops
// after loading errors; here the findings of later stages are told too.
//
// kubelet v1.37: pkg/kubelet/apis/config/validation ValidateKubeletConfiguration.
func (c *Config) Validate(cgroupVersion int) []Finding {
	v := &validator{Config: c}
	v.nodeAndEvents()
	v.cfsQuotaPeriod()
	v.imageGC()
	v.sysctls()
	v.imageAges()
	v.ranges()
	v.imagePulls()
	v.serving()
	v.taints()
	v.topologyManager()
	v.shutdown()
	v.swap()
	v.crashLoop()
	v.enforcement()
	v.hairpin()
	v.imageCredentials()
	v.reservedCPUs()
	v.reservedMemory()
	v.linux(cgroupVersion)
	v.observability()
	v.memoryQoS()
	v.runtimeAndLogQuery()
	v.containerLogs()
	v.podLogs()
	return v.findings
}

// validator collects what is wrong with a configuration.
type validator struct {
	*Config
	findings []Finding
}

// add reports a finding whose text has no common prefix.
func (v *validator) add(field, message string) {
	v.findings = append(v.findings, Finding{Stage: StageValidate, Field: field, Message: message})
}

// invalid reports a finding in the kubelet's usual form.
func (v *validator) invalid(field, format string, args ...any) {
	v.add(field, "invalid configuration: "+fmt.Sprintf(format, args...))
}

// within reports a value outside of a range.
func (v *validator) within(field, flag string, value, low, high int) {
	if validation.IsInRange(value, low, high) != nil {
		v.invalid(field, "%s (--%s) %v must be between %d and %d, inclusive", field, flag, value, low, high)
	}
}

// notNegative reports a value below 0.
func (v *validator) notNegative(field, flag string, value int32) {
	if value < 0 {
		v.invalid(field, "%s (--%s) %v must not be a negative number", field, flag, value)
	}
}

func (v *validator) nodeAndEvents() {
	if v.NodeLeaseDurationSeconds <= 0 {
		v.invalid("nodeLeaseDurationSeconds", "nodeLeaseDurationSeconds must be greater than 0")
	}
	if v.SystemCgroups != "" && v.CgroupRoot == "" {
		v.invalid("cgroupRoot", "systemCgroups (--system-cgroups) was specified and cgroupRoot (--cgroup-root) was not specified")
	}
	v.notNegative("eventBurst", "event-burst", v.EventBurst)
	v.notNegative("eventRecordQPS", "event-qps", *v.EventRecordQPS)
	if port := *v.HealthzPort; port != 0 {
		v.within("healthzPort", "healthz-port", int(port), 1, 65535)
	}
}

func (v *validator) cfsQuotaPeriod() {
	period := *v.CPUCFSQuotaPeriod
	const field, flag = "cpuCFSQuotaPeriod", "cpu-cfs-quota-period"
	switch {
	case !v.Gates.Enabled(GateCustomPeriod):
		if period.Duration != 100*time.Millisecond {
			v.invalid(field, "%s (--%s) %v requires feature gate CustomCPUCFSQuotaPeriod", field, flag, period)
		}
	case period.Duration < time.Millisecond || period.Duration > time.Second:
		v.invalid(field, "%s (--%s) %v must be between 1ms and 1sec, inclusive", field, flag, period)
	}
}

func (v *validator) ranges() {
	v.within("iptablesDropBit", "iptables-drop-bit", int(*v.IPTablesDropBit), 0, 31)
	v.within("iptablesMasqueradeBit", "iptables-masquerade-bit", int(*v.IPTablesMasqueradeBit), 0, 31)
	v.notNegative("kubeAPIBurst", "kube-api-burst", v.KubeAPIBurst)
	v.notNegative("kubeAPIQPS", "kube-api-qps", *v.KubeAPIQPS)
	if n := *v.NodeStatusMaxImages; n < -1 {
		v.invalid("nodeStatusMaxImages", "nodeStatusMaxImages (--node-status-max-images) %v must be -1 or greater", n)
	}
	if v.MaxOpenFiles < 0 {
		v.invalid("maxOpenFiles", "maxOpenFiles (--max-open-files) %v must not be a negative number", v.MaxOpenFiles)
	}
	v.notNegative("maxPods", "max-pods", v.MaxPods)
	v.within("oomScoreAdj", "oom-score-adj", int(*v.OOMScoreAdj), -1000, 1000)
	v.notNegative("podsPerCore", "pods-per-core", v.PodsPerCore)
	v.within("port", "port", int(v.Port), 1, 65535)
	if v.ReadOnlyPort < 0 || v.ReadOnlyPort > 65535 {
		v.invalid("readOnlyPort", "readOnlyPort (--read-only-port) %v must be between 0 and 65535, inclusive", v.ReadOnlyPort)
	}
	v.notNegative("registryBurst", "registry-burst", v.RegistryBurst)
	v.notNegative("registryPullQPS", "registry-qps", *v.RegistryPullQPS)
}

func (v *validator) serving() {
	if v.ServerTLSBootstrap && !v.Gates.Enabled("RotateKubeletServerCertificate") {
		v.invalid("serverTLSBootstrap", "serverTLSBootstrap %v requires feature gate RotateKubeletServerCertificate", v.ServerTLSBootstrap)
	}
	if v.RunOnce {
		v.invalid("runOnce", "runOnce (--runOnce) %v, Runonce mode has been deprecated and should not be set", v.RunOnce)
	}
}

func (v *validator) topologyManager() {
	policies := []string{TopologyPolicyNone, TopologyPolicyBestEffort, TopologyPolicyRestricted, TopologyPolicySingleNUMANode}
	if !slices.Contains(policies, v.TopologyManagerPolicy) {
		v.invalid("topologyManagerPolicy", "topologyManagerPolicy (--topology-manager-policy) %q must be one of: %q", v.TopologyManagerPolicy, policies)
	}
	if v.TopologyManagerScope != TopologyScopeContainer && v.TopologyManagerScope != TopologyScopePod {
		v.invalid("topologyManagerScope", "topologyManagerScope (--topology-manager-scope) %q must be one of: %q, or %q", v.TopologyManagerScope, TopologyScopeContainer, TopologyScopePod)
	}
}

func (v *validator) hairpin() {
	if modes := []string{"none", "hairpin-veth", "promiscuous-bridge"}; !slices.Contains(modes, v.HairpinMode) {
		v.invalid("hairpinMode", "option %q specified for hairpinMode (--hairpin-mode). Valid options are %q, %q or %q", v.HairpinMode, modes[0], modes[1], modes[2])
	}
}
