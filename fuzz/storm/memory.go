package main

import "reflect"

// footprint returns how many bytes a value and all that it points to take. It
// looks from outside, by reflection, and does not ask the value.
func footprint(v any) int64 {
	seen := map[uintptr]bool{}
	return below(reflect.ValueOf(v), seen)
}

// below returns what lies behind a value's pointers.
func below(v reflect.Value, seen map[uintptr]bool) (n int64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && !seen[v.Pointer()] {
			seen[v.Pointer()] = true
			n = int64(v.Type().Elem().Size()) + below(v.Elem(), seen)
		}
	case reflect.Interface:
		if !v.IsNil() {
			n = below(v.Elem(), seen)
		}
	case reflect.Slice:
		if !v.IsNil() {
			n = int64(v.Cap()) * int64(v.Type().Elem().Size())
		}
		n += items(v, seen)
	case reflect.Array:
		n = items(v, seen)
	case reflect.Struct:
		for i := range v.NumField() {
			n += below(v.Field(i), seen)
		}
	}
	return n
}

// items returns what lies behind the pointers of a slice's or an array's items.
func items(v reflect.Value, seen map[uintptr]bool) (n int64) {
	switch v.Type().Elem().Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Struct, reflect.Interface:
		for i := range v.Len() {
			n += below(v.Index(i), seen)
		}
	}
	return n
}
