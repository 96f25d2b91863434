package inspect

import (
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups"
)

// Owners gives names to UIDs and container ids.
type Owners struct {
	pods       map[string]cgroups.PodRef
	containers map[string]string
	// known holds the UIDs of pods that the kubelet still has a folder for.
	known map[string]bool
}

// HostOwners reads the folders that the kubelet keeps below root: one for each
// pod in var/lib/kubelet/pods, its names in var/log/pods, and the containers'
// ids in the links of var/log/containers. What is not there stays unnamed.
func HostOwners(root string) *Owners {
	o := &Owners{pods: map[string]cgroups.PodRef{}, containers: map[string]string{}, known: map[string]bool{}}
	for _, name := range entries(filepath.Join(root, "var/lib/kubelet/pods")) {
		o.known[name] = true
	}
	for _, name := range entries(filepath.Join(root, "var/log/pods")) {
		// namespace_name_uid; none of the three may hold an underscore.
		if parts := strings.Split(name, "_"); len(parts) == 3 {
			o.pods[parts[2]] = cgroups.PodRef{Namespace: parts[0], Name: parts[1], UID: parts[2]}
		}
	}
	for _, name := range entries(filepath.Join(root, "var/log/containers")) {
		// pod_namespace_container-id.log
		parts := strings.Split(strings.TrimSuffix(name, ".log"), "_")
		last := parts[len(parts)-1]
		if dash := strings.LastIndexByte(last, '-'); len(parts) == 3 && dash > 0 {
			o.containers[last[dash+1:]] = last[:dash]
		}
	}
	return o
}

// Add names pods and, where their status tells ids, containers.
func (o *Owners) Add(pods []*corev1.Pod) {
	for _, pod := range pods {
		uid := string(pod.UID)
		o.known[uid] = true
		o.pods[uid] = cgroups.PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: uid}
		for _, statuses := range [][]corev1.ContainerStatus{
			pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
		} {
			for i := range statuses {
				if _, id, ok := strings.Cut(statuses[i].ContainerID, "://"); ok {
					o.containers[id] = statuses[i].Name
				}
			}
		}
	}
}

// Pod names the pod of a UID; only the UID is set when nobody knows more.
func (o *Owners) Pod(uid string) cgroups.PodRef {
	if ref, ok := o.pods[uid]; ok {
		return ref
	}
	return cgroups.PodRef{UID: uid}
}

// Container names the container of an id, or is empty.
func (o *Owners) Container(id string) string { return o.containers[id] }

// Known tells whether the kubelet has a folder of the pod, or the pod was added.
func (o *Owners) Known(uid string) bool { return o.known[uid] }

// Any tells whether any pod is known at all: without one, none can be said to
// have leaked.
func (o *Owners) Any() bool { return len(o.known) > 0 }

// entries lists the names in a folder; one that is not there has none.
func entries(folder string) []string {
	list, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	names := make([]string, len(list))
	for i, e := range list {
		names[i] = e.Name()
	}
	return names
}
