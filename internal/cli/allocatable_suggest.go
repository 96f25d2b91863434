package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

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
	cpus, err := m.WholeCores(o.suggest, o.splitNUMA)
	if err != nil {
		return fmt.Errorf("--suggest-reserved %d: %w", o.suggest, err)
	}
	r := reservation{
		typeMeta:           typeMeta{APIVersion: "kubelet.config.k8s.io/v1beta1", Kind: "KubeletConfiguration"},
		ReservedSystemCPUs: cpus.String(),
	}
	return o.out.print(a, view{object: r, names: []string{"reservedSystemCPUs/" + cpus.String()}, text: func(w io.Writer, _ render.Style) error {
		_, err := fmt.Fprintf(w, `# %d of %d cores, whole. They replace systemReserved.cpu and kubeReserved.cpu, and
# exclude systemReservedCgroup and kubeReservedCgroup.
apiVersion: %s
kind: %s
reservedSystemCPUs: %q
`, o.suggest, len(m.Cores()), r.APIVersion, r.Kind, r.ReservedSystemCPUs)
		return err
	}})
}
