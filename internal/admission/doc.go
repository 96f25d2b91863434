// Package admission does to a pod what happens before a kubelet sees it: the
// API server's defaulting and admission plugins at creation, or the kubelet's
// own reading of a static pod file. It is pure and changes the pod it is given.
//
//	warnings := admission.Admit(pod, admission.Created, objects, gates)
//	pod.Spec.Containers[0].Resources.Requests // filled from the limits
package admission
