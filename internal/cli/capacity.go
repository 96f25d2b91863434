package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/machine"
	quantities "github.com/kqos/kqos/internal/quantity"
)

// loadCapacity is what the machine offers, with the amounts of --capacity over
// it. Only this host, not a machine from elsewhere, tells its pid limit and the
// size of the kubelet's file system. What a flag set is named.
func (n *nodeFlags) loadCapacity(ctx context.Context, m *machine.Machine, elsewhere bool) (corev1.ResourceList, map[corev1.ResourceName]string, error) {
	amounts, from := corev1.ResourceList{}, map[corev1.ResourceName]string{}
	if !elsewhere {
		host := machine.ReadHostLimits(ctx, n.hostRoot)
		setAmount(amounts, allocatable.ResourcePID, host.PIDs)
		setAmount(amounts, corev1.ResourceEphemeralStorage, host.Storage)
	}
	if m != nil {
		setAmount(amounts, allocatable.ResourceSwap, m.Swap)
	}
	for _, pair := range n.capacity {
		name, q, err := parseCapacity(pair)
		if err != nil {
			return nil, nil, fmt.Errorf("--capacity %s: %w", pair, err)
		}
		amounts[name], from[name] = q, "--capacity"
	}
	return allocatable.Capacity(m, amounts), from, nil
}

func setAmount(list corev1.ResourceList, name corev1.ResourceName, amount *int64) {
	if amount != nil {
		list[name] = *resource.NewQuantity(*amount, resource.DecimalSI)
	}
}

// maxCPUs is far beyond what a kernel can run (NR_CPUS is 8192 at most on
// x86), and keeps thousandths of a CPU within int64.
const maxCPUs = 1 << 20

// parseCapacity reads one NAME=QUANTITY of --capacity.
func parseCapacity(pair string) (corev1.ResourceName, resource.Quantity, error) {
	text, value, ok := strings.Cut(pair, "=")
	if !ok {
		return "", resource.Quantity{}, errors.New("must be NAME=QUANTITY, such as memory=32Gi")
	}
	name := corev1.ResourceName(strings.TrimSpace(text))
	q, err := quantities.Parse(strings.TrimSpace(value))
	if err != nil {
		return "", q, fmt.Errorf("reading %q: %w", value, err)
	}
	if q.Sign() < 0 {
		return "", q, errors.New("a capacity can't be negative")
	}
	if q.Cmp(*resource.NewQuantity(math.MaxInt64, resource.DecimalSI)) > 0 {
		return "", q, errors.New("no machine has more than 2^63-1 of anything")
	}
	switch name {
	case corev1.ResourceCPU:
		if q.Cmp(*resource.NewQuantity(maxCPUs, resource.DecimalSI)) > 0 {
			return "", q, fmt.Errorf("no kernel runs more than %d CPUs", maxCPUs)
		}
		return name, q, nil
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage, allocatable.ResourcePID, allocatable.ResourceSwap:
		return name, q, nil
	}
	size, ok := strings.CutPrefix(string(name), corev1.ResourceHugePagesPrefix)
	page, err := quantities.Parse(size)
	if !ok || err != nil || page.Sign() <= 0 {
		return "", q, fmt.Errorf("unknown resource: must be cpu, memory, ephemeral-storage, pid, swap or hugepages-SIZE%s", didYouMean(text, resourceNames()))
	}
	return corev1.ResourceName(corev1.ResourceHugePagesPrefix + page.String()), q, nil
}
