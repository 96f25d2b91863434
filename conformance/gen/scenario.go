package gen

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"
)

// The devices that machines have and pods ask for.
const (
	gpu = "vendor.com/gpu"
	nic = "vendor.com/nic"
)

// Scenario generates what happens on a node, in the form of
// testdata/golden/placement: a machine, a kubelet's configuration that mostly
// starts, pods that mostly ask for CPUs of their own, removals and restarts, also
// with another configuration, another machine, or other checkpoint files.
func Scenario() *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage { return scenario(t, nil) })
}

// Successor generates a scenario whose kubelet soon finds the checkpoint files
// of another life: those that before makes of a scenario.
func Successor(before func(json.RawMessage) map[string]string) *rapid.Generator[json.RawMessage] {
	return rapid.Custom(func(t *rapid.T) json.RawMessage { return scenario(t, before(scenario(t, nil))) })
}

func scenario(t *rapid.T, found map[string]string) json.RawMessage {
	hardware := scenarioMachine(t)
	s := map[string]any{"name": "s", "machine": hardware.object, "kubelet": scenarioKubelet(t, hardware.machine)}
	var events []any
	var names []string
	if found != nil {
		events = append(events, map[string]any{"op": "restart", "files": files(t, found)})
	}
	for i := range rapid.IntRange(1, 9).Draw(t, "events") {
		switch kind := rapid.IntRange(0, 19).Draw(t, "event"); {
		case kind < 3 && len(names) > 0:
			events = append(events, map[string]any{"op": "remove", "pod": rapid.SampledFrom(names).Draw(t, "removed")})
		case kind < 5 && i > 0:
			events = append(events, restart(t, &hardware))
		default:
			name := fmt.Sprintf("p%d", i)
			names = append(names, name)
			events = append(events, map[string]any{"op": "add", "pod": scenarioPod(t, name, hardware.machine)})
		}
	}
	s["events"] = events
	data, err := json.Marshal(s)
	if err != nil {
		panic(err) // the generator draws nothing that JSON cannot hold
	}
	return data
}

// files are some of those found, as the restart of a scenario gives them.
func files(t *rapid.T, found map[string]string) map[string]any {
	given := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if rapid.IntRange(0, 5).Draw(t, name) > 0 {
			given[name] = found[name]
		}
	}
	return given
}

// restart draws a restart, in one of four the node has changed by then.
func restart(t *rapid.T, hardware *scenarioHardware) map[string]any {
	e := map[string]any{"op": "restart", "pluginsFirst": rapid.Bool().Draw(t, "plugins first")}
	switch rapid.IntRange(0, 7).Draw(t, "change") {
	case 0:
		e["kubelet"] = scenarioKubelet(t, hardware.machine)
	case 1, 2:
		if changed, ok := repaired(t, hardware.machine); ok {
			*hardware = hardwareOf(t, changed)
			e["machine"] = hardware.object
		}
	case 3:
		name := rapid.SampledFrom([]string{"cpu_manager_state", "memory_manager_state", "kubelet_internal_checkpoint"}).Draw(t, "file")
		content := rapid.SampledFrom([]any{nil, "", "{}", "garbage", `{"policyName":"none","defaultCpuSet":"","checksum":1353318690}`, `{"policyName":"static","defaultCpuSet":"0-3","checksum":1}`}).Draw(t, "content")
		e["files"] = map[string]any{name: content}
	}
	return e
}
