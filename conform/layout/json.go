package layout

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// ErrJSON says that JSON does not have a value of a layout, or has one of another type.
var ErrJSON = errors.New("layout: no values of the layout")

// Object is a JSON object whose members have an order.
type Object []Member

// Member is a member of an object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range o {
		text, err := json.Marshal(m.Value)
		if err != nil {
			return nil, err
		}
		b.WriteString([]string{"{", ","}[min(i, 1)] + strconv.Quote(m.Name) + ":")
		b.Write(text)
	}
	if len(o) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// visit goes along the values that a layout has, as an encoder does, and checks nothing.
func visit(layout string, v Values, p Parameters, to visitor) *walk {
	f := find(layout)
	_, raw := to.(blind)
	w := &walk{format: f, parameters: p, values: to, dry: !raw}
	w.items(f.Items, newScope(w, v, nil), &context{whole: f.Whole, exact: f.Exact})
	return w
}

// JSON returns values, valid or not, as JSON, in the order of the layout.
func JSON(layout string, v Values, p Parameters) Object {
	w := &writer{objects: []Object{nil}}
	visit(layout, v, p, w)
	return w.objects[0]
}

// writer has the objects around a value, the innermost last.
type writer struct{ objects []Object }

func (w *writer) value(it *Item, s *scope, _ *context) {
	name := it.Name + it.Value
	x, ok := s.values[name]
	if it.unsaid != nil || !ok {
		return
	}
	o := &w.objects[len(w.objects)-1]
	*o = append(*o, Member{name, it.inJSON(x, s)})
}

func (it *Item) inJSON(x any, s *scope) any {
	switch x := x.(type) {
	case int64:
		return it.named(x)
	case flagSet:
		flags := make([]bool, number(it.size(s)))
		for i := range flags {
			flags[i] = x.Has(i)
		}
		return it.inJSON(flags, s)
	case []byte:
		return hex.EncodeToString(x)
	case []bool:
		text := make([]byte, len(x))
		for i, flag := range x {
			text[i] = '0'
			if flag {
				text[i] = '1'
			}
		}
		return string(text)
	case []Values:
		return []any{}
	}
	return x
}

func (w *writer) enter(*Item, *scope) { w.objects = append(w.objects, nil) }

func (w *writer) leave(it *Item) {
	n := len(w.objects) - 1
	var element any = w.objects[n]
	if it.Row {
		row := []any{}
		for _, m := range w.objects[n] {
			row = append(row, m.Value)
		}
		element = row
	}
	outer := w.objects[n-1]
	list := &outer[len(outer)-1]
	list.Value = append(list.Value.([]any), element)
	w.objects = w.objects[:n]
}

// Unheld returns the place of the first number that its bits cannot hold, by a sentence of its own
// (Item.Holds); ok is false if there is none. A type of a language may exclude it.
func Unheld(layout string, v Values, p Parameters) (at int, ok bool) {
	f := find(layout)
	w := &walk{format: f, parameters: p, values: blind{}, holds: true}
	if refused := w.items(f.Items, newScope(w, v, nil), &context{whole: f.Whole, exact: f.Exact}); refused != nil {
		return refused.At, true
	}
	return 0, false
}

// FromJSON returns the values of a JSON object; what else it has is not looked at. Numbers may be such that an encoder refuses, up to
// those that an int64 holds; those beyond are the nearest of these. Its error is ErrJSON.
func FromJSON(layout string, object map[string]json.RawMessage, p Parameters) (Values, error) {
	v := loose(object)
	r := &reader{layers: []layer{{object: object, values: v, read: map[string]bool{}}}}
	visit(layout, v, p, r)
	if r.bad {
		return nil, ErrJSON
	}
	r.leave(nil)
	return v, nil
}

// loose is numbers and texts of an object as they are, for expressions about what comes behind.
func loose(object map[string]json.RawMessage) Values {
	v := Values{}
	for name, raw := range object {
		var text string
		if n, ok := integer(raw); ok {
			v[name] = n
		} else if json.Unmarshal(raw, &text) == nil {
			v[name] = text
		}
	}
	return v
}

