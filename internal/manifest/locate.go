package manifest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"

	"github.com/kqos/kqos/internal/quantity"
)

// maxLocate bounds the document in which a failing field is searched: the
// search decodes every level again.
const maxLocate = 1 << 20

// maxShown bounds the text of a quantity that an error repeats, in bytes.
const maxShown = 64

// locate finds the innermost field of raw that can't be decoded into a value of
// type t, with the reason; the path is empty where no single field is at fault.
func locate(raw []byte, t reflect.Type) (path string, err error) {
	if err = decodeAs(raw, t); err == nil || len(raw) > maxLocate {
		return "", err
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[resource.Quantity]() && len(raw) <= maxShown {
		return "", fmt.Errorf("%s: %w", raw, err)
	}
	switch t.Kind() {
	case reflect.Struct:
		fields := map[string]keyed{}
		if kjson.UnmarshalCaseSensitivePreserveInts(raw, &fields) != nil {
			return "", err
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if field, ok := quantity.FieldType(t, name); ok {
				if inner, e := locate(fields[name].raw, field); e != nil {
					return quantity.JoinPath(name, inner), e
				}
			}
		}
	case reflect.Map:
		values := map[string]keyed{}
		if kjson.UnmarshalCaseSensitivePreserveInts(raw, &values) != nil {
			return "", err
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			if inner, e := locate(values[key].raw, t.Elem()); e != nil {
				return quantity.JoinPath(key, inner), e
			}
		}
	case reflect.Slice:
		list, _ := elements(raw)
		for i := range list {
			if inner, e := locate(list[i], t.Elem()); e != nil {
				return quantity.JoinPath(fmt.Sprintf("[%d]", i), inner), e
			}
		}
	}
	return "", err
}

// keyed keeps the text of one member.
type keyed struct{ raw []byte }

// UnmarshalJSON copies the text.
func (k *keyed) UnmarshalJSON(data []byte) error {
	k.raw = slices.Clone(data)
	return nil
}

func decodeAs(raw []byte, t reflect.Type) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, reflect.New(t).Interface())
}
