// Package decode says of JSON that does not fit a type where it does not, in the
// words of who wrote it: no offset, no type of Go.
//
//	path, err := decode.Explain(text, reflect.TypeFor[corev1.Pod](), failed)
//	// spec.hostNetwork, is text, must be true or false
package decode

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
	kjson "sigs.k8s.io/json"

	"github.com/kqos/kqos/internal/quantity"
)

const (
	// maxSearched bounds the text in which a field is searched, in bytes: the search
	// decodes every level again.
	maxSearched = 1 << 20
	// maxShown bounds the text of a quantity that an error repeats, in bytes.
	maxShown = 64
)

// Explain finds the innermost field of raw that can't be decoded into a value of
// type t, after decoding the whole failed with that error. The path is empty
// where no single field is at fault.
func Explain(raw []byte, t reflect.Type, failed error) (path string, err error) {
	path, inner := locate(raw, t)
	if inner == nil {
		inner = failed
	}
	return path, errors.New(reword(inner))
}

func locate(raw []byte, t reflect.Type) (path string, err error) {
	if err = decodeAs(raw, t); err == nil || len(raw) > maxSearched {
		return "", err
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[resource.Quantity]() && len(raw) <= maxShown {
		return "", fmt.Errorf("%s: %w", raw, err)
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		members := map[string]text{}
		if kjson.UnmarshalCaseSensitivePreserveInts(raw, &members) != nil {
			return "", err
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if member, ok := quantity.MemberType(t, name); ok {
				if inner, e := locate(members[name].raw, member); e != nil {
					return quantity.JoinPath(name, inner), e
				}
			}
		}
	case reflect.Slice:
		var list []text
		if kjson.UnmarshalCaseSensitivePreserveInts(raw, &list) != nil {
			return "", err
		}
		for i := range list {
			if inner, e := locate(list[i].raw, t.Elem()); e != nil {
				return quantity.JoinPath(fmt.Sprintf("[%d]", i), inner), e
			}
		}
	}
	return "", err
}

// text keeps the text of one member.
type text struct{ raw []byte }

// UnmarshalJSON copies the text.
func (k *text) UnmarshalJSON(data []byte) error {
	k.raw = slices.Clone(data)
	return nil
}

func decodeAs(raw []byte, t reflect.Type) error {
	return kjson.UnmarshalCaseSensitivePreserveInts(raw, reflect.New(t).Interface())
}
