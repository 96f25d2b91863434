package cli

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/nodeapi"
)

// askKubelet takes the pods from the node's kubelet, where that is asked for or
// where no pods are named and a kubelet lives. Its list is complete.
func (o *planOptions) askKubelet(ctx context.Context, w *wanted, args []string) error {
	must := o.podsFrom == "kubelet"
	if !must {
		named := len(args)+len(o.pods.files) > 0
		if o.podsFrom == "files" || named || w.node.elsewhere {
			return nil
		}
		if k, err := nodeapi.FindKubelet(o.node.hostRoot); k == nil || err != nil {
			return err
		}
	}
	pods, err := nodeapi.Pods(ctx, nodeapi.PodsSocket(o.node.hostRoot))
	if err != nil {
		return fmt.Errorf("--pods-from kubelet: %w; name the pods, or say --pods-from files", err)
	}
	w.pods, w.fromKubelet, w.incomplete = pods, true, ""
	return nil
}

// liveKubelet tells what the kubelet that works on the wanted tree's root is
// about to do; nil when none does.
func (o *planOptions) liveKubelet(ctx context.Context, a *app, w *wanted) (*apply.Kubelet, error) {
	k, err := nodeapi.FindKubelet(o.node.hostRoot)
	if k == nil || err != nil {
		return nil, err
	}
	if root, known := cgroupRootOf(k, o.node.hostRoot); known && path.Clean("/"+root) != path.Clean("/"+w.node.config.CgroupRoot) {
		return nil, nil
	}
	found := &apply.Kubelet{Pods: map[string]apply.PodState{}}
	pods := w.pods
	if !w.fromKubelet {
		if pods, err = nodeapi.Pods(ctx, nodeapi.PodsSocket(o.node.hostRoot)); err != nil {
			a.logger().Warn(fmt.Sprintf("process %d is a kubelet that works on this root and does not tell its pods, so none of them is touched: %v", k.PID, err))
			return found, nil
		}
	}
	for _, pod := range pods {
		found.Pods[string(pod.UID)] = apply.PodState{Pending: pending(pod)}
	}
	return found, nil
}

// cgroupRootOf is the cgroup root of a running kubelet, as far as its flag or
// its configuration file tell.
func cgroupRootOf(k *nodeapi.Kubelet, hostRoot string) (root string, known bool) {
	if k.CgroupRoot != "" {
		return k.CgroupRoot, true
	}
	if k.Config == "" {
		return "", true
	}
	config, err := kubelet.Load(kubelet.LoadOptions{File: filepath.Join(hostRoot, k.Config)})
	if err != nil {
		return "", false
	}
	return config.CgroupRoot, true
}

// pending tells whether the kubelet is about to change or end a pod.
func pending(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return true
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == corev1.PodResizePending || c.Type == corev1.PodResizeInProgress)
	})
}
