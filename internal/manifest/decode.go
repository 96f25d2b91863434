package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kqos/kqos/internal/decode"
	"github.com/kqos/kqos/internal/parallel"
	"github.com/kqos/kqos/internal/quantity"
)

// maxListDepth bounds Lists within Lists, each of which is scanned again.
const maxListDepth = 8

// scan takes the text of one file apart and decodes all but what holds pods;
// file is its name in what is told.
func scan(file string, data []byte, o Options) []*decoder {
	raw := data
	data, err := toUTF8(data, o.Static)
	if err != nil {
		return []*decoder{settled(Input{Errors: []*Problem{{File: file, Document: 1, Message: err.Error()}}})}
	}
	units, syntax := begin(file, documents(data, false), o)
	if syntax {
		units, _ = begin(file, documents(data, true), o)
	}
	var in Input
	in.Warnings = passedOver(file, units)
	if o.Static && len(units) > 0 {
		if why := refusedAsStatic(raw); why != "" {
			in.Warnings = append(in.Warnings, &Problem{File: file, Message: "the kubelet would refuse the file: " + why})
		}
	}
	if o.Static && len(units) > 1 {
		in.Warnings = append(in.Warnings, &Problem{File: file, Message: "the kubelet reads only the first document of a static pod file; the others are shown as if each had a file of its own"})
	}
	return append(units, settled(in))
}

// begin decodes every object of the documents that holds no pod; syntax tells
// whether one was no JSON after all.
func begin(file string, docs []document, o Options) (units []*decoder, syntax bool) {
	for _, doc := range docs {
		units = append(units, unitsOf(file, doc, o)...)
	}
	parallel.Each(len(units), func(i int) {
		if d := units[i]; d.holdsPod() {
			d.syntax = !json.Valid(d.raw)
		} else {
			d.run()
		}
	})
	return units, slices.ContainsFunc(units, func(d *decoder) bool { return d.syntax })
}

// settled is a unit that has nothing left to decode.
func settled(in Input) *decoder { return &decoder{found: in, done: true} }

// decoder reads one object: a document or an item of a List.
type decoder struct {
	file   string
	number int
	// item is the path within the document, such as items[3]. or "".
	item string
	// list is what it is an item of, nil for none.
	list   *List
	text   []byte
	raw    []byte
	head   head
	strict bool
	// static keeps a generateName from standing for a name.
	static bool
	// passed is the kind of an object that was left aside.
	passed string
	// syntax is set where raw turns out to be no JSON.
	syntax bool
	// done is set once raw was decoded.
	done  bool
	found Input
}

// unitsOf makes a decoder for the document or, of a List, for each item.
func unitsOf(file string, doc document, o Options) []*decoder {
	d := &decoder{file: file, number: doc.number, text: doc.text, raw: doc.json, strict: o.Strict, static: o.Static}
	for _, key := range doc.repeated {
		d.doubt("", key)
	}
	if doc.err != nil {
		d.fail("", doc.err.Error())
		return []*decoder{d}
	}
	return d.expand(0)
}

// expand scans the object and, where it is a List, its items. Items of a typed
// list, such as the kubelet's /pods, need not say what they are.
func (d *decoder) expand(depth int) []*decoder {
	d.raw = d.raw[skipSpace(d.raw, 0):]
	_, h, ok := scanObject(d.raw)
	if h.kind == "" && d.head.kind != "" {
		h.apiVersion, h.kind = d.head.apiVersion, d.head.kind
	}
	d.head = h
	of, isList := strings.CutSuffix(h.kind, "List")
	if !ok || !isList || h.items == nil {
		return []*decoder{d}
	}
	items, ok := elements(h.items)
	if d.syntax = !ok || !json.Valid(h.withoutItems(d.raw)); d.syntax {
		return []*decoder{d}
	}
	d.raw = nil
	if depth == maxListDepth {
		d.fail("items", fmt.Sprintf("Lists stand in Lists more than %d deep", maxListDepth))
		return []*decoder{d}
	}
	var list *List
	if of != "" {
		list = h.list(len(items))
	}
	all := make([]*decoder, 0, len(items)+1)
	all = append(all, d)
	for i, item := range items {
		unit := &decoder{file: d.file, number: d.number, item: fmt.Sprintf("%sitems[%d].", d.item, i), list: list, text: item, raw: item, strict: d.strict, static: d.static}
		if of != "" {
			unit.head = head{apiVersion: h.apiVersion, kind: of}
		}
		all = append(all, unit.expand(depth+1)...)
	}
	return all
}

// list describes a typed list. Metadata that is none is told with the items.
func (h head) list(items int) *List {
	var meta metav1.ListMeta
	_ = json.Unmarshal(h.metadata, &meta)
	return &List{Kind: h.kind, Items: items, ResourceVersion: meta.ResourceVersion, Continue: meta.Continue}
}

// withoutItems is the List's text with its items cut out.
func (h head) withoutItems(raw []byte) []byte {
	return slices.Concat(raw[:h.itemsAt], []byte("[]"), raw[h.itemsAt+len(h.items):])
}

// holdsPod tells whether the object is of a kind that holds a pod.
func (d *decoder) holdsPod() bool {
	return d.raw != nil && !d.syntax && d.head.envelope == nil && d.head.builtIn() && !slices.Contains(aside(), d.head.kind)
}

