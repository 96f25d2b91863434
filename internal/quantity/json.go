package quantity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

// CheckJSON looks for a quantity that Check refuses in raw, the JSON of a value
// of type t, which no decoder has seen yet. It returns the path of the field;
// text that is no JSON passes, since decoding it fails before any quantity.
func CheckJSON(raw []byte, t reflect.Type) (path string, err error) {
	if !suspicious(raw) || !json.Valid(raw) {
		return "", nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return check(d, t)
}

// CheckYAML is CheckJSON of YAML or JSON, with the field in the error.
func CheckYAML(text []byte, t reflect.Type) error {
	raw, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil //nolint:nilerr // decoding it tells
	}
	path, err := CheckJSON(raw, t)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
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

// check looks at the next value of d. It goes by tokens since decoders read all
// values of a name that stands twice, and some mind no case of names.
func check(d *json.Decoder, t reflect.Type) (path string, err error) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	token, err := d.Token()
	if err != nil {
		return "", err
	}
	switch v := token.(type) {
	case string:
		return "", checkText(v, t)
	case json.Number:
		return "", checkText(v.String(), t)
	case json.Delim:
		for i := 0; d.More(); i++ {
			at, inner, err := member(d, t, v, i)
			if err != nil {
				return "", err
			}
			if inner == nil {
				err = d.Decode(&json.RawMessage{})
			} else {
				path, err = check(d, inner)
			}
			if err != nil {
				return JoinPath(at, path), err
			}
		}
		_, err = d.Token()
	}
	return "", err
}

func checkText(text string, t reflect.Type) error {
	if t == reflect.TypeFor[resource.Quantity]() {
		return Check(text)
	}
	return nil
}

// member is the place and the type, nil for none, of the value that comes next in
// a list or, after its name, in a mapping.
func member(d *json.Decoder, t reflect.Type, opened json.Delim, i int) (at string, inner reflect.Type, err error) {
	if opened == '[' {
		if t.Kind() == reflect.Slice {
			inner = t.Elem()
		}
		return fmt.Sprintf("[%d]", i), inner, nil
	}
	token, err := d.Token()
	if err != nil {
		return "", nil, err
	}
	name, _ := token.(string)
	inner, _ = memberType(t, func(field string) bool { return strings.EqualFold(field, name) })
	return name, inner, nil
}

// MemberType is the type of a value under a name: a field of a struct, or the
// element of a map.
func MemberType(t reflect.Type, name string) (reflect.Type, bool) {
	return memberType(t, func(field string) bool { return field == name })
}

func memberType(t reflect.Type, named func(field string) bool) (reflect.Type, bool) {
	switch t.Kind() {
	case reflect.Map:
		return t.Elem(), true
	case reflect.Struct:
		return fieldType(t, named)
	}
	return nil, false
}

// fieldType is the type of the field of struct t whose JSON name is named, those
// of embedded structs included.
func fieldType(t reflect.Type, named func(field string) bool) (reflect.Type, bool) {
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if named(tag) {
			return f.Type, true
		}
		if f.Anonymous && tag == "" && f.Type.Kind() == reflect.Struct {
			if inner, ok := fieldType(f.Type, named); ok {
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
