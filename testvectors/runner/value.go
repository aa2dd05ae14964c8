package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/conform/layout"
)

// parseValue reads one JSON value and nothing after it. Numbers stay as they are
// written; a field that comes twice is an error, which encoding/json hides.
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
	o := layout.Object{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		key := t.(string) // the decoder takes nothing else here
		if slices.ContainsFunc(o, func(m layout.Member) bool { return m.Name == key }) {
			return nil, fmt.Errorf("field %q comes twice", key)
		}
		v, err := parseNext(d)
		if err != nil {
			return nil, err
		}
		o = append(o, layout.Member{Name: key, Value: v})
	}
	_, err := d.Token()
	return o, err
}

// get returns a field of an object, or nil.
func get(v any, key string) any {
	return fieldsOf(v)[key]
}

// fieldsOf are the fields of an object, or nil.
func fieldsOf(v any) map[string]any {
	o, is := v.(layout.Object)
	if !is {
		return nil
	}
	fields := map[string]any{}
	for _, m := range o {
		fields[m.Name] = m.Value
	}
	return fields
}

// text returns a field that is a string, or "".
func text(v any, key string) string {
	s, _ := get(v, key).(string)
	return s
}

// differences returns the paths at which two values differ. Every field counts, but
// their order does not, and a number is what is written: 1.0 is not 1. The values
// of open fields of steps only have to be an integer or null.
func differences(want, got any, open ...string) []string { return differ("", want, got, open) }

func differ(path string, want, got any, open []string) (paths []string) {
	switch w := want.(type) {
	case layout.Object:
		if g, is := got.(layout.Object); is {
			return differingFields(path, fieldsOf(w), fieldsOf(g), open)
		}
	case []any:
		g, is := got.([]any)
		if !is {
			break
		}
		for i := range max(len(w), len(g)) {
			at := fmt.Sprintf("%s[%d]", path, i)
			if i < min(len(w), len(g)) {
				paths = append(paths, differ(at, w[i], g[i], open)...)
			} else {
				paths = append(paths, at)
			}
		}
		return paths
	default:
		if want == got || isTime(want) && isTime(got) && isOpen(path, open) {
			return nil
		}
	}
	return []string{path + place(want, got)}
}

func differingFields(path string, want, got map[string]any, open []string) (paths []string) {
	names := maps.Clone(want)
	maps.Copy(names, got)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := strings.TrimPrefix(path+"."+name, ".")
		w, wanted := want[name]
		g, came := got[name]
		if wanted && came {
			paths = append(paths, differ(at, w, g, open)...)
		} else {
			paths = append(paths, at)
		}
	}
	return paths
}

func isTime(v any) bool {
	_, isNumber := v.(json.Number)
	return isNumber || v == nil
}

// isOpen reports whether a path is that of an open field of a step.
func isOpen(path string, open []string) bool {
	step, name, ok := strings.Cut(path, "].")
	if !ok {
		return slices.Contains(open, step) // of a step alone
	}
	return strings.HasPrefix(step, "steps[") && slices.Contains(open, name)
}

// place returns where two long texts begin to differ.
func place(want, got any) string {
	const long = 40
	w, _ := want.(string)
	g, is := got.(string)
	if !is || len(w) <= long {
		return ""
	}
	at := 0
	for at < min(len(w), len(g)) && w[at] == g[at] {
		at++
	}
	return fmt.Sprintf(" (from character %d on)", at)
}

// compact writes a value as JSON on one line.
func compact(v any) string { return string(mustMarshal(v)) }
