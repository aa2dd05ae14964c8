package layout

import (
	"reflect"
	"strings"
	"unicode"
)

// Names are the fields of a struct, or fields of structs in it (Offer.Mode), that hold the values
// with names other than their own: chunk_id is ChunkID without them.
type Names map[string]string

// Put sets the fields of a struct from values; those that it does not have stay out. It reports
// whether each number fits its field: what does not is cut off.
func (n Names) Put(v Values, to any) (fits bool) {
	fits = true
	target := reflect.ValueOf(to).Elem()
	for name, x := range v {
		if f := n.field(target, name); f.IsValid() {
			fits = n.set(f, x) && fits
		}
	}
	return fits
}

// Get returns the values of a struct: all that have a name.
func (n Names) Get(from any) Values {
	v := Values{}
	n.collect(v, reflect.ValueOf(from))
	source := reflect.ValueOf(from)
	for name := range n {
		if f := n.field(source, name); f.IsValid() {
			v[name] = n.get(f)
		}
	}
	return v
}

func (n Names) collect(v Values, s reflect.Value) {
	for i := range s.NumField() {
		if f := s.Type().Field(i); f.Anonymous && f.Type.Kind() == reflect.Struct {
			n.collect(v, s.Field(i))
		} else if f.IsExported() {
			if x := n.get(s.Field(i)); x != nil {
				v[snake(f.Name)] = x
			}
		}
	}
}

// field is the field of a value.
func (n Names) field(s reflect.Value, name string) reflect.Value {
	path, ok := n[name]
	if !ok {
		path = camel(name)
	}
	for _, part := range strings.Split(path, ".") {
		if s = s.FieldByName(part); !s.IsValid() {
			return s
		}
	}
	return s
}

// camel is ChunkID for chunk_id, and snake the other way round.
func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts {
		if parts[i] = strings.ToUpper(p[:1]) + p[1:]; p == "id" {
			parts[i] = "ID"
		}
	}
	return strings.Join(parts, "")
}

func snake(name string) string {
	var b strings.Builder
	for i, r := range strings.ReplaceAll(name, "ID", "Id") {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// set sets a field, and reports whether it holds the value.
func (n Names) set(f reflect.Value, v any) bool {
	x := reflect.ValueOf(v)
	switch v := v.(type) {
	case int64:
		if f.CanUint() {
			f.SetUint(uint64(v) & (1<<f.Type().Bits() - 1))
			return v >= 0 && !f.OverflowUint(uint64(v))
		}
		f.SetInt(v)
		return !f.OverflowInt(v)
	case []Values:
		list := reflect.MakeSlice(f.Type(), len(v), len(v))
		fits := true
		for i := range v {
			fits = n.Put(v[i], list.Index(i).Addr().Interface()) && fits
		}
		f.Set(list)
		return fits
	case []byte:
		if f.Kind() == reflect.Array {
			reflect.Copy(f, x)
			return len(v) == f.Len()
		}
	}
	f.Set(x.Convert(f.Type()))
	return true
}

// get is the value of a field, or nil if it is none.
func (n Names) get(f reflect.Value) any {
	switch {
	case f.CanInt():
		return f.Int()
	case f.CanUint():
		return int64(f.Uint())
	case f.Kind() == reflect.String:
		return f.String()
	case f.Kind() == reflect.Array && f.Type().Elem().Kind() == reflect.Uint8:
		b := make([]byte, f.Len())
		reflect.Copy(reflect.ValueOf(b), f)
		return b
	case f.Kind() != reflect.Slice:
		return nil
	}
	switch list := f.Interface().(type) {
	case []byte:
		return list
	case []bool:
		return list
	}
	var all []Values
	if f.Type().Elem().Kind() == reflect.Struct {
		all = []Values{}
		for i := range f.Len() {
			all = append(all, n.Get(f.Index(i).Interface()))
		}
	}
	return all
}
