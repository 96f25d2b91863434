package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// reword says what the JSON decoder met without naming types of Go, and the way
// out where it names none.
func reword(err error) string {
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return fmt.Sprintf("is %s, must be %s", wrongValue(wrong.Value), wantedValue(wrong.Type))
	}
	message := strings.TrimPrefix(err.Error(), "json: ")
	if strings.Contains(message, resource.ErrFormatWrong.Error()) {
		message += ": write a quantity such as 500m or 128Mi"
	}
	return message
}

func wrongValue(met string) string {
	switch met {
	case "object":
		return "a mapping"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	case "string":
		return "text"
	case "number":
		return "a number"
	}
	return "the " + met
}

func wantedValue(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wantedValue(t.Elem())
	case reflect.Slice:
		return "a list"
	case reflect.String:
		return "text (in quotes where it looks like a number or a boolean)"
	case reflect.Bool:
		return "true or false"
	case reflect.Int32, reflect.Int64:
		return "a whole number that fits " + t.Kind().String()
	case reflect.Struct, reflect.Map:
		return "a mapping"
	}
	return "of type " + t.String()
}
