package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	strictjson "sigs.k8s.io/json"
)

// UnmarshalJSON reads a CPU; one without the field online is online.
func (c *CPU) UnmarshalJSON(data []byte) error {
	type plain CPU
	value := plain{Online: true}
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	*c = CPU(value)
	return nil
}

// UnmarshalJSON reads a Device; one without the field healthy is healthy.
func (d *Device) UnmarshalJSON(data []byte) error {
	type plain Device
	value := plain{Healthy: true}
	if err := json.Unmarshal(data, &value); err != nil {
		return err
	}
	*d = Device(value)
	return nil
}

// parseSnapshot reads kqos's own form. A field that this kqos does not know is
// noted among the assumptions: a newer kqos may have written it.
func parseSnapshot(data []byte) (*Machine, error) {
	m, unknown, err := ParseSnapshot(data)
	if err != nil {
		return nil, err
	}
	for _, u := range unknown {
		m.assume("%v: left aside", u)
	}
	return m, nil
}

// ParseSnapshot reads kqos's own form from JSON; apiVersion and kind may be
// absent. The fields that it does not know are told apart.
func ParseSnapshot(data []byte) (m *Machine, unknown []error, err error) {
	m = &Machine{}
	if unknown, err = strictjson.UnmarshalStrict(data, m); err != nil {
		return nil, nil, fmt.Errorf("reading a kqos Machine: %w", err)
	}
	return m, unknown, m.finish()
}

func (m *Machine) assume(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(m.Assumptions, text) {
		m.Assumptions = append(m.Assumptions, text)
	}
}

// finish orders the lists, fills in what is derived and validates the whole:
// every reader ends with it.
func (m *Machine) finish() error {
	m.APIVersion, m.Kind = APIVersion, Kind
	slices.SortStableFunc(m.CPUs, func(a, b CPU) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortStableFunc(m.NUMA, func(a, b Node) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortStableFunc(m.Devices, func(a, b Device) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(m.PCI, func(a, b PCIDevice) int { return cmp.Compare(a.Address, b.Address) })
	if err := m.Validate(); err != nil {
		return err
	}
	of := make(map[int][]int, len(m.NUMA))
	for _, c := range m.CPUs {
		if c.Online {
			of[c.NUMA] = append(of[c.NUMA], c.ID)
		}
	}
	for i := range m.NUMA {
		m.NUMA[i].CPUs = formatList(of[m.NUMA[i].ID])
	}
	return nil
}