// run decodes the object by its kind, once.
func (d *decoder) run() {
	if d.done {
		return
	}
	d.done = true
	switch {
	case d.syntax || d.raw == nil || string(d.raw) == "null" && d.item == "":
		return
	case d.head.envelope != nil:
		d.found.KubeletConfigs = append(d.found.KubeletConfigs, d.document())
		return
	case !d.head.builtIn():
		if d.syntax = !json.Valid(d.raw); !d.syntax {
			d.pass()
		}
		return
	}
	switch d.head.kind {
	case "KubeletConfiguration":
		d.found.KubeletConfigs = append(d.found.KubeletConfigs, d.document())
	case "Machine":
		d.found.Machines = append(d.found.Machines, d.document())
	case "LimitRange":
		d.found.LimitRanges = keep(d, d.found.LimitRanges, &corev1.LimitRange{})
	case "Node":
		d.found.Nodes = keep(d, d.found.Nodes, &corev1.Node{})
	case "RuntimeClass":
		d.found.RuntimeClasses = keep(d, d.found.RuntimeClasses, &nodev1.RuntimeClass{})
	case "PriorityClass":
		d.found.PriorityClasses = keep(d, d.found.PriorityClasses, &schedulingv1.PriorityClass{})
	default:
		if w, _ := d.workload(d.head.kind, d.raw); w != nil {
			d.found.Workloads = append(d.found.Workloads, *w)
		}
	}
}

func keep[T any](d *decoder, list []*T, object *T) []*T {
	if d.decode(d.raw, object) {
		return append(list, object)
	}
	return list
}

func (d *decoder) document() Document { return Document{File: d.file, Number: d.number, Data: d.text} }

// pass leaves an object aside that is of no kind to read, and tells what is not
// even an object or does not say what it is.
func (d *decoder) pass() {
	known := versions(d.head.kind)
	switch {
	case len(d.raw) == 0 || d.raw[0] != '{':
		d.fail("", "is no object: a manifest is a mapping with apiVersion and kind"+templateHint(d.text))
	case d.head.kind == "":
		d.fail("kind", "is missing: say what the object is, such as Pod")
	case d.head.apiVersion == "":
		d.fail("apiVersion", fmt.Sprintf("is missing: kind %s is in %s", d.head.kind, strings.Join(append(known, "an API group"), " or ")))
	case known != nil:
		d.doubt("", fmt.Sprintf("kind %s is read in %s, not in %s, passed over", d.head.kind, strings.Join(known, ", "), d.head.apiVersion))
	case d.strict:
		d.doubt("", fmt.Sprintf("kind %s of %s holds no pod that kqos reads", d.head.kind, d.head.apiVersion))
	default:
		d.passed = d.head.kind
	}
}

// passedOver puts the kinds that were left aside into one warning.
func passedOver(file string, units []*decoder) []*Problem {
	count := map[string]int{}
	for _, u := range units {
		if u.passed != "" {
			count[u.passed]++
		}
	}
	if len(count) == 0 {
		return nil
	}
	var words []string
	for _, kind := range slices.Sorted(maps.Keys(count)) {
		if n := count[kind]; n > 1 {
			kind = fmt.Sprintf("%d %s", n, kind)
		}
		words = append(words, kind)
	}
	return []*Problem{{File: file, Message: "passed over, holding no pod that kqos reads: " + strings.Join(words, ", ")}}
}

// decode reads raw leniently, as the API server does by default: what it does
// not know is told and dropped, a wrong type is an error.
func (d *decoder) decode(raw []byte, into any) bool {
	if path, err := quantity.CheckJSON(raw, reflect.TypeOf(into)); err != nil {
		d.fail(path, err.Error())
		return false
	}
	strict, err := kjson.UnmarshalStrict(raw, into)
	if isSyntax, _ := kjson.SyntaxErrorOffset(err); isSyntax {
		d.syntax = true
	}
	if err != nil {
		path, why := decode.Explain(raw, reflect.TypeOf(into), err)
		d.fail(path, why.Error())
		return false
	}
	ok := true
	for _, e := range strict {
		path, message := "", e.Error()
		if f := kjson.FieldError(nil); errors.As(e, &f) {
			path = f.FieldPath()
			message = strings.TrimSuffix(message, fmt.Sprintf(" %q", path))
		}
		if gone(path) {
			continue
		}
		switch message {
		case "unknown field":
			message = "unknown field, dropped as the API server does"
		case "duplicate field":
			message = "stands twice, the last one counts"
		}
		d.doubt(path, message)
		ok = ok && !d.strict
	}
	return ok
}

func (d *decoder) fail(path, message string) {
	d.found.Errors = append(d.found.Errors, d.problem(path, message))
}

// doubt warns, or fails where inputs are read strictly.
func (d *decoder) doubt(path, message string) {
	if d.strict {
		d.fail(path, message+" (--strict)")
		return
	}
	d.found.Warnings = append(d.found.Warnings, d.problem(path, message))
}

func (d *decoder) problem(path, message string) *Problem {
	return &Problem{File: d.file, Document: d.number, Path: strings.TrimSuffix(d.item+path, "."), Message: message}
}