// integer is a plain integer.
func integer(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// layer is an object or a row around a value.
type layer struct {
	object map[string]json.RawMessage
	values Values          // of it
	read   map[string]bool // those that the layout has
	row    []json.RawMessage
	list   []json.RawMessage // that was read last
}

// reader has the layers around a value, the innermost last.
type reader struct {
	layers []layer
	unsaid string // the last value that JSON does not have
	bad    bool
}

func (r *reader) value(it *Item, s *scope, c *context) {
	name := it.Name + it.Value
	l := &r.layers[len(r.layers)-1]
	l.read[name] = true
	if it.unsaid != nil {
		s.values[name] = it.unsaid(s)
		r.unsaid = name
		return
	}
	raw := l.object[name]
	if l.row != nil {
		raw, l.row = l.row[0], l.row[1:]
	}
	if it.Each != "" {
		if json.Unmarshal(raw, &l.list) != nil || l.list == nil {
			r.bad = true
		}
		list := make([]Values, len(l.list))
		for i := range list {
			list[i] = Values{}
		}
		s.values[name] = list
		return
	}
	v, ok := it.fromJSON(raw)
	if n, is := v.(int64); is && c.exact && (n < 0 || it.Bits < 63 && (n-it.Plus)>>it.Bits != 0) {
		ok = false
	}
	if b, is := v.([]byte); is && c.exact && it.Bytes != "" && it.Bytes[0] <= '9' && int64(len(b)) != number(it.size(s)) {
		ok = false
	}
	if !ok {
		r.bad = true
	}
	if flags, is := v.([]bool); is && flags == nil {
		s.values[r.unsaid] = int64(0) // no encoder takes flags that are none
	}
	s.values[name] = v
}

// fits reports whether a field holds a value.
func (it *Item) fits(v any, s *scope) bool {
	switch v := v.(type) {
	case int64:
		return v >= 0 && (it.Bits >= 63 || (v-it.Plus)>>it.Bits == 0)
	case []byte:
		return it.Bytes == "" || it.Bytes[0] > '9' || int64(len(v)) == number(it.size(s))
	}
	return true
}

// Held reports whether values are such as JSON can have: all that the layout asks for are there, and
// fit their fields if it is an exact one.
func Held(layout string, v Values, p Parameters) bool {
	h := &holder{held: true}
	visit(layout, v, p, h)
	return h.held
}

// holder is a visitor for Held.
type holder struct {
	blind
	held bool
}

func (h *holder) value(it *Item, s *scope, c *context) {
	x, ok := s.values[it.Name+it.Value]
	if !ok || c.exact && !it.fits(x, s) {
		h.held = false
	}
}

// fromJSON reads a value.
func (it *Item) fromJSON(raw json.RawMessage) (any, bool) {
	if it.Bits > 0 && it.Names == nil || it.Value != "" && !it.Text {
		return integer(raw)
	}
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return []byte(nil), false
	}
	switch {
	case it.Bytes != "" && !it.Text:
		b, err := hex.DecodeString(*text)
		return b, err == nil && strings.ToLower(*text) == *text
	case it.Flags != "":
		return flagsOf(*text), true
	}
	return *text, true
}

func flagsOf(text string) []bool {
	if strings.Trim(text, "01") != "" {
		return nil
	}
	flags := make([]bool, len(text))
	for i := range flags {
		flags[i] = text[i] == '1'
	}
	return flags
}

func (r *reader) enter(it *Item, e *scope) {
	list := r.layers[len(r.layers)-1].list
	l := layer{values: e.values, read: map[string]bool{}}
	if it.Row {
		if json.Unmarshal(list[e.index], &l.row) != nil || len(l.row) != len(it.rowNames()) {
			l.row = make([]json.RawMessage, len(it.rowNames()))
			r.bad = true
		}
	} else {
		if json.Unmarshal(list[e.index], &l.object) != nil || l.object == nil {
			r.bad = true
		}
		for name, v := range loose(l.object) {
			e.values[name] = v
		}
	}
	r.layers = append(r.layers, l)
}

// leave forgets the members of an object that are no values of the layout.
func (r *reader) leave(*Item) {
	l := r.layers[len(r.layers)-1]
	for name := range l.values {
		if !l.read[name] {
			delete(l.values, name)
		}
	}
	r.layers = r.layers[:len(r.layers)-1]
}

// rowNames are the names of the values of an element.
func (it *Item) rowNames() (names []string) {
	for i := range it.Items {
		if f := &it.Items[i]; f.Name != "" && f.From == "" {
			names = append(names, f.Name)
		}
	}
	return names
}
