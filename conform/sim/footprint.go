package sim

import "reflect"

// Footprint returns how many bytes of memory a value and all that it points to take.
// It finds out by reflection, and does not ask the value.
func Footprint(v any) int64 {
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
	case reflect.Map, reflect.Chan:
		n = int64(v.Len()) * (int64(v.Type().Elem().Size()) + 16) // at least
	case reflect.String:
		n = int64(v.Len())
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
