package cli

import (
	"context"
	"fmt"
	"path"

	"github.com/kqos/kqos/internal/apply"
	"github.com/kqos/kqos/internal/cgroups"
	"github.com/kqos/kqos/internal/inspect"
	"github.com/kqos/kqos/internal/nodeapi"
)

// meetContainers finds the wanted cgroups of containers among those that a
// runtime has made, whose names are its own. Of a pod with such cgroups, those
// containers that have none are left out, with a note: they may not run now.
func (o *planOptions) meetContainers(ctx context.Context, w *wanted, host apply.Reader) error {
	if !o.containers {
		return nil
	}
	owners := inspect.HostOwners(o.node.hostRoot)
	owners.Add(w.pods)
	if sockets := existing(o.node.runtimeSockets(w.node.config)); len(sockets) > 0 {
		containers, err := nodeapi.Containers(ctx, sockets)
		if err != nil {
			w.notes = append(w.notes, fmt.Sprintf("the runtime does not tell its containers: %v", err))
		}
		owners.AddRuntime(containers)
	}
	kept := make([]cgroups.Cgroup, 0, len(w.tree.Cgroups))
	made := map[string]map[string]string{}
	for _, c := range w.tree.Cgroups {
		if c.Level == cgroups.LevelContainer {
			pod := path.Dir(c.Path)
			if _, looked := made[pod]; !looked {
				var err error
				if made[pod], err = madeBelow(host, owners, pod); err != nil {
					return err
				}
			}
			if at := made[pod][c.Container]; at != "" {
				c.Path = at
				if w.tree.Driver == cgroups.Systemd {
					c.Unit = cgroups.UnitOf(at)
				}
			} else if len(made[pod]) > 0 {
				w.notes = append(w.notes, fmt.Sprintf("container %s of pod %s/%s is left out: a runtime works in the pod and no cgroup is known to be this container's", c.Container, c.Pod.Namespace, c.Pod.Name))
				continue
			}
		}
		kept = append(kept, c)
	}
	w.tree.Cgroups = kept
	return nil
}

// madeBelow lists the cgroups that a runtime made right below a pod's by the name
// of the container, those of which nobody knows it under the empty name.
func madeBelow(host apply.Reader, owners *inspect.Owners, pod string) (map[string]string, error) {
	children, err := host.Children(pod)
	made := map[string]string{}
	for _, child := range children {
		if at := path.Join(pod, child); inspect.OfRuntime(at) {
			made[owners.Container(inspect.Identify(at).ContainerID)] = at
		}
	}
	return made, err
}
