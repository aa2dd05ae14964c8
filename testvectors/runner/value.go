package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

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
func differences(want, got any, open ...string) []string {
	var r reporter
	cmp.Equal(want, got, cmp.Reporter(&r),
		cmp.Transformer("", func(o layout.Object) map[string]any { return fieldsOf(o) }),
		cmp.FilterPath(func(p cmp.Path) bool { return isOpen(p, open) },
			cmp.FilterValues(func(a, b any) bool { return isTime(a) && isTime(b) }, cmp.Ignore())))
	return r.paths
}

func isTime(v any) bool {
	_, isNumber := v.(json.Number)
	return isNumber || v == nil
}

// isOpen reports whether a path is that of an open field of a step.
func isOpen(p cmp.Path, open []string) bool {
	step, name, ok := strings.Cut(pathName(p), "].")
	if !ok {
		return slices.Contains(open, step) // of a step alone
	}
	return strings.HasPrefix(step, "steps[") && slices.Contains(open, name)
}

// reporter collects the paths of what differs.
type reporter struct {
	path  cmp.Path
	paths []string
}

func (r *reporter) PushStep(s cmp.PathStep) { r.path = append(r.path, s) }
func (r *reporter) PopStep()                { r.path = r.path[:len(r.path)-1] }
func (r *reporter) Report(result cmp.Result) {
	if result.Equal() {
		return
	}
	want, got := r.path.Last().Values()
	r.paths = append(r.paths, pathName(r.path)+place(want, got))
}

func pathName(p cmp.Path) (name string) {
	for _, step := range p {
		switch s := step.(type) {
		case cmp.MapIndex:
			name += "." + s.Key().String()
		case cmp.SliceIndex:
			want, got := s.SplitKeys()
			name += fmt.Sprintf("[%d]", max(want, got))
		}
	}
	return strings.TrimPrefix(name, ".")
}

// place returns where two long texts begin to differ.
func place(want, got reflect.Value) string {
	const long = 40
	if !want.IsValid() || !got.IsValid() || want.Kind() != reflect.String || got.Kind() != reflect.String || want.Len() <= long {
		return ""
	}
	w, g := want.String(), got.String()
	at := 0
	for at < min(len(w), len(g)) && w[at] == g[at] {
		at++
	}
	return fmt.Sprintf(" (from character %d on)", at)
}

// compact writes a value as JSON on one line.
func compact(v any) string { return string(mustMarshal(v)) }
