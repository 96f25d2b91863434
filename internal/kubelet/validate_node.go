package kubelet

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/component-helpers/node/util/sysctl"
)

// sysctlName is the form of a sysctl's name with dots or slashes.
var sysctlName = sync.OnceValue(func() *regexp.Regexp {
	const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
	return regexp.MustCompile("^(" + segment + `[\./])*` + segment + "$")
})

// maxSysctlName is the longest name that Kubernetes takes.
const maxSysctlName = 253

func (v *validator) sysctls() {
	if len(v.DefaultPodSysctls) == 0 {
		return
	}
	const field = "defaultPodSysctls"
	if !v.Gates.Enabled("DefaultPodSysctls") {
		v.invalid(field, "DefaultPodSysctls feature gate is required for Kubelet configuration option defaultPodSysctls")
		return
	}
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(v.DefaultPodSysctls)) {
		if len(name) > maxSysctlName || !sysctlName().MatchString(name) {
			v.invalid(field, "%q is not a valid sysctl name for defaultPodSysctls", name)
			continue
		}
		if ns, _, _ := sysctl.GetNamespace(name); ns == sysctl.UnknownNamespace {
			v.invalid(field, "%q is not known to be namespaced for defaultPodSysctls", name)
		}
		normal := sysctl.NormalizeName(name)
		if seen[normal] {
			v.invalid(field, "duplicate sysctl %q found in defaultPodSysctls", normal)
		}
		seen[normal] = true
	}
}

func (v *validator) taints() {
	for _, taint := range v.RegisterWithTaints {
		if !validTaint(taint) {
			v.add("registerWithTaints", fmt.Sprintf("invalid taint: %v", taint))
		}
		if taint.TimeAdded != nil {
			v.invalid("registerWithTaints", "taint.TimeAdded is not nil")
		}
	}
}

