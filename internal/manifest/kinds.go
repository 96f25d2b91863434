package manifest

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// versions lists the API versions in which a kind that kqos reads is or was
// served. The older ones differ from the current in no field that a pod depends
// on.
//
// kubernetes v1.37: pkg/apis/{core,apps,extensions,batch,node,scheduling}/install.
func versions(kind string) []string {
	switch kind {
	case "Pod", "PodTemplate", "ReplicationController", "LimitRange", "Node":
		return []string{"v1"}
	case "Deployment":
		return []string{"apps/v1", "apps/v1beta2", "apps/v1beta1", "extensions/v1beta1"}
	case "DaemonSet", "ReplicaSet":
		return []string{"apps/v1", "apps/v1beta2", "extensions/v1beta1"}
	case "StatefulSet":
		return []string{"apps/v1", "apps/v1beta2", "apps/v1beta1"}
	case "Job":
		return []string{"batch/v1"}
	case "CronJob":
		return []string{"batch/v1", "batch/v1beta1"}
	case "RuntimeClass":
		return []string{"node.k8s.io/v1", "node.k8s.io/v1beta1"}
	case "PriorityClass":
		return []string{"scheduling.k8s.io/v1", "scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1alpha1"}
	case "KubeletConfiguration":
		return []string{"kubelet.config.k8s.io/v1beta1"}
	case "Machine":
		return []string{"kqos.io/v1alpha1"}
	}
	return nil
}

// aside are the kinds that hold no pod and are read all the same.
func aside() []string {
	return []string{"KubeletConfiguration", "Machine", "LimitRange", "RuntimeClass", "PriorityClass", "Node"}
}

// builtIn tells whether kqos reads that kind of that API version.
func (h head) builtIn() bool { return slices.Contains(versions(h.kind), h.apiVersion) }

// gone are fields of older API versions that the current types lack; they are
// no misspellings.
func gone(path string) bool {
	return slices.Contains([]string{"spec.rollbackTo", "spec.templateGeneration", "status.templateGeneration"}, path)
}

// holder is the part of a decoded object that leads to a pod.
type holder struct {
	meta     *metav1.ObjectMeta
	template *corev1.PodTemplateSpec
	replicas *int32
}

// workload decodes an object of a kind that holds a pod; found is false for
// any other kind.
func (d *decoder) workload(kind string, raw []byte) (w *Workload, found bool) {
	switch kind {
	case "Pod":
		pod := &corev1.Pod{}
		if !d.decode(raw, pod) {
			return nil, true
		}
		return d.named(&pod.ObjectMeta, pod, 1), true
	case "PodTemplate":
		o := &corev1.PodTemplate{}
		return d.templated(raw, o, func() holder { return holder{&o.ObjectMeta, &o.Template, nil} }), true
	case "ReplicationController":
		o := &corev1.ReplicationController{}
		return d.templated(raw, o, func() holder { return holder{&o.ObjectMeta, o.Spec.Template, o.Spec.Replicas} }), true
	case "Deployment":
		o := &appsv1.Deployment{}
		return d.templated(raw, o, func() holder { return holder{&o.ObjectMeta, &o.Spec.Template, o.Spec.Replicas} }), true
	case "ReplicaSet":
		o := &appsv1.ReplicaSet{}
		return d.templated(raw, o, func() holder { return holder{&o.ObjectMeta, &o.Spec.Template, o.Spec.Replicas} }), true
	case "StatefulSet":
		o := &appsv1.StatefulSet{}
		return d.templated(raw, o, func() holder { return holder{&o.ObjectMeta, &o.Spec.Template, o.Spec.Replicas} }), true
	case "DaemonSet":
		o := &appsv1.DaemonSet{}
		return d.templated(raw, o, func() holder { return holder{&o.ObjectMeta, &o.Spec.Template, nil} }), true
	case "Job":
		o := &batchv1.Job{}
		return d.templated(raw, o, func() holder { return holder{&o.ObjectMeta, &o.Spec.Template, atOnce(&o.Spec)} }), true
	case "CronJob":
		o := &batchv1.CronJob{}
		return d.templated(raw, o, func() holder {
			return holder{&o.ObjectMeta, &o.Spec.JobTemplate.Spec.Template, atOnce(&o.Spec.JobTemplate.Spec)}
		}), true
	}
	return nil, false
}

// atOnce is how many pods of a job run side by side: no more than are to complete.
//
// kubernetes v1.37: pkg/controller/job/job_controller.go manageJob.
func atOnce(job *batchv1.JobSpec) *int32 {
	parallelism := int32(1)
	if job.Parallelism != nil {
		parallelism = *job.Parallelism
	}
	if job.Completions != nil {
		parallelism = min(parallelism, *job.Completions)
	}
	return &parallelism
}

// templated makes the pod that the object's template would create, under the
// object's own name and namespace.
func (d *decoder) templated(raw []byte, object any, hold func() holder) *Workload {
	if !d.decode(raw, object) {
		return nil
	}
	h := hold()
	if h.template == nil {
		d.fail("spec.template", "is missing: the object creates no pod")
		return nil
	}
	pod := &corev1.Pod{ObjectMeta: h.template.ObjectMeta, Spec: h.template.Spec}
	pod.Namespace, pod.UID = h.meta.Namespace, ""
	replicas := int32(1)
	if h.replicas != nil {
		replicas = *h.replicas
	}
	return d.named(h.meta, pod, replicas)
}

func (d *decoder) named(meta *metav1.ObjectMeta, pod *corev1.Pod, replicas int32) *Workload {
	if pod.Name = meta.Name; pod.Name == "" && !d.static {
		pod.Name, pod.GenerateName = meta.GenerateName, meta.GenerateName
	}
	source := Source{File: d.file, Document: d.number, Kind: d.head.kind, Name: pod.Name}
	return &Workload{Source: source, Pod: pod, Replicas: replicas, List: d.list}
}
