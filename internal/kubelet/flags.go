package kubelet

import (
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	cliflag "k8s.io/component-base/cli/flag"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"

	"github.com/kqos/kqos/internal/quantity"
)

// applyFlags lets the kubelet's command line win over file and drop-ins: they
// are parsed into what is then loaded. A map or list of the command line takes
// the place of the loaded one. Flags of fields that decide nothing here are
// passed over.
//
// kubelet v1.37: cmd/kubelet/app/server.go kubeletConfigFlagPrecedence.
func (c *Config) applyFlags(args []string) error {
	if len(args) == 0 {
		return nil
	}
	flags := newFlagSet()
	c.addFlags(flags)
	if err := flags.Parse(args); err != nil {
		return &LoadError{Err: fmt.Errorf("failed to parse kubelet flag: %w", err)}
	}
	flags.Visit(func(f *pflag.Flag) {
		c.Written[f.Usage] = true
		c.Flags = append(c.Flags, f.Name)
	})
	return nil
}

// KnownFlags are those flags of a kubelet's command line, each a name and a
// value, that decide on resources, cgroups and placement: those that Load reads.
func KnownFlags(args []string) [][2]string {
	var known [][2]string
	flags := newFlagSet()
	flagDefaults().addFlags(flags)
	flags.Var(cliflag.NewMapStringBool(new(map[string]bool)), "feature-gates", "")
	// What can't be parsed, the kubelet refuses.
	_ = flags.ParseAll(args, func(f *pflag.Flag, value string) error {
		known = append(known, [2]string{f.Name, value})
		return nil
	})
	return known
}

// withFlags parses the command line as the kubelet does before all else, into
// the defaults of flags, and adds its gates below those given.
func (o LoadOptions) withFlags() (LoadOptions, error) {
	if len(o.Flags) == 0 {
		return o, nil
	}
	gates := map[string]bool{}
	flags := newFlagSet()
	flagDefaults().addFlags(flags)
	flags.Var(cliflag.NewMapStringBool(&gates), "feature-gates", "")
	if err := flags.Parse(o.Flags); err != nil {
		return o, &LoadError{Err: fmt.Errorf("failed to parse kubelet flag: %w", err)}
	}
	maps.Copy(gates, o.Gates)
	o.Gates = gates
	return o, nil
}

// flagDefaults is the configuration that the command line alone starts from.
func flagDefaults() *Config {
	// Without a file, a gate or a flag nothing can be refused.
	c, _ := Load(LoadOptions{})
	return c
}

func newFlagSet() *pflag.FlagSet {
	flags := pflag.NewFlagSet("kubelet", pflag.ContinueOnError)
	flags.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	flags.SetOutput(io.Discard)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	return flags
}

// addFlags binds the flags of those fields that decide on resources, cgroups and
// placement. The usage of each is the JSON name of its field.
//
// kubelet v1.37: cmd/kubelet/app/options/options.go AddKubeletConfigFlags.
func (c *Config) addFlags(f *pflag.FlagSet) {
	c.addTexts(f)
	c.addNumbers(f)
	c.addLists(f)
}

func (c *Config) addTexts(f *pflag.FlagSet) {
	f.StringVar(&c.CgroupDriver, "cgroup-driver", c.CgroupDriver, "cgroupDriver")
	f.StringVar(&c.CgroupRoot, "cgroup-root", c.CgroupRoot, "cgroupRoot")
	f.StringVar(&c.KubeletCgroups, "kubelet-cgroups", c.KubeletCgroups, "kubeletCgroups")
	f.StringVar(&c.SystemCgroups, "system-cgroups", c.SystemCgroups, "systemCgroups")
	f.StringVar(&c.SystemReservedCgroup, "system-reserved-cgroup", c.SystemReservedCgroup, "systemReservedCgroup")
	f.StringVar(&c.KubeReservedCgroup, "kube-reserved-cgroup", c.KubeReservedCgroup, "kubeReservedCgroup")
	f.StringVar(&c.ReservedSystemCPUs, "reserved-cpus", c.ReservedSystemCPUs, "reservedSystemCPUs")
	f.StringVar(&c.CPUManagerPolicy, "cpu-manager-policy", c.CPUManagerPolicy, "cpuManagerPolicy")
	f.StringVar(&c.MemoryManagerPolicy, "memory-manager-policy", c.MemoryManagerPolicy, "memoryManagerPolicy")
	f.StringVar(&c.TopologyManagerPolicy, "topology-manager-policy", c.TopologyManagerPolicy, "topologyManagerPolicy")
	f.StringVar(&c.TopologyManagerScope, "topology-manager-scope", c.TopologyManagerScope, "topologyManagerScope")
	f.StringVar(&c.StaticPodPath, "pod-manifest-path", c.StaticPodPath, "staticPodPath")
}

