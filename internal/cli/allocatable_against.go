package cli

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/kqos/kqos/internal/allocatable"
	"github.com/kqos/kqos/internal/input"
	"github.com/kqos/kqos/internal/kubelet"
	quantities "github.com/kqos/kqos/internal/quantity"
)

// comparison is a NodeAllocatable beside another.
type comparison struct {
	*nodeAllocatable
	Against otherAllocatable `json:"against"`
	// Moved are the terms that differ; Before is without --against's, After with.
	Moved []movedTerm `json:"moved"`
	// ChangedFiles are enforced control files that differ.
	ChangedFiles []changedFile `json:"changedFiles"`
	// InvalidState are checkpoint files that the change would make invalid.
	InvalidState []kubelet.InvalidState `json:"invalidState"`
}

type otherAllocatable struct {
	Source      string              `json:"source"`
	Capacity    corev1.ResourceList `json:"capacity"`
	Allocatable corev1.ResourceList `json:"allocatable"`
	Terms       []allocatable.Term  `json:"terms,omitempty"`
	// Errors keep a kubelet with the other configuration from starting.
	Errors []kubelet.Finding `json:"errors,omitempty"`
}

// movedTerm is a term, the capacity or the allocatable of a resource that
// differs. Nil is absent.
type movedTerm struct {
	Resource corev1.ResourceName `json:"resource"`
	Name     string              `json:"name"`
	Before   *resource.Quantity  `json:"before"`
	After    *resource.Quantity  `json:"after"`
}

