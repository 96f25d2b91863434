package simulate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/decode"
	"github.com/kqos/kqos/internal/machine"
	"github.com/kqos/kqos/internal/quantity"
)

// Operations of an event.
const (
	OpAdd     = "add"
	OpRemove  = "remove"
	OpRestart = "restart"
	// OpReadmit is the admission of an active pod in a restart, in results only.
	OpReadmit = "readmit"
)

// Scenario is a node and what happens on it.
type Scenario struct {
	Name    string
	Machine *Hardware
	// Kubelet is a KubeletConfiguration in JSON; apiVersion and kind may be
	// absent. Empty means the kubelet's defaults.
	Kubelet json.RawMessage
	Events  []Event
}

// LastMachine is the machine after all events.
func (s *Scenario) LastMachine() *machine.Machine {
	last := s.Machine
	for _, e := range s.Events {
		if e.Machine != nil {
			last = e.Machine
		}
	}
	return last.Machine
}

// Hardware is a machine with what its device plugins can.
type Hardware struct {
	*machine.Machine
	// Preferred are the resources whose plugin answers GetPreferredAllocation.
	Preferred []string
}

// Event is one step of a scenario.
type Event struct {
	Op string
	// Pod is admitted by OpAdd. PodName is its name, or that of the pod that
	// OpRemove ends.
	Pod     *corev1.Pod
	PodName string
	// Kubelet, Machine and Files replace those of the node at OpRestart; absent
	// ones stay. A file that is nil is deleted.
	Kubelet json.RawMessage
	Machine *Hardware
	Files   map[string]*string
	// PluginsFirst lets device plugins register before the pods are admitted
	// again.
	PluginsFirst bool
}

// ReadScenarios reads a file of one scenario, an array of them, or a golden set
// with shared machines, in YAML or JSON. list is false for a single one. A
// scenario that cannot be read costs only itself: its place in the list is nil
// and the joined error names it.
func ReadScenarios(data []byte) (scenarios []*Scenario, list bool, err error) {
	if data, err = asJSON(data); err != nil {
		return nil, false, err
	}
	if bytes.HasPrefix(data, []byte("[")) {
		var raw []json.RawMessage
		if err := json.Unmarshal(data, &raw); err != nil {
			return nil, true, err
		}
		return readAll(raw, machines{})
	}
	var set struct {
		Cases []struct {
			Scenario json.RawMessage `json:"scenario"`
		} `json:"cases"`
		Machines map[string]json.RawMessage `json:"machines"`
	}
	if !bytes.HasPrefix(data, []byte("{")) {
		return nil, false, errors.New("is no scenario: give an object with machine, kubelet and events, an array of them, or a set with cases")
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, false, err
	}
	if set.Cases == nil {
		s, err := readScenario(data, machines{})
		return []*Scenario{s}, false, err
	}
	raw := make([]json.RawMessage, len(set.Cases))
	for i, c := range set.Cases {
		if raw[i] = c.Scenario; raw[i] == nil {
			return nil, true, fmt.Errorf("cases[%d]: no scenario", i)
		}
	}
	return readAll(raw, machines{raw: set.Machines, read: map[string]*Hardware{}})
}

// asJSON leaves JSON as it is: the YAML reader is many times slower.
func asJSON(data []byte) ([]byte, error) {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if len(data) == 0 {
		return nil, errors.New("the file is empty: give a scenario, an array of scenarios or a set with cases")
	}
	if json.Valid(data) {
		return data, nil
	}
	object, err := yaml.YAMLToJSONStrict(data)
	if err != nil {
		return nil, fmt.Errorf("neither JSON nor YAML: %w", err)
	}
	return object, nil
}

func readAll(raw []json.RawMessage, shared machines) ([]*Scenario, bool, error) {
	scenarios := make([]*Scenario, len(raw))
	var errs []error
	for i, r := range raw {
		s, err := readScenario(r, shared)
		if err != nil {
			errs = append(errs, fmt.Errorf("scenario %d: %w", i+1, err))
			continue
		}
		scenarios[i] = s
	}
	return scenarios, true, errors.Join(errs...)
}

// scenarioFile and eventFile are the written form.
type scenarioFile struct {
	Name    string          `json:"name"`
	Machine json.RawMessage `json:"machine"`
	Kubelet json.RawMessage `json:"kubelet,omitempty"`
	Events  []eventFile     `json:"events"`
}

