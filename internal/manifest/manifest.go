// Package manifest turns byte streams into workloads: files, folders and
// standard input; YAML, JSON and NDJSON; every built-in kind that holds a pod.
// It decodes as kubectl and the API server do and computes nothing.
//
//	in := manifest.Read([]string{"pod.yaml", "-"}, manifest.Options{Stdin: os.Stdin})
//	for _, w := range in.Workloads {
//		fmt.Println(w.Source.Kind, w.Source.Name, len(w.Pod.Spec.Containers))
//	}
package manifest

import (
	"io"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
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
	// List is the typed list that the object is an item of, such as a PodList;
	// nil for one that stands by itself or in a plain List.
	List *List
}

// List is a list of objects of one kind, as servers answer.
type List struct {
	Kind string
	// Items counts all of them, also those that could not be read.
	Items int
	// ResourceVersion and Continue are what an API server gives a list; a kubelet
	// gives none.
	ResourceVersion, Continue string
}

// Document is one document that is not a workload but of use to a command.
type Document struct {
	File   string
	Number int
	// Data is the document's text, YAML or JSON.
	Data []byte
}

// Options say how inputs are read.
type Options struct {
	// Stdin is read for the input "-".
	Stdin io.Reader
	// Recursive reads folders with all below them.
	Recursive bool
	// Strict makes errors of other kinds and unknown fields.
	Strict bool
	// Static reads what a kubelet reads of its static pod folder: files of any
	// name that does not start with a dot, and UTF-16 of either byte order.
	Static bool
}

// Input is all that was found.
type Input struct {
	// Workloads in the order of the inputs.
	Workloads []Workload
	// Objects that admission plugins consult.
	LimitRanges     []*corev1.LimitRange
	RuntimeClasses  []*nodev1.RuntimeClass
	PriorityClasses []*schedulingv1.PriorityClass
	// Nodes tell the versions of their kubelets.
	Nodes []*corev1.Node
	// KubeletConfigs and Machines among the inputs.
	KubeletConfigs []Document
	Machines       []Document
	// Warnings did not keep anything from being read.
	Warnings []*Problem
	// Errors each cost a document, a stream or a file; all else was read.
	Errors []*Problem
}

// append joins what another stream held.
func (in *Input) append(other *Input) {
	in.Workloads = append(in.Workloads, other.Workloads...)
	in.LimitRanges = append(in.LimitRanges, other.LimitRanges...)
	in.RuntimeClasses = append(in.RuntimeClasses, other.RuntimeClasses...)
	in.PriorityClasses = append(in.PriorityClasses, other.PriorityClasses...)
	in.Nodes = append(in.Nodes, other.Nodes...)
	in.KubeletConfigs = append(in.KubeletConfigs, other.KubeletConfigs...)
	in.Machines = append(in.Machines, other.Machines...)
	in.Warnings = append(in.Warnings, other.Warnings...)
	in.Errors = append(in.Errors, other.Errors...)
}
