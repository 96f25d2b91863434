// Package workload makes the pod that a controller would create of an object, as
// the API server stores both.
//
//	pod, replicas, err := workload.Pod(data)
package workload

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"  // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/batch/install" // registers the kinds
	batchdefaults "k8s.io/kubernetes/pkg/apis/batch/v1"
	_ "k8s.io/kubernetes/pkg/apis/core/install"       // registers the kinds
	_ "k8s.io/kubernetes/pkg/apis/extensions/install" // registers the kinds
	"k8s.io/kubernetes/pkg/controller"

	"github.com/kqos/kqos/conformance/oracle/apiserver"
)

// Pod is the pod that the object in JSON leads to, and how many its spec asks
// for, under the gates as they are set.
func Pod(data []byte) (*corev1.Pod, int32, error) {
	decoded, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), data)
	if err != nil {
		return nil, 0, err
	}
	versions := []runtime.GroupVersioner{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion, batchv1.SchemeGroupVersion}
	var object runtime.Object
	for _, version := range versions {
		if object, err = legacyscheme.Scheme.ConvertToVersion(decoded, version); err == nil {
			break
		}
	}
	if err != nil {
		return nil, 0, err
	}
	parent, template, replicas, err := parts(object)
	if err != nil {
		return nil, 0, err
	}
	pod, err := controller.GetPodFromTemplate(template, object, nil)
	if err != nil {
		return nil, 0, err
	}
	pod.Namespace = parent.Namespace
	pod, err = apiserver.Create(pod)
	return pod, replicas, err
}

func parts(object runtime.Object) (*metav1.ObjectMeta, *corev1.PodTemplateSpec, int32, error) {
	switch o := object.(type) {
	case *corev1.PodTemplate:
		return &o.ObjectMeta, &o.Template, 1, nil
	case *corev1.ReplicationController:
		return &o.ObjectMeta, o.Spec.Template, *o.Spec.Replicas, nil
	case *appsv1.Deployment:
		return &o.ObjectMeta, &o.Spec.Template, *o.Spec.Replicas, nil
	case *appsv1.ReplicaSet:
		return &o.ObjectMeta, &o.Spec.Template, *o.Spec.Replicas, nil
	case *appsv1.StatefulSet:
		return &o.ObjectMeta, &o.Spec.Template, *o.Spec.Replicas, nil
	case *appsv1.DaemonSet:
		return &o.ObjectMeta, &o.Spec.Template, 1, nil
	case *batchv1.Job:
		return &o.ObjectMeta, &o.Spec.Template, *o.Spec.Parallelism, nil
	case *batchv1.CronJob:
		job := &batchv1.Job{Spec: o.Spec.JobTemplate.Spec}
		batchdefaults.SetObjectDefaults_Job(job)
		return &o.ObjectMeta, &job.Spec.Template, *job.Spec.Parallelism, nil
	}
	return nil, nil, 0, fmt.Errorf("%T holds no template", object)
}
