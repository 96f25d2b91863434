package machine

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kqos/kqos/internal/quantity"
)

// NodeResourceTopology objects that exporters publish for the scheduler.
// github.com/k8stopologyawareschedwg/noderesourcetopology-api
const (
	nrtAPIVersion = "topology.node.k8s.io/v1alpha2"
	nrtKind       = "NodeResourceTopology"
	nrtZoneType   = "Node"
	// nrtCPUs is a zone's attribute in which kqos tells what the object has no
	// field for: CPUs as "id:core:socket:llc".
	nrtCPUs = "kqos.io/cpus"
)

// NodeResourceTopology is the object of that API.
type NodeResourceTopology struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// TopologyPolicies is v1alpha1's form of Attributes.
	TopologyPolicies []string       `json:"topologyPolicies,omitempty"`
	Attributes       []NRTAttribute `json:"attributes,omitempty"`
	Zones            []NRTZone      `json:"zones"`
}

// NRTAttribute is a name with a value.
type NRTAttribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// NRTZone is a NUMA node.
type NRTZone struct {
	Name       string         `json:"name"`
	Type       string         `json:"type"`
	Parent     string         `json:"parent,omitempty"`
	Costs      []NRTCost      `json:"costs,omitempty"`
	Attributes []NRTAttribute `json:"attributes,omitempty"`
	Resources  []NRTResource  `json:"resources,omitempty"`
}

// NRTCost is the distance to another zone.
type NRTCost struct {
	Name  string `json:"name"`
	Value int64  `json:"value"`
}

// NRTResource is an amount of a resource; v1alpha1 wrote whole numbers too.
type NRTResource struct {
	Name        string             `json:"name"`
	Capacity    intstr.IntOrString `json:"capacity"`
	Allocatable intstr.IntOrString `json:"allocatable"`
	Available   intstr.IntOrString `json:"available"`
}

func parseNRTList(data []byte) (*Machine, error) {
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("reading a list: %w", err)
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("a list of %d objects: a machine is one", len(list.Items))
	}
	return parseObject(list.Items[0])
}

// parseNRT rebuilds a machine of the amounts of each zone. The object tells how
// many CPUs a node has, not which: unless kqos wrote it, they are numbered one
// node after the other, a core each.
func parseNRT(data []byte) (*Machine, error) {
	var object NodeResourceTopology
	if err := json.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("reading a NodeResourceTopology: %w", err)
	}
	m := &Machine{}
	ids := map[string]int{}
	for i, z := range object.Zones {
		id, ok := zoneID(z.Name)
		if !ok {
			return nil, fmt.Errorf("reading a NodeResourceTopology: zones[%d].name: %q does not end in a node's number, such as node-0", i, z.Name)
		}
		ids[z.Name] = id
	}
	for i, z := range object.Zones {
		node := Node{ID: ids[z.Name]}
		for _, other := range object.Zones {
			for _, c := range z.Costs {
				if c.Name == other.Name && c.Value > 0 && c.Value <= maxID {
					node.Distances = append(node.Distances, int(c.Value))
				}
			}
		}
		if len(node.Distances) != len(object.Zones) {
			node.Distances = nil
		}
		if err := m.addZone(&node, z); err != nil {
			return nil, fmt.Errorf("reading a NodeResourceTopology: zones[%d]%w", i, err)
		}
		m.NUMA = append(m.NUMA, node)
	}
	m.sumMemory("a NodeResourceTopology")
	if err := m.finish(); err != nil {
		return nil, fmt.Errorf("reading a NodeResourceTopology: %w", err)
	}
	return m, nil
}

// zoneID is the number at the end of a zone's name.
func zoneID(name string) (int, bool) {
	digits := name[len(strings.TrimRight(name, "0123456789")):]
	id, err := parseID(digits)
	return id, err == nil
}

func (m *Machine) addZone(node *Node, z NRTZone) error {
	for i, r := range z.Resources {
		amount := r.Capacity.String()
		if amount == "" || amount == "0" {
			amount = r.Allocatable.String()
		}
		q, err := quantity.Parse(amount)
		if err != nil || q.Sign() < 0 {
			return fmt.Errorf(".resources[%d].capacity: %q is not an amount", i, amount)
		}
		switch size, huge := strings.CutPrefix(r.Name, "hugepages-"); {
		case r.Name == "cpu":
			if err := m.addZoneCPUs(node.ID, z, q.Value()); err != nil {
				return err
			}
		case r.Name == "memory":
			node.Memory = q.Value()
		case huge:
			page, err := quantity.Parse(size)
			if err != nil || page.Sign() <= 0 {
				return fmt.Errorf(".resources[%d].name: %q is not a page size", i, size)
			}
			if node.HugePages == nil {
				node.HugePages = map[string]int64{}
			}
			node.HugePages[size] = q.Value() / page.Value()
		default:
			if q.CmpInt64(maxID) > 0 {
				return fmt.Errorf(".resources[%d].capacity: %s of %s are more than a node can hold", i, amount, r.Name)
			}
			for n := range q.Value() {
				m.Devices = append(m.Devices, Device{Resource: r.Name, ID: fmt.Sprintf("%s-%d", z.Name, n), NUMA: []int{node.ID}, Healthy: true})
			}
		}
	}
	return nil
}

func (m *Machine) addZoneCPUs(numa int, z NRTZone, count int64) error {
	for _, a := range z.Attributes {
		if a.Name == nrtCPUs {
			return m.addListedCPUs(numa, a.Value)
		}
	}
	if count > maxID-int64(len(m.CPUs)) {
		return fmt.Errorf(".resources: %d CPUs are more than a node can hold", count)
	}
	m.assume("CPUs numbered one NUMA node after the other, each a core, each node a socket: a NodeResourceTopology tells only how many there are")
	for i := range int(count) {
		m.CPUs = append(m.CPUs, CPU{ID: len(m.CPUs), Core: i, Socket: numa, NUMA: numa, LLC: numa, Online: true})
	}
	return nil
}

// addListedCPUs reads the attribute that kqos writes.
func (m *Machine) addListedCPUs(numa int, text string) error {
	for word := range strings.FieldsSeq(text) {
		c := CPU{NUMA: numa, Online: true}
		parts := strings.Split(word, ":")
		fields := []*int{&c.ID, &c.Core, &c.Socket, &c.LLC}
		err := errors.New("not id:core:socket:llc")
		if len(parts) == len(fields) {
			for i, p := range parts {
				if *fields[i], err = strconv.Atoi(p); err != nil {
					break
				}
			}
		}
		if err != nil {
			return fmt.Errorf(".attributes: %s: %q: %w", nrtCPUs, word, err)
		}
		m.CPUs = append(m.CPUs, c)
	}
	return nil
}
