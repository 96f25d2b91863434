// Package kubelet reads what configures a kubelet (KubeletConfiguration,
// drop-ins, feature gates) and what it keeps on disk (its checkpoint files),
// with the kubelet's own defaults, validation and words.
//
//	c, err := kubelet.Load(kubelet.LoadOptions{File: "/var/lib/kubelet/config.yaml"})
//	for _, f := range c.Validate(2) {
//		fmt.Println(f.Stage, f.Field, f.Message)
//	}
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
	// Flags names the flags of the command line that set a field, sorted.
	Flags []string
	// Warnings are what the kubelet would log while loading, and what it would
	// refuse where the command may still answer.
	Warnings []string
	// Refused are the reasons for which the kubelet would not load the input
	// that Load read all the same: a document among others, for one.
	Refused []Finding
}

// PerQOS tells whether the kubelet makes cgroups for QoS classes and pods at all.
func (c *Config) PerQOS() bool { return c.CgroupsPerQOS == nil || *c.CgroupsPerQOS }

// Stage is the part of the kubelet's start that a finding belongs to.
type Stage string

// The stages, in the order in which the kubelet gets to them: reading the
// configuration, validating it, and parsing what validation leaves alone.
const (
	StageLoad     Stage = "load"
	StageValidate Stage = "validate"
	StageStart    Stage = "start"
)

// Finding is one reason for which the kubelet would not start with a
// configuration.
type Finding struct {
	Stage Stage `json:"stage"`
	// Field is the JSON path of the field at fault; empty when no single field is.
	Field string `json:"field"`
	// Message is in the kubelet's words.
	Message string `json:"message"`
}

// LoadError is why the kubelet cannot load a configuration. Its text is the
// kubelet's.
type LoadError struct {
	// Field is the JSON path of the field at fault; empty when no single field is.
	Field string
	Err   error
}

func (e *LoadError) Error() string { return e.Err.Error() }

func (e *LoadError) Unwrap() error { return e.Err }

// Finding is the error as one of a list.
func (e *LoadError) Finding() Finding {
	return Finding{Stage: StageLoad, Field: e.Field, Message: e.Error()}
}
