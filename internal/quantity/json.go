package quantity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// CheckJSON looks for a quantity that Check refuses in raw, the JSON of a value
// of type t, which no decoder has seen yet. It returns the path of the field;
// text that is no JSON passes, since decoding it fails before any quantity.
func CheckJSON(raw []byte, t reflect.Type) (path string, err error) {
	if !suspicious(raw) {
		return "", nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return "", nil
	}
	return check(value, t)
}

// suspicious tells whether raw has digits and an exponent, or a token longer,
// than Check lets pass: a cheap look that spares nearly all input the walk.
func suspicious(raw []byte) bool {
	digits, exponent := 0, false
	for i, c := range raw {
		switch {
		case c >= '0' && c <= '9':
			if digits++; digits > maxLength/2 || exponent && digits > maxExponentDigits {
				return true
			}
		case c == '.' && digits > 0:
		case (c == '+' || c == '-') && exponent && digits == 0:
		default:
			exponent = (c == 'e' || c == 'E') && i > 0 && (digits > 0 || raw[i-1] == '.')
			digits = 0
		}
	}
	return false
}

func check(value any, t reflect.Type) (string, error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[resource.Quantity]() {
		switch v := value.(type) {
		case string:
			return "", Check(v)
		case json.Number:
			return "", Check(v.String())
		}
		return "", nil
	}
	switch v := value.(type) {
	case []any:
		if t.Kind() != reflect.Slice {
			return "", nil
		}
		for i, item := range v {
			if path, err := check(item, t.Elem()); err != nil {
				return JoinPath(fmt.Sprintf("[%d]", i), path), err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			inner, ok := MemberType(t, name)
			if !ok {
				continue
			}
			if path, err := check(v[name], inner); err != nil {
				return JoinPath(name, path), err
			}
		}
	}
	return "", nil
}

// MemberType is the type of a value under a name: a field of a struct, or the
// element of a map.
func MemberType(t reflect.Type, name string) (reflect.Type, bool) {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), true
	case reflect.Struct:
		return FieldType(t, name)
	}
	return nil, false
}

// FieldType is the type of the field of struct t with that JSON name, those of
// embedded structs included.
func FieldType(t reflect.Type, name string) (reflect.Type, bool) {
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name {
			return f.Type, true
		}
		if f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct {
			if inner, ok := FieldType(f.Type, name); ok {
				return inner, true
			}
		}
	}
	return nil, false
}

// JoinPath puts a field's path below outer, as in spec.containers[0].resources.
func JoinPath(outer, inner string) string {
	if inner == "" || strings.HasPrefix(inner, "[") {
		return outer + inner
	}
	return outer + "." + inner
}
