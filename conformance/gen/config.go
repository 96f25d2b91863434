// Package gen generates what a kubelet works on: pods, configurations,
// machines, events and checkpoint files, from the common to the odd.
//
//	doc := gen.Config(6).Draw(t, "config")     // a KubeletConfiguration with up to 6 fields
//	pod := gen.Pod().Draw(t, "pod")
package gen

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
	"pgregory.net/rapid"
)

// Document is a configuration as its author writes it: by JSON names, with
// whatever values.
type Document map[string]any

// JSON is the document's text.
func (d Document) JSON() []byte {
	data, err := json.Marshal(map[string]any(d))
	if err != nil {
		panic(err) // the generator draws nothing that JSON cannot hold
	}
	return data
}

// Config generates KubeletConfigurations with up to max fields of their own.
// Every field of the API may be drawn. Most values are of the right type, and
// about half are in range.
func Config(max int) *rapid.Generator[Document] {
	return rapid.Custom(func(t *rapid.T) Document {
		doc := Document{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
		setFields(t, doc, fields(reflect.TypeFor[kubeletv1beta1.KubeletConfiguration]()), "", max)
		return doc
	})
}

// NodeConfig is Sound of the fields that decide what a node leaves to pods.
func NodeConfig(max int) *rapid.Generator[Document] {
	return rapid.Custom(func(t *rapid.T) Document {
		doc := Document{"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration"}
		all := slices.DeleteFunc(fields(reflect.TypeFor[kubeletv1beta1.KubeletConfiguration]()), func(f field) bool {
			return !slices.Contains(nodeFields(), f.name)
		})
		setFields(t, doc, all, "", max)
		return sound(doc)
	})
}

func nodeFields() []string {
	return []string{
		"systemReserved", "kubeReserved", "evictionHard", "enforceNodeAllocatable", "systemReservedCgroup", "kubeReservedCgroup",
		"reservedSystemCPUs", "cgroupRoot", "cgroupDriver", "cgroupsPerQOS", "maxPods", "podsPerCore", "qosReserved", "featureGates",
		"cpuManagerPolicy", "memoryManagerPolicy", "reservedMemory", "topologyManagerPolicy",
		"topologyManagerScope", "memorySwap", "mergeDefaultEvictionSettings", "localStorageCapacityIsolation", "failCgroupV1",
	}
}

// Sound is Config without the mistakes that a decoder refuses: wrong types.
func Sound(max int) *rapid.Generator[Document] {
	return rapid.Custom(func(t *rapid.T) Document {
		return sound(Config(max).Draw(t, "document"))
	})
}

func sound(doc Document) Document {
	for name, value := range doc {
		if _, bad := value.(wrong); bad {
			delete(doc, name)
		}
	}
	return doc
}

// wrong is a value of a type that no field of the place has.
type wrong struct{ v any }

func (w wrong) MarshalJSON() ([]byte, error) { return json.Marshal(w.v) }

// field is one JSON field of a struct of the API.
type field struct {
	name string
	typ  reflect.Type
}

func fields(typ reflect.Type) []field {
	var out []field
	for f := range typ.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[metav1.TypeMeta]():
		case f.Anonymous && (name == "" || options == "inline"):
			out = append(out, fields(f.Type)...)
		case name != "" && name != "-":
			out = append(out, field{name, f.Type})
		}
	}
	return out
}

func setFields(t *rapid.T, doc map[string]any, all []field, path string, max int) {
	for range rapid.IntRange(0, min(max, len(all))).Draw(t, path+"fields") {
		f := rapid.SampledFrom(all).Draw(t, "field")
		if rapid.IntRange(0, 60).Draw(t, "mistake") == 60 {
			doc[f.name] = wrong{rapid.SampledFrom([]any{nil, "text", 7, -1.5, true, []any{}, []any{1}, map[string]any{}, map[string]any{"a": "b"}}).Draw(t, "wrong")}
			continue
		}
		doc[f.name] = value(t, f.typ, strings.TrimPrefix(path+"."+f.name, "."))
	}
}

// value draws one for the field at path, whose last part names it.
func value(t *rapid.T, typ reflect.Type, path string) any {
	name := path[strings.LastIndex(path, ".")+1:]
	if pool, ok := pools()[path]; ok && rapid.IntRange(0, 9).Draw(t, "pool") > 0 {
		return draw(t, pool, typ)
	}
	switch typ {
	case reflect.TypeFor[metav1.Duration]():
		return rapid.SampledFrom(durations()).Draw(t, name)
	case reflect.TypeFor[metav1.Time]():
		return rapid.SampledFrom([]any{"2026-01-02T03:04:05Z", nil}).Draw(t, name)
	case reflect.TypeFor[resource.QuantityValue](), reflect.TypeFor[resource.Quantity]():
		return rapid.SampledFrom(quantityTexts()).Draw(t, name)
	case reflect.TypeFor[time.Duration]():
		return rapid.SampledFrom([]any{0, 1, 5000000000, -1}).Draw(t, name)
	}
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return rapid.SampledFrom([]any{"5s", 5, "1Gi", "0"}).Draw(t, name)
	}
	return valueOfKind(t, typ, path, name)
}

func valueOfKind(t *rapid.T, typ reflect.Type, path, name string) any {
	switch typ.Kind() {
	case reflect.Pointer:
		return value(t, typ.Elem(), path)
	case reflect.Bool:
		return rapid.Bool().Draw(t, name)
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return rapid.SampledFrom(integers()).Draw(t, name)
	case reflect.Float64, reflect.Float32:
		return rapid.SampledFrom([]float64{0, 0.5, 0.9, 1, 1.1, -0.1, 0.333, 1e-9}).Draw(t, name)
	case reflect.String:
		return rapid.SampledFrom([]string{"", "a", "/abs", "relative/p", "./x", "/a/../b", "ü", "5%", "10"}).Draw(t, name)
	case reflect.Slice:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, name+" length") {
			list = append(list, value(t, typ.Elem(), path))
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, name+" length") {
			key := rapid.SampledFrom(keys(path)).Draw(t, name+" key")
			m[key] = value(t, typ.Elem(), path+"."+key)
		}
		return m
	case reflect.Struct:
		m := map[string]any{}
		setFields(t, m, fields(typ), path, 4)
		return m
	default:
		return nil
	}
}

// draw takes a value of the pool, or a list of them where the field is a list.
func draw(t *rapid.T, pool []any, typ reflect.Type) any {
	if typ.Kind() == reflect.Slice {
		return rapid.SliceOfN(rapid.SampledFrom(pool), 0, 3).Draw(t, "list")
	}
	return rapid.SampledFrom(pool).Draw(t, "value")
}
