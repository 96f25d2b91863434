package cli

import (
	"errors"
	"fmt"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/simulate"
)

// use is how the node's CPUs are shared out, as far as a configuration,
// checkpoint files or pods tell; without any, nothing is known.
func (o *topologyOptions) use(a *app, n *node, in *podInput) (use machine.Use, known bool, err error) {
	files, err := o.checkpoints(a)
	if err != nil {
		return use, false, err
	}
	pods := in != nil && len(in.Workloads) > 0
	if !o.configured(in) && !pods {
		if files == nil {
			return use, false, nil
		}
		use, err = stateUse(n, in, files)
		return use, true, err
	}
	kept, err := simulate.NewNode(simulate.Spec{
		Config: n.config, Machine: n.machine, CgroupVersion: n.cgroupVersion, Dir: o.stateDir, KeepUnknown: true,
	}, files)
	if refused := (*simulate.StartError)(nil); errors.As(err, &refused) {
		a.logger().Warn("the kubelet would not start, so no CPUs are marked: " + refused.Message + meantAtStart(refused))
		return use, false, nil
	}
	if err != nil {
		return use, false, err
	}
	if pods {
		for i := range in.Workloads {
			w := &in.Workloads[i]
			verdict := kept.Add(w.Pod).Verdict
			if verdict.Crash != nil {
				return use, false, fmt.Errorf("%s: the kubelet would crash: %w", workloadName(w), verdict.Crash)
			}
			if !verdict.Admitted {
				a.logger().Warn(fmt.Sprintf("%s: refused: %s: %s", workloadName(w), verdict.Reason, verdict.Message))
			}
		}
	}
	use, err = stateUse(n, in, kept.Files())
	if err != nil {
		return use, false, err
	}
	if use.Reserved = kept.Reserved(); use.Reserved.IsEmpty() {
		// Policy none keeps no CPUs itself; a list says where the system runs.
		use.Reserved, err = kubelet.ParseCPUs(n.config.ReservedSystemCPUs)
	}
	return use, true, err
}

// checkpoints are the files of --state-dir, else those of this host's kubelet, as
// far as they can be read.
func (o *topologyOptions) checkpoints(a *app) (simulate.Files, error) {
	if o.stateDir != "" || o.node.kubelet == nil {
		return (&stateFlags{dir: o.stateDir}).load()
	}
	files, err := (&stateFlags{dir: o.node.kubeletDir()}).load()
	if err != nil {
		a.notice(fmt.Sprintf("the CPUs of containers are not marked: %v", err))
		return nil, nil
	}
	return files, nil
}

// stateUse reads the CPU manager's checkpoint. Policy none leaves the shared
// pool empty there: all CPUs are shared.
func stateUse(n *node, in *podInput, files simulate.Files) (machine.Use, error) {
	use := machine.Use{Shared: n.machine.Online(), Exclusive: map[string]cpuset.CPUSet{}}
	blob, ok := files[kubelet.CPUManagerStateFile]
	if !ok {
		return use, nil
	}
	s, err := kubelet.ReadCPUManagerState([]byte(blob), "", n.config.Gates)
	if err != nil {
		return use, fmt.Errorf("reading %s: %w", kubelet.CPUManagerStateFile, err)
	}
	if s.PolicyName == kubelet.CPUPolicyStatic {
		use.Shared = s.DefaultCPUSet
	}
	for uid, containers := range s.Entries {
		for container, cpus := range containers {
			use.Exclusive[podName(in, uid)+"/"+container] = cpus
		}
	}
	return use, nil
}

// podName is namespace/name of a pod that was given, else its UID.
func podName(in *podInput, uid string) string {
	if in != nil {
		for i := range in.Workloads {
			if pod := in.Workloads[i].Pod; string(pod.UID) == uid {
				return fullName(pod)
			}
		}
	}
	return uid
}
