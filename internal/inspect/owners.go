package inspect

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/nodeapi"
)

// Owners gives names to UIDs and container ids.
type Owners struct {
	pods       map[string]cgroups.PodRef
	containers map[string]string
	// sandboxes are the ids of those that are a pod's own.
	sandboxes map[string]bool
	// known holds the UIDs of pods that are no leak, onNode those of them that the
	// kubelet itself tells of.
	known, onNode map[string]bool
}

// HostOwners reads the folders that the kubelet keeps below root: one for each
// pod in var/lib/kubelet/pods, its names in var/log/pods, and the containers'
// ids in the links of var/log/containers. What is not there stays unnamed.
func HostOwners(root string) *Owners {
	o := &Owners{pods: map[string]cgroups.PodRef{}, containers: map[string]string{}, sandboxes: map[string]bool{}, known: map[string]bool{}, onNode: map[string]bool{}}
	for _, name := range entries(filepath.Join(root, "var/lib/kubelet/pods")) {
		o.known[name], o.onNode[name] = true, true
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

// AddKubelet is Add for the pods that the kubelet tells of.
func (o *Owners) AddKubelet(pods []*corev1.Pod) {
	o.Add(pods)
	for _, pod := range pods {
		o.onNode[cgroups.PodUID(pod)] = true
	}
}

// AddRuntime names containers as the runtime does.
func (o *Owners) AddRuntime(containers []nodeapi.Container) {
	for _, c := range containers {
		if c.Sandbox {
			o.sandboxes[c.ID] = true
		} else {
			o.containers[c.ID] = c.Name
		}
	}
}

// Add names pods and, where their status tells ids, containers.
func (o *Owners) Add(pods []*corev1.Pod) {
	for _, pod := range pods {
		uid := cgroups.PodUID(pod)
		o.known[uid] = true
		o.pods[uid] = cgroups.PodRef{Namespace: cmp.Or(pod.Namespace, corev1.NamespaceDefault), Name: pod.Name, UID: uid}
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

// UID is that of the one pod of a name that the node has; empty where it has
// none or several, such as an old and a new one of the same name.
func (o *Owners) UID(namespace, name string) string {
	found := ""
	for uid, ref := range o.pods {
		if ref.Namespace != namespace || ref.Name != name {
			continue
		}
		if found != "" {
			return ""
		}
		found = uid
	}
	return found
}

// StaticUID is that of the one pod of the node that the kubelet made of a
// manifest without a UID in its static pod folder: it hashes one, and puts the
// node's name behind the pod's. Empty where there is none or several.
//
// kubelet v1.37: pkg/kubelet/config/common.go applyDefaults.
func (o *Owners) StaticUID(namespace, name string) string {
	found := ""
	for uid, ref := range o.pods {
		hashed := len(uid) == 32 && !strings.Contains(uid, "-")
		if !hashed || ref.Namespace != namespace || !strings.HasPrefix(ref.Name, name+"-") {
			continue
		}
		if found != "" {
			return ""
		}
		found = uid
	}
	return found
}

// OnNode tells whether the kubelet itself tells of the pod.
func (o *Owners) OnNode(uid string) bool { return o.onNode[uid] }

// Container names the container of an id, or is empty.
func (o *Owners) Container(id string) string { return o.containers[id] }

// Sandbox tells whether the container of an id is known to be a pod's own.
func (o *Owners) Sandbox(id string) bool { return o.sandboxes[id] }

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
