package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/manifest"
	"github.com/kqos/kqos/internal/render"
)

// reservation is the part of a KubeletConfiguration that reserves CPUs: a
// drop-in as it stands.
type reservation struct {
	typeMeta
	ReservedSystemCPUs string `json:"reservedSystemCPUs"`
}

// suggestReserved loads the machine and suggests what to reserve on it.
func (o *allocatableOptions) suggestReserved(ctx context.Context, a *app, document *manifest.Document) error {
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
	return suggestReserved(a, &o.out, m, o.suggest, o.splitNUMA)
}

// suggestReserved prints the configuration that reserves n whole cores.
func suggestReserved(a *app, out *outputFlags, m *machine.Machine, n int, splitNUMA bool) error {
	cpus, err := m.WholeCores(n, splitNUMA)
	if err != nil {
		return fmt.Errorf("--suggest-reserved %d: %w", n, err)
	}
	r := reservation{
		typeMeta:           typeMeta{APIVersion: "kubelet.config.k8s.io/v1beta1", Kind: "KubeletConfiguration"},
		ReservedSystemCPUs: cpus.String(),
	}
	return out.print(a, view{object: r, names: []string{"reservedSystemCPUs/" + cpus.String()}, text: func(w io.Writer, _ render.Style) error {
		_, err := fmt.Fprintf(w, `# %d of %d cores, whole. They replace systemReserved.cpu and kubeReserved.cpu, and
# exclude systemReservedCgroup and kubeReservedCgroup.
apiVersion: %s
kind: %s
reservedSystemCPUs: %q
`, n, len(m.Cores()), r.APIVersion, r.Kind, r.ReservedSystemCPUs)
		return err
	}})
}
