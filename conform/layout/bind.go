package layout

import (
	"reflect"
	"strings"
	"unicode"
)

// Names are the fields of a struct, or fields of structs in it (Offer.Mode), that hold the values
// with names other than their own: chunk_id is ChunkID without them.
type Names map[string]string

// Put sets the fields of a struct from values; those that it does not have stay out, and so do names
// where it has numbers. It reports whether each number fits its field: one that does not becomes the
// largest.
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

// Get returns the values of a struct, or of one that is pointed to: all that have a name.
func (n Names) Get(from any) Values {
	v := Values{}
	source := reflect.Indirect(reflect.ValueOf(from))
	n.collect(v, source)
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
	switch v := v.(type) {
	case int64:
		return setNumber(f, v)
	case string:
		if f.CanUint() || f.CanInt() {
			return true // the caller's
		}
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
			reflect.Copy(f, reflect.ValueOf(v))
			return len(v) == f.Len()
		}
	case []bool:
		if set, ok := f.Addr().Interface().(interface{ Add(int) }); ok {
			return addFlags(set, v)
		}
	}
	f.Set(reflect.ValueOf(v).Convert(f.Type()))
	return true
}

func setNumber(f reflect.Value, v int64) bool {
	if f.CanUint() {
		most := uint64(1)<<(f.Type().Bits()-1)*2 - 1
		fits := v >= 0 && uint64(v) <= most
		if fits {
			most = uint64(v)
		}
		f.SetUint(most)
		return fits
	}
	if f.OverflowInt(v) {
		f.SetInt(1<<(f.Type().Bits()-1) - 1)
		return false
	}
	f.SetInt(v)
	return true
}

// mostFlags is how many flags a set of slices holds.
const mostFlags = 256

func addFlags(set interface{ Add(int) }, flags []bool) bool {
	for i, flag := range flags {
		switch {
		case flag && i >= mostFlags:
			return false
		case flag:
			set.Add(i)
		}
	}
	return true
}

// flagSet is flags of a number that another value says.
type flagSet interface{ Has(int) bool }

// get is the value of a field, or nil if it is none.
func (n Names) get(f reflect.Value) any {
	set := reflect.New(f.Type()) // whose methods may be those of a pointer
	set.Elem().Set(f)
	if flags, ok := set.Interface().(flagSet); ok {
		return flags
	}
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
