// Package kubelet reads what configures a kubelet (KubeletConfiguration,
// drop-ins, feature gates) and what it keeps on disk (its checkpoint files),
// with the kubelet's own defaults, validation and words.
package kubelet

import (
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

// Config is a KubeletConfiguration as the kubelet holds it after loading: file,
// drop-ins and flags merged, defaults set.
type Config struct {
	kubeletv1beta1.KubeletConfiguration
	// Gates are the feature gates that result from the version's defaults, the
	// configuration and --feature-gates.
	Gates Gates
	// Source says where the configuration was read from; empty for the
	// kubelet's defaults.
	Source string
	// Written holds the JSON names of the top-level fields that file or
	// drop-ins set, as opposed to defaults. cgroupDriver counts only if written.
	Written map[string]bool
	// Warnings are what the kubelet would log while loading, and what it would
	// refuse where the command may still answer.
	Warnings []string
}
