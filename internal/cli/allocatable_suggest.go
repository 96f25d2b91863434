package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"k8s.io/utils/cpuset"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/render"
)

// reservation is the part of a KubeletConfiguration that reserves CPUs: a
// drop-in as it stands.
type reservation struct {
	typeMeta
	ReservedSystemCPUs string `json:"reservedSystemCPUs"`
}

// suggestReserved prints the configuration that reserves whole cores.
func (o *allocatableOptions) suggestReserved(ctx context.Context, a *app, document []byte) error {
	if err := o.node.check(); err != nil {
		return err
	}
	m, err := o.node.loadMachine(ctx, a, document)
	if err != nil {
		return err
	}
	if m == nil {
		return errors.New("the machine of this host is unknown; name one with --topology")
	}
	cpus, nodes, err := chooseCores(m, o.suggest, o.splitNUMA)
	if err != nil {
		return fmt.Errorf("--suggest-reserved %d: %w", o.suggest, err)
	}
	r := reservation{
		typeMeta:           typeMeta{APIVersion: "kubelet.config.k8s.io/v1beta1", Kind: "KubeletConfiguration"},
		ReservedSystemCPUs: cpus.String(),
	}
	return o.out.print(a, view{object: r, names: []string{"reservedSystemCPUs/" + cpus.String()}, text: func(w io.Writer, _ render.Style) error {
		_, err := fmt.Fprintf(w, `# %d whole cores of %d, on NUMA nodes %s. They replace systemReserved.cpu and
# kubeReserved.cpu, and exclude systemReservedCgroup and kubeReservedCgroup.
apiVersion: %s
kind: %s
reservedSystemCPUs: %q
`, o.suggest, len(m.Cores()), nodes, r.APIVersion, r.Kind, r.ReservedSystemCPUs)
		return err
	}})
}

// chooseCores takes whole cores with their online CPUs, the lowest first: from
// the lowest NUMA nodes, or in turn from each.
func chooseCores(m *machine.Machine, n int, split bool) (cpus, nodes cpuset.CPUSet, err error) {
	cores := m.Cores()
	if n >= len(cores) {
		return cpus, nodes, fmt.Errorf("the machine has %d cores, and one at least must be left to pods", len(cores))
	}
	byNode := map[int]int{}
	type turn struct {
		core  []machine.CPU
		round int
	}
	var turns []turn
	for _, core := range cores {
		node := core[0].NUMA
		turns = append(turns, turn{core: core, round: byNode[node]})
		byNode[node]++
	}
	slices.SortStableFunc(turns, func(a, b turn) int {
		if split && a.round != b.round {
			return a.round - b.round
		}
		if a.core[0].NUMA != b.core[0].NUMA {
			return a.core[0].NUMA - b.core[0].NUMA
		}
		return a.core[0].ID - b.core[0].ID
	})
	for _, t := range turns[:n] {
		for _, c := range t.core {
			cpus = cpus.Union(cpuset.New(c.ID))
		}
		nodes = nodes.Union(cpuset.New(t.core[0].NUMA))
	}
	return cpus, nodes, nil
}