func (c *Config) addNumbers(f *pflag.FlagSet) {
	f.BoolVar(c.CgroupsPerQOS, "cgroups-per-qos", *c.CgroupsPerQOS, "cgroupsPerQOS")
	f.BoolVar(c.CPUCFSQuota, "cpu-cfs-quota", *c.CPUCFSQuota, "cpuCFSQuota")
	f.BoolVar(c.FailSwapOn, "fail-swap-on", *c.FailSwapOn, "failSwapOn")
	f.BoolVar(c.FailCgroupV1, "fail-cgroupv1", *c.FailCgroupV1, "failCgroupV1")
	f.BoolVar(&c.ProtectKernelDefaults, "protect-kernel-defaults", c.ProtectKernelDefaults, "protectKernelDefaults")
	f.BoolVar(c.LocalStorageCapacityIsolation, "local-storage-capacity-isolation", *c.LocalStorageCapacityIsolation, "localStorageCapacityIsolation")
	f.Int32Var(&c.MaxPods, "max-pods", c.MaxPods, "maxPods")
	f.Int32Var(&c.PodsPerCore, "pods-per-core", c.PodsPerCore, "podsPerCore")
	f.Int32Var(c.OOMScoreAdj, "oom-score-adj", *c.OOMScoreAdj, "oomScoreAdj")
	f.Int64Var(c.PodPidsLimit, "pod-max-pids", *c.PodPidsLimit, "podPidsLimit")
	f.DurationVar(&c.CPUCFSQuotaPeriod.Duration, "cpu-cfs-quota-period", c.CPUCFSQuotaPeriod.Duration, "cpuCFSQuotaPeriod")
	f.DurationVar(&c.CPUManagerReconcilePeriod.Duration, "cpu-manager-reconcile-period", c.CPUManagerReconcilePeriod.Duration, "cpuManagerReconcilePeriod")
}

func (c *Config) addLists(f *pflag.FlagSet) {
	f.StringSliceVar(&c.EnforceNodeAllocatable, "enforce-node-allocatable", c.EnforceNodeAllocatable, "enforceNodeAllocatable")
	f.Var(cliflag.NewMapStringString(&c.SystemReserved), "system-reserved", "systemReserved")
	f.Var(cliflag.NewMapStringString(&c.KubeReserved), "kube-reserved", "kubeReserved")
	f.Var(cliflag.NewMapStringString(&c.QOSReserved), "qos-reserved", "qosReserved")
	f.Var(cliflag.NewMapStringString(&c.TopologyManagerPolicyOptions), "topology-manager-policy-options", "topologyManagerPolicyOptions")
	f.Var(cliflag.NewMapStringStringNoSplit(&c.CPUManagerPolicyOptions), "cpu-manager-policy-options", "cpuManagerPolicyOptions")
	f.Var(cliflag.NewMapStringString(&c.EvictionSoftGracePeriod), "eviction-soft-grace-period", "evictionSoftGracePeriod")
	f.Var(cliflag.NewMapStringString(&c.EvictionMinimumReclaim), "eviction-minimum-reclaim", "evictionMinimumReclaim")
	f.Var(cliflag.NewLangleSeparatedMapStringString(&c.EvictionHard), "eviction-hard", "evictionHard")
	f.Var(cliflag.NewLangleSeparatedMapStringString(&c.EvictionSoft), "eviction-soft", "evictionSoft")
	f.Var(&reservedMemory{to: &c.ReservedMemory}, "reserved-memory", "reservedMemory")
}

// reservedMemory is the value of --reserved-memory:
// 0:memory=1Gi,hugepages-1Gi=2Gi;1:memory=2Gi. The flag may be repeated; its
// first use takes the place of what is loaded.
//
// kubelet v1.37: pkg/util/flag/flags.go ReservedMemoryVar.
type reservedMemory struct {
	to      *[]kubeletv1beta1.MemoryReservation
	started bool
}

func (r *reservedMemory) String() string { return "" }

func (r *reservedMemory) Type() string { return "reserved-memory" }

func (r *reservedMemory) Set(text string) error {
	if text == "" {
		return nil
	}
	if !r.started {
		*r.to, r.started = nil, true
	}
	for one := range strings.SplitSeq(text, ";") {
		reservation, err := parseReservedMemory(one)
		if err != nil {
			return err
		}
		*r.to = append(*r.to, reservation)
	}
	return nil
}

func parseReservedMemory(text string) (kubeletv1beta1.MemoryReservation, error) {
	found := kubeletv1beta1.MemoryReservation{Limits: corev1.ResourceList{}}
	parts := strings.Split(text, ":")
	if len(parts) != 2 {
		return found, fmt.Errorf("the reserved memory has incorrect format, expected numaNodeID:type=quantity[,type=quantity...], got %s", text)
	}
	node, err := strconv.Atoi(parts[0])
	if err != nil {
		return found, fmt.Errorf("failed to convert the NUMA node ID, expected integer, got %s", parts[0])
	}
	found.NumaNode = int32(node) //nolint:gosec // the kubelet cuts it off in the same way
	for limit := range strings.SplitSeq(parts[1], ",") {
		words := strings.Split(limit, "=")
		if len(words) != 2 {
			return found, fmt.Errorf("the reserved limit has incorrect value, expected type=quantity, got %s", limit)
		}
		name := corev1.ResourceName(words[0])
		if name != corev1.ResourceMemory && !strings.HasPrefix(words[0], corev1.ResourceHugePagesPrefix) {
			return found, fmt.Errorf("memory type conversion error, unknown type: %q", name)
		}
		amount, err := quantity.Parse(words[1])
		if err != nil {
			return found, fmt.Errorf("failed to parse the quantity: %s", words[1])
		}
		found.Limits[name] = amount
	}
	return found, nil
}
