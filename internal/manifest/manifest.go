// Package manifest turns byte streams into workloads: files, folders and
// standard input; YAML, JSON and NDJSON; every built-in kind that holds a pod.
// It decodes and computes nothing.
package manifest

import (
	corev1 "k8s.io/api/core/v1"
)

// Source says where a workload stands.
type Source struct {
	// File is the path as given; "-" for standard input.
	File string `json:"file"`
	// Document counts from 1 within the file.
	Document int `json:"document"`
	// Kind and Name of the object that holds the pod, such as Deployment web.
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// Workload is a pod, or the pod that a template would create.
type Workload struct {
	Source Source
	Pod    *corev1.Pod
	// Replicas that the object asks for; 1 for a Pod.
	Replicas int32
}
