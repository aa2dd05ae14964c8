package conformance

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// object is a JSON object that has kept the order of its fields.
type object struct {
	keys   []string
	fields map[string]any
}

// parseValue reads one JSON value and nothing after it. Numbers stay as they
// are written; a field that comes twice is an error, which encoding/json hides.
func parseValue(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseNext(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more after the JSON value")
	}
	return v, nil
}

func parseNext(d *json.Decoder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		return parseObject(d)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseNext(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

func parseObject(d *json.Decoder) (any, error) {
	o := &object{fields: map[string]any{}}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder takes nothing else here
		if _, twice := o.fields[key]; twice {
			return nil, fmt.Errorf("field %q comes twice", key)
		}
		v, err := parseNext(d)
		if err != nil {
			return nil, err
		}
		o.set(key, v)
	}
	_, err := d.Token()
	return o, err
}

func (o *object) set(key string, v any) {
	if _, there := o.fields[key]; !there {
		o.keys = append(o.keys, key)
	}
	o.fields[key] = v
}

func (o *object) remove(key string) {
	delete(o.fields, key)
	o.keys = slices.DeleteFunc(o.keys, func(k string) bool { return k == key })
}

// get returns a field of an object, or nil.
func get(v any, key string) any {
	if o, ok := v.(*object); ok {
		return o.fields[key]
	}
	return nil
}

// text returns a field that is a string, or "".
func text(v any, key string) string {
	s, _ := get(v, key).(string)
	return s
}

// differences returns the paths at which two values differ. Every field counts,
// and a number is what is written: 1.0 is not 1.
func differences(path string, want, got any) []string {
	switch w := want.(type) {
	case *object:
		if g, ok := got.(*object); ok {
			return differencesOfObjects(path, w, g)
		}
		return []string{path}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return []string{path}
		}
		var list []string
		for i := range w {
			list = append(list, differences(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return list
	}
	switch got.(type) {
	case *object, []any: // not comparable
		return []string{path}
	}
	if want != got {
		return []string{path + place(want, got)}
	}
	return nil
}

// place tells where two long texts begin to differ.
func place(want, got any) string {
	const long = 40
	w, _ := want.(string)
	g, _ := got.(string)
	if len(w) <= long || g == "" {
		return ""
	}
	at := 0
	for at < min(len(w), len(g)) && w[at] == g[at] {
		at++
	}
	return fmt.Sprintf(" (from character %d on)", at)
}

func differencesOfObjects(path string, want, got *object) (list []string) {
	for _, k := range want.keys {
		if g, ok := got.fields[k]; ok {
			list = append(list, differences(join(path, k), want.fields[k], g)...)
		} else {
			list = append(list, join(path, k))
		}
	}
	for _, k := range got.keys {
		if _, ok := want.fields[k]; !ok {
			list = append(list, join(path, k))
		}
	}
	return list
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// compact writes a value as JSON on one line.
func compact(v any) string {
	switch v := v.(type) {
	case *object:
		parts := make([]string, len(v.keys))
		for i, k := range v.keys {
			parts[i] = compact(k) + ":" + compact(v.fields[k])
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = compact(v[i])
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
