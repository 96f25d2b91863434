package cli

import (
	"errors"
	"fmt"
	"io"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/kubelet"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/render"
)

// picture draws who has which CPU at the end of a simulation.
func (r simulation) picture(w io.Writer, _ render.Style) error {
	if r.StartError != nil {
		return fmt.Errorf("-o svg: the kubelet does not start (%s): %s", r.StartError.Stage, r.StartError.Message)
	}
	if r.machine == nil {
		return errors.New("-o svg: there is no machine to draw")
	}
	use, err := r.use()
	if err != nil {
		return err
	}
	return render.MachineSVG(w, r.machine, r.machine.Marks(use), r.Name)
}

// use is how the CPUs are shared out, by the state that the kubelet keeps.
func (r simulation) use() (machine.Use, error) {
	use := machine.Use{Exclusive: map[string]cpuset.CPUSet{}}
	var err error
	if use.Reserved, err = cpuset.Parse(r.Reserved); err != nil {
		return use, fmt.Errorf("reading the reserved CPUs: %w", err)
	}
	file, ok := r.Files[kubelet.CPUManagerStateFile]
	if !ok {
		return use, nil
	}
	state, err := kubelet.ReadCPUManagerState([]byte(file), "", kubelet.Gates{})
	if err != nil {
		return use, fmt.Errorf("reading %s: %w", kubelet.CPUManagerStateFile, err)
	}
	use.Shared = state.DefaultCPUSet
	for uid, containers := range state.Entries {
		name := or(r.pods[uid], uid)
		for container, cpus := range containers {
			use.Exclusive[name+"/"+container] = cpus
		}
	}
	return use, nil
}
