package gen

import (
	"encoding/json"
	"fmt"

	"pgregory.net/rapid"

	"github.com/kqos/kqos/internal/machine"
)

type scenarioHardware struct {
	machine *machine.Machine
	object  map[string]any
}

// scenarioMachine is a machine without its offline CPUs, with devices.
func scenarioMachine(t *rapid.T) scenarioHardware {
	m := FewNodes().Draw(t, "machine")
	if rapid.IntRange(0, 9).Draw(t, "gaps") == 0 {
		spread(m)
	}
	if rapid.IntRange(0, 2).Draw(t, "with devices") == 0 {
		for _, r := range []string{gpu, nic} {
			for i := range rapid.IntRange(0, 4).Draw(t, r) {
				d := machine.Device{Resource: r, ID: fmt.Sprintf("d%d", i), Healthy: rapid.IntRange(0, 9).Draw(t, "healthy") > 0}
				for range rapid.SampledFrom([]int{1, 1, 1, 0, 2}).Draw(t, "nodes") {
					d.NUMA = append(d.NUMA, rapid.SampledFrom(m.NUMA).Draw(t, "node").ID)
				}
				if len(d.NUMA) == 2 && d.NUMA[0] == d.NUMA[1] {
					d.NUMA = d.NUMA[:1]
				}
				m.Devices = append(m.Devices, d)
			}
		}
	}
	return hardwareOf(t, m)
}

func hardwareOf(t *rapid.T, m *machine.Machine) scenarioHardware {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // a generated machine is plain
	}
	object := map[string]any{}
	if err := json.Unmarshal(data, &object); err != nil {
		panic(err) // it was just written
	}
	delete(object, "source")
	if rapid.Bool().Draw(t, "preferred") {
		object["preferred"] = []string{gpu}
	}
	return scenarioHardware{m, object}
}

// spread leaves gaps in the ids of nodes.
func spread(m *machine.Machine) {
	for i := range m.NUMA {
		m.NUMA[i].ID *= 2
	}
	for i := range m.CPUs {
		if m.CPUs[i].Online {
			m.CPUs[i].NUMA *= 2
		}
	}
}

// repaired is the machine after hands were laid on it: CPUs, memory, pages or
// devices have come, gone or changed.
func repaired(t *rapid.T, before *machine.Machine) (*machine.Machine, bool) {
	data, err := json.Marshal(before)
	if err != nil {
		panic(err) // a generated machine is plain
	}
	m := &machine.Machine{}
	if err := json.Unmarshal(data, m); err != nil {
		panic(err) // it was just written
	}
	node := &m.NUMA[rapid.IntRange(0, len(m.NUMA)-1).Draw(t, "repaired node")]
	switch rapid.IntRange(0, 4).Draw(t, "repair") {
	case 0:
		i := rapid.IntRange(0, len(m.CPUs)-1).Draw(t, "lost CPU")
		if m.Online().Size() < 2 {
			return nil, false
		}
		m.CPUs[i] = machine.CPU{ID: m.CPUs[i].ID, Core: -1, Socket: -1, NUMA: -1, LLC: -1}
	case 1:
		m.CPUs = append(m.CPUs, machine.CPU{ID: len(m.CPUs), Core: 999, NUMA: node.ID, Online: true})
	case 2:
		m.Memory += 1 << 30
		node.Memory += 1 << 30
	case 3:
		if node.HugePages == nil {
			node.HugePages = map[string]int64{}
		}
		node.HugePages["2Mi"] += 3
	case 4:
		if len(m.Devices) == 0 {
			return nil, false
		}
		i := rapid.IntRange(0, len(m.Devices)-1).Draw(t, "lost device")
		m.Devices[i].Healthy = !m.Devices[i].Healthy
	}
	return m, true
}