type changedFile struct {
	Path   string `json:"path"`
	File   string `json:"file"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// compare puts the result beside another configuration's, or beside what a Node
// object reports.
func (o *allocatableOptions) compare(a *app, n *node, result *nodeAllocatable) error {
	c := comparison{nodeAllocatable: result, Moved: []movedTerm{}, ChangedFiles: []changedFile{}, InvalidState: []kubelet.InvalidState{}}
	if o.other.node != nil {
		c.againstNode(o.against, o.other.node)
	} else {
		other := *n
		var err error
		if other.config, err = o.otherConfig(n.config.Gates.Minor); err != nil {
			return o.showRefusal(a, err)
		}
		c.againstConfig(n, &other)
		c.Against.Errors, _ = startFindings(&other)
	}
	if err := o.out.print(a, comparisonView(&c)); err != nil {
		return err
	}
	if len(c.Against.Errors) > 0 {
		return refusal(o.against, c.Against.Errors)
	}
	if len(c.Moved)+len(c.ChangedFiles)+len(c.InvalidState) > 0 {
		return errFound
	}
	return nil
}

// otherConfig reads the configuration of --against.
func (o *allocatableOptions) otherConfig(minor kubelet.Minor) (*kubelet.Config, error) {
	gates, err := kubelet.ParseGates(o.node.featureGates)
	if err != nil {
		return nil, fmt.Errorf("--feature-gates: %w", err)
	}
	return kubelet.Load(kubelet.LoadOptions{File: o.against, Data: o.other.data, Gates: gates, Minor: minor})
}

// otherSource is what --against names, read once: it may be a pipe.
type otherSource struct {
	data []byte
	// node is nil if the file holds something else.
	node *corev1.Node
}

// readOther reads the file of --against. A Node tells the version of its kubelet,
// too.
func (o *allocatableOptions) readOther() (err error) {
	if o.against == "" {
		return nil
	}
	if o.other.data, err = input.File(o.against, input.Config); err != nil {
		return fmt.Errorf("reading --against: %w", err)
	}
	if o.other.node, err = readNodeObject(o.against, o.other.data); o.other.node != nil {
		o.node.nodes = append(o.node.nodes, o.other.node)
	}
	return err
}

// readNodeObject reads a Node, alone or in a List, as kubectl prints it; nil if
// the file holds something else.
func readNodeObject(file string, data []byte) (*corev1.Node, error) {
	type nodeOrList struct {
		corev1.Node
		Items []corev1.Node `json:"items"`
	}
	if err := quantities.CheckYAML(data, reflect.TypeFor[nodeOrList]()); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var list struct {
		Kind  string        `json:"kind"`
		Items []corev1.Node `json:"items"`
	}
	// What is no YAML at all, loading it as a configuration tells.
	if err := yaml.Unmarshal(data, &list); err != nil {
		return nil, nil
	}
	switch {
	case list.Kind == "List" && len(list.Items) == 1 && list.Items[0].Kind == "Node":
		return &list.Items[0], nil
	case list.Kind == "List":
		return nil, fmt.Errorf("%s: holds %d objects: name a file with one Node", file, len(list.Items))
	case list.Kind != "Node":
		return nil, nil
	}
	var object corev1.Node
	if err := yaml.Unmarshal(data, &object); err != nil {
		return nil, fmt.Errorf("%s: reading the Node: %w", file, err)
	}
	return &object, nil
}

// againstNode compares what the node's kubelet reports. What either side does
// not know, such as extended resources, is passed over.
func (c *comparison) againstNode(source string, object *corev1.Node) {
	c.Against = otherAllocatable{Source: source, Capacity: object.Status.Capacity, Allocatable: object.Status.Allocatable}
	for _, name := range resourceOrder(c.Capacity) {
		c.move(name, "capacity", c.Capacity, object.Status.Capacity, true)
		c.move(name, "allocatable", c.Allocatable, object.Status.Allocatable, true)
	}
}

// move notes a resource whose amount differs.
func (c *comparison) move(name corev1.ResourceName, what string, before, after corev1.ResourceList, both bool) {
	b, hasBefore := before[name]
	f, hasAfter := after[name]
	if both && (!hasBefore || !hasAfter) || hasBefore == hasAfter && b.Cmp(f) == 0 {
		return
	}
	m := movedTerm{Resource: name, Name: what}
	if hasBefore {
		m.Before = &b
	}
	if hasAfter {
		m.After = &f
	}
	c.Moved = append(c.Moved, m)
}

// againstConfig compares term by term. A threshold that changed its value is one
// term that moved.
func (c *comparison) againstConfig(n, other *node) {
	o := newNodeAllocatable(other)
	c.Against = otherAllocatable{Source: o.Config, Capacity: o.Capacity, Allocatable: o.Allocatable, Terms: o.Terms}
	before, after := termsByName(c.Terms), termsByName(o.Terms)
	resources := maps.Clone(c.Capacity)
	maps.Copy(resources, o.Capacity)
	for _, name := range resourceOrder(resources) {
		terms := map[string]resource.Quantity{}
		maps.Copy(terms, before[name])
		maps.Copy(terms, after[name])
		for _, term := range slices.Sorted(maps.Keys(terms)) {
			one := func(m map[string]resource.Quantity) corev1.ResourceList {
				if q, ok := m[term]; ok {
					return corev1.ResourceList{name: q}
				}
				return nil
			}
			c.move(name, term, one(before[name]), one(after[name]), false)
		}
		c.move(name, "allocatable", c.Allocatable, o.Allocatable, false)
	}
	c.ChangedFiles = append(c.ChangedFiles, changedFiles(c.Enforced, o.Enforced)...)
	c.InvalidState = append(c.InvalidState, kubelet.InvalidStates(n.config, other.config, n.reservedCPUs(), other.reservedCPUs())...)
}

// termsByName keys the terms of each resource by their name, thresholds without
// their value.
func termsByName(terms []allocatable.Term) map[corev1.ResourceName]map[string]resource.Quantity {
	byName := map[corev1.ResourceName]map[string]resource.Quantity{}
	for _, t := range terms {
		if byName[t.Resource] == nil {
			byName[t.Resource] = map[string]resource.Quantity{}
		}
		name, _, _ := strings.Cut(t.Name, "<")
		sum := byName[t.Resource][name]
		sum.Add(t.Amount)
		byName[t.Resource][name] = sum
	}
	return byName
}

func changedFiles(before, after []enforcedCgroup) []changedFile {
	flat := func(list []enforcedCgroup) map[[2]string]string {
		files := map[[2]string]string{}
		for _, c := range list {
			for file, value := range c.Files {
				files[[2]string{c.Path, file}] = value
			}
		}
		return files
	}
	b, a := flat(before), flat(after)
	keys := maps.Clone(b)
	maps.Copy(keys, a)
	var changed []changedFile
	for _, k := range slices.SortedFunc(maps.Keys(keys), func(x, y [2]string) int {
		return strings.Compare(x[0]+"\x00"+x[1], y[0]+"\x00"+y[1])
	}) {
		if b[k] != a[k] {
			changed = append(changed, changedFile{Path: k[0], File: k[1], Before: b[k], After: a[k]})
		}
	}
	return changed
}