type eventFile struct {
	Op           string             `json:"op"`
	Pod          json.RawMessage    `json:"pod,omitempty"`
	Kubelet      json.RawMessage    `json:"kubelet,omitempty"`
	Machine      json.RawMessage    `json:"machine,omitempty"`
	Files        map[string]*string `json:"files,omitempty"`
	PluginsFirst bool               `json:"pluginsFirst,omitempty"`
}

func readScenario(raw json.RawMessage, shared machines) (*Scenario, error) {
	var file scenarioFile
	if err := strict(raw, &file); err != nil {
		return nil, err
	}
	s := &Scenario{Name: file.Name, Kubelet: file.Kubelet, Events: make([]Event, len(file.Events))}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s: %w", s.Name, fmt.Errorf(format, args...))
	}
	if file.Machine == nil {
		return nil, fail("machine: missing; give the object or the name of one of the set's machines")
	}
	var err error
	if s.Machine, err = shared.get(file.Machine); err != nil {
		return nil, fail("machine: %w", err)
	}
	for i, f := range file.Events {
		if s.Events[i], err = readEvent(f, shared); err != nil {
			return nil, fail("events[%d]: %w", i, err)
		}
	}
	if err := s.check(); err != nil {
		return nil, fail("%w", err)
	}
	return s, nil
}

func readEvent(f eventFile, shared machines) (Event, error) {
	e := Event{Op: f.Op, Kubelet: f.Kubelet, Files: f.Files, PluginsFirst: f.PluginsFirst}
	switch f.Op {
	case OpAdd:
		if f.Pod == nil {
			return e, errors.New("pod: missing; give a Pod object")
		}
		e.Pod = &corev1.Pod{}
		if err := strict(f.Pod, e.Pod); err != nil {
			return e, fmt.Errorf("pod: %w", err)
		}
		e.PodName = e.Pod.Name
	case OpRemove:
		if err := json.Unmarshal(f.Pod, &e.PodName); err != nil {
			return e, errors.New("pod: give the name of the pod that ends")
		}
	case OpRestart:
		if f.Machine != nil {
			var err error
			if e.Machine, err = shared.get(f.Machine); err != nil {
				return e, fmt.Errorf("machine: %w", err)
			}
		}
	default:
		return e, fmt.Errorf("op %q: must be %s, %s or %s", f.Op, OpAdd, OpRemove, OpRestart)
	}
	return e, nil
}

// strict reads JSON and refuses fields that the value does not have.
func strict(data []byte, value any) error {
	if path, err := quantity.CheckJSON(data, reflect.TypeOf(value)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	unknown, err := strictjson.UnmarshalStrict(data, value)
	if err != nil {
		path, why := decode.Explain(data, reflect.TypeOf(value), err)
		if path == "" {
			return why
		}
		return fmt.Errorf("%s: %w", path, why)
	}
	return errors.Join(unknown...)
}

// machines are those that scenarios of a set share.
type machines struct {
	raw  map[string]json.RawMessage
	read map[string]*Hardware
}

// get resolves a name or reads the object itself.
func (m machines) get(raw json.RawMessage) (*Hardware, error) {
	var name string
	if json.Unmarshal(raw, &name) != nil {
		return readHardware(raw)
	}
	if h := m.read[name]; h != nil {
		return h, nil
	}
	object, ok := m.raw[name]
	if !ok {
		return nil, fmt.Errorf("%q is not among the set's machines", name)
	}
	h, err := readHardware(object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	m.read[name] = h
	return h, nil
}

func readHardware(raw json.RawMessage) (*Hardware, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, errors.New("must be an object or a name")
	}
	h := &Hardware{}
	if preferred, ok := fields["preferred"]; ok {
		if err := json.Unmarshal(preferred, &h.Preferred); err != nil {
			return nil, fmt.Errorf("preferred: %w", err)
		}
		delete(fields, "preferred")
	}
	object, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	m, unknown, err := machine.ParseSnapshot(object)
	if err = errors.Join(errors.Join(unknown...), err); err != nil {
		return nil, err
	}
	// Scenarios give the memory of the nodes only; the kubelet takes percentages
	// of the total.
	if m.Memory == 0 {
		for _, n := range m.NUMA {
			m.Memory += n.Memory
		}
	}
	h.Machine = m
	return h, nil
}
