package machine

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Limits of an XML file. The deepest export known nests 20 objects.
const (
	maxXMLDepth   = 200
	maxXMLObjects = 1 << 20
)

// object is one object of hwloc's tree, with what it stands in.
type object struct {
	parent *object
	attr   map[string]string
	kind   string
	// pages are huge pages of a NUMA node by size in bytes.
	pages map[int64]int64
	names []string // of the operating system's devices below a PCI device
}

// parseHwloc reads the XML that lstopo exports, of hwloc 1, 2 and 3. Own
// entities are not expanded: the decoder refuses them.
func parseHwloc(data []byte) (*Machine, error) {
	r := hwlocReader{decoder: xml.NewDecoder(bytes.NewReader(data))}
	if err := r.read(); err != nil {
		return nil, fmt.Errorf("reading hwloc XML: %w", err)
	}
	m, err := r.machine()
	if err != nil {
		return nil, fmt.Errorf("reading hwloc XML: %w", err)
	}
	return m, m.finish()
}

// hwlocReader collects objects as the decoder meets them.
type hwlocReader struct {
	decoder *xml.Decoder
	root    *object
	objects []*object
	matrix  distances
	kinds   []coreKind
	topo    bool
}

func (r *hwlocReader) read() error {
	var at *object
	depth := 0
	for {
		token, err := r.decoder.Token()
		if errors.Is(err, io.EOF) && r.root != nil && depth == 0 {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return errors.New("no topology in it")
		}
		if err != nil {
			return err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if name := e.Name.Local; r.matrix.reading && (name == "indexes" || name == "u64values") {
				if err := r.numbers(name, e); err != nil {
					return err
				}
				continue
			}
			if depth++; depth > maxXMLDepth || len(r.objects) > maxXMLObjects {
				return fmt.Errorf("more than %d elements in one another, or more than %d objects", maxXMLDepth, maxXMLObjects)
			}
			if at, err = r.start(e, at); err != nil {
				return err
			}
		case xml.EndElement:
			depth--
			switch e.Name.Local {
			case "object":
				at = at.parent
			case "distances2":
				r.matrix.reading = false
			}
		}
	}
}

func (r *hwlocReader) start(e xml.StartElement, at *object) (*object, error) {
	attr := map[string]string{}
	for _, a := range e.Attr {
		attr[a.Name.Local] = a.Value
	}
	switch name := e.Name.Local; {
	case name == "topology":
		r.topo = true
	case name == "object" && r.topo:
		o := &object{parent: at, attr: attr, kind: attr["type"]}
		if r.root == nil {
			r.root = o
		}
		if o.kind == "OSDev" {
			for p := at; p != nil; p = p.parent {
				if p.kind == "PCIDev" && attr["name"] != "" {
					p.names = append(p.names, attr["name"])
					break
				}
			}
		}
		r.objects = append(r.objects, o)
		return o, nil
	case name == "page_type" && at != nil:
		size, err1 := strconv.ParseInt(attr["size"], 10, 64)
		count, err2 := strconv.ParseInt(attr["count"], 10, 64)
		if err1 == nil && err2 == nil && size > 0 && count >= 0 {
			if at.pages == nil {
				at.pages = map[int64]int64{}
			}
			at.pages[size] = count
		}
	case name == "cpukind":
		r.kinds = append(r.kinds, coreKind{cpuset: attr["cpuset"]})
	case name == "info" && at == nil && len(r.kinds) > 0 && attr["name"] == "CoreType":
		r.kinds[len(r.kinds)-1].name = attr["value"]
	case name == "distances2":
		r.matrix.reading = attr["type"] == "NUMANode" && attr["indexing"] == "os" &&
			isLatency(attr) && len(r.matrix.values) == 0
	case !r.topo:
		return nil, errors.New("not an export of hwloc: no topology element")
	}
	return at, nil
}

// index is the kernel's number of the object.
func (o *object) index() (int, bool) {
	n, err := strconv.ParseUint(o.attr["os_index"], 10, 31)
	return int(n), err == nil
}

func (o *object) size(name string) int64 {
	n, err := strconv.ParseUint(o.attr[name], 10, 62)
	if err != nil {
		return 0
	}
	return int64(n)
}

// above is the nearest object of one of the kinds that the object stands in.
func (o *object) above(kinds ...string) *object {
	for p := o.parent; p != nil; p = p.parent {
		if slices.Contains(kinds, p.kind) {
			return p
		}
	}
	return nil
}

// parseBitmap reads hwloc's sets: words of 32 bits, the highest first, an empty
// one being 0. An infinite set, which begins with 0xf...f, is no set of CPUs.
func parseBitmap(text string) ([]int, error) {
	words := strings.Split(text, ",")
	for i, w := range words {
		if words[i] = strings.TrimPrefix(w, "0x"); words[i] == "" {
			words[i] = "0"
		}
	}
	return parseMask(strings.Join(words, ","))
}