// kubelet v1.37: pkg/util/taints CheckTaintValidation.
func validTaint(taint corev1.Taint) bool {
	effects := []corev1.TaintEffect{"", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	return len(validation.IsQualifiedName(taint.Key)) == 0 &&
		len(validation.IsValidLabelValue(taint.Value)) == 0 &&
		slices.Contains(effects, taint.Effect)
}

func (v *validator) shutdown() {
	all, critical := v.ShutdownGracePeriod, v.ShutdownGracePeriodCriticalPods
	set := all.Duration > 0 || critical.Duration > 0
	short := func(d time.Duration) bool { return d < 0 || d > 0 && d < time.Second }
	switch graceful := v.Gates.Enabled("GracefulNodeShutdown"); {
	case graceful:
		if critical.Duration > all.Duration {
			v.invalid("shutdownGracePeriodCriticalPods", "shutdownGracePeriodCriticalPods %v must be <= shutdownGracePeriod %v", critical, all)
		}
		if short(all.Duration) {
			v.invalid("shutdownGracePeriod", "shutdownGracePeriod %v must be either zero or otherwise >= 1 sec", all)
		}
		if short(critical.Duration) {
			v.invalid("shutdownGracePeriodCriticalPods", "shutdownGracePeriodCriticalPods %v must be either zero or otherwise >= 1 sec", critical)
		}
	case set:
		v.invalid("shutdownGracePeriod", "specifying shutdownGracePeriod or shutdownGracePeriodCriticalPods requires feature gate GracefulNodeShutdown")
	}
	if len(v.ShutdownGracePeriodByPodPriority) == 0 {
		return
	}
	const field = "shutdownGracePeriodByPodPriority"
	switch {
	case !v.Gates.Enabled("GracefulNodeShutdownBasedOnPodPriority"):
		v.invalid(field, "Specifying shutdownGracePeriodByPodPriority requires feature gate GracefulNodeShutdownBasedOnPodPriority")
	case set:
		v.invalid(field, "Cannot specify both shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time")
	}
}

func (v *validator) crashLoop() {
	const field = "crashLoopBackOff.maxContainerRestartPeriod"
	period := v.CrashLoopBackOff.MaxContainerRestartPeriod
	switch on := v.Gates.Enabled("KubeletCrashLoopBackOffMax"); {
	case on && period == nil:
		v.invalid(field, "FeatureGate KubeletCrashLoopBackOffMax is enabled, CrashLoopBackOff.MaxContainerRestartPeriod must be set")
	case on && (period.Milliseconds() < 1000 || period.Milliseconds() > 300_000):
		v.invalid(field, "CrashLoopBackOff.MaxContainerRestartPeriod (got: %v seconds) must be set between 1s and 300s", period.Seconds())
	case !on && period != nil:
		v.invalid(field, "FeatureGate KubeletCrashLoopBackOffMax not enabled, CrashLoopBackOff.MaxContainerRestartPeriod must not be set")
	}
}

// linux has what the kubelet asks on Linux only, and tells the first of it.
//
// kubelet v1.37: pkg/kubelet/apis/config/validation/validation_linux.go.
func (v *validator) linux(cgroupVersion int) {
	const idsUnit = 65536
	ids := v.idsPerPod()
	switch {
	case cgroupVersion == 1 && *v.FailCgroupV1:
		v.add("failCgroupV1", "kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is unsupported and will be removed in a future release")
	case cgroupVersion == 1 && v.SingleProcessOOMKill != nil && !*v.SingleProcessOOMKill:
		v.invalid("singleProcessOOMKill", "singleProcessOOMKill must not be explicitly set to false when using cgroup v1")
	case ids == nil:
	case *ids < idsUnit:
		v.invalid("userNamespaces.idsPerPod", "userNamespaces.idsPerPod must not be less than %d", idsUnit)
	case *ids%idsUnit != 0:
		v.invalid("userNamespaces.idsPerPod", "userNamespaces.idsPerPod must be a multiple of %d", idsUnit)
	case *ids > 1<<32-1:
		v.invalid("userNamespaces.idsPerPod", "userNamespaces.idsPerPod must not be more than %d", int64(1<<32-1))
	}
}

func (v *validator) idsPerPod() *int64 {
	if v.UserNamespaces == nil {
		return nil
	}
	return v.UserNamespaces.IDsPerPod
}

// runtimeAndLogQuery has two neighbours of the kubelet's list.
func (v *validator) runtimeAndLogQuery() {
	if v.ContainerRuntimeEndpoint == "" {
		v.invalid("containerRuntimeEndpoint", "the containerRuntimeEndpoint was not specified or empty")
	}
	if v.EnableSystemLogQuery == nil || !*v.EnableSystemLogQuery {
		return
	}
	if !v.Gates.Enabled("NodeLogQuery") {
		v.invalid("enableSystemLogQuery", "NodeLogQuery feature gate is required for enableSystemLogQuery")
	}
	if !*v.EnableSystemLogHandler {
		v.invalid("enableSystemLogQuery", "enableSystemLogHandler is required for enableSystemLogQuery")
	}
}

// containerLogs and podLogs judge where logs are kept and how they are rotated.
func (v *validator) containerLogs() {
	if *v.ContainerLogMaxWorkers < 1 {
		v.invalid("containerLogMaxWorkers", "containerLogMaxWorkers must be greater than or equal to 1")
	}
	if v.ContainerLogMonitorInterval.Seconds() < 3 {
		v.invalid("containerLogMonitorInterval", "containerLogMonitorInterval must be a positive time duration greater than or equal to 3s")
	}
	if *v.ContainerLogMaxFiles <= 1 {
		v.invalid("containerLogMaxFiles", "containerLogMaxFiles must be greater than 1")
	}
}

func (v *validator) podLogs() {
	const field = "podLogsDir"
	dir := v.PodLogsDir
	if !strings.HasPrefix(dir, "/") {
		v.invalid(field, "pod logs path %q must be absolute path", dir)
	}
	if !cleanPath(dir) {
		v.invalid(field, "pod logs path %q must be normalized", dir)
	}
	if strings.ContainsFunc(dir, func(r rune) bool { return r > '\x7f' }) {
		v.invalid(field, "pod logs path %q mut contains ASCII characters only", dir)
	}
}
