// Package inside makes values of types that the kubelet's packages keep to
// themselves, with the fields that a method needs.
//
//	inside.Link(cm.NewContainerManager)
//	m := inside.New("cm.containerManagerImpl")
//	inside.Set(m, "capacity", list)
//	reserved := nodeAllocatableReservation(m.UnsafePointer())
package inside

import (
	"fmt"
	"reflect"
	"runtime"
	"unsafe"
)

// typesByString is reflect's own list of the types in this binary, sorted by
// their texts.
//
//go:linkname typesByString reflect.typesByString
func typesByString(s string) []unsafe.Pointer

// Link has the linker keep a function, and with it the types of the values that
// it puts into interfaces: New finds no others.
//
//go:noinline
func Link(function any) { runtime.KeepAlive(function) }

// New is a pointer to a zero value of the type, named by its package's last
// element: cm.containerManagerImpl. That it is linked is up to the caller.
func New(name string) reflect.Value {
	found := typesByString("*" + name)
	if len(found) != 1 {
		panic(fmt.Sprintf("%d types %s are linked", len(found), name))
	}
	var any any
	*(*unsafe.Pointer)(unsafe.Pointer(&any)) = found[0]
	return reflect.New(reflect.TypeOf(any).Elem())
}

// Set sets a field of what the pointer points to. It panics where there is none
// of that name: the kubelet would judge by a zero value.
func Set(pointer reflect.Value, field string, value any) {
	f := pointer.Elem().FieldByName(field)
	if !f.IsValid() {
		panic(fmt.Sprintf("%s has no field %s", pointer.Type(), field))
	}
	f = reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem()
	v := reflect.ValueOf(value)
	if !v.IsValid() {
		f.SetZero()
		return
	}
	if v.Type() != f.Type() && v.CanConvert(f.Type()) {
		v = v.Convert(f.Type())
	}
	f.Set(v)
}
