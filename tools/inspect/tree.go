package inspect

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/core"
)

// Field is a field of a datagram, or a group of them.
type Field struct {
	Name     string  `json:"name"`
	Bit      int     `json:"bit"`             // where it begins, counted from the datagram's first bit; bit 0 of a byte is its lowest
	Bits     int     `json:"bits"`            // how long it is
	Value    any     `json:"value,omitempty"` // a uint64; or the bytes as a string of hexadecimal digits; nil of a group
	Meaning  string  `json:"meaning,omitempty"`
	Sentence string  `json:"sentence,omitempty"`
	Fields   []Field `json:"fields,omitempty"` // of a group: they cover it
}

// Leaves calls visit with each field that is no group, in the order of their places.
func (f *Field) Leaves(visit func(*Field)) {
	if f.Fields == nil {
		visit(f)
		return
	}
	for i := range f.Fields {
		f.Fields[i].Leaves(visit)
	}
}

// Refusal says why a datagram is refused, as the codec does.
type Refusal struct {
	Code     core.Code `json:"code"`
	Place    int       `json:"place"` // in Unit, from where Layer begins; -1: in no place
	Unit     string    `json:"unit"`  // bit or byte
	Layer    string    `json:"layer"` // what was decoded: datagram, body, payload
	Bit      int       `json:"bit"`   // the place in bits from the datagram's first one; -1: in no place
	Sentence string    `json:"sentence"`
	Text     string    `json:"text"` // what the codec says
}

// refusalOf returns the refusal of an error of a codec for a layer that begins at a bit.
func refusalOf(err error, unit, layer string, from int) *Refusal {
	e := err.(*core.Error) // decoders return no error of another type
	r := &Refusal{Code: e.Code(), Place: e.Place(), Unit: unit, Layer: layer, Sentence: e.Rule(), Text: fmt.Sprintf("%+v", e), Bit: -1}
	if e.Place() != core.NoPlace {
		if r.Bit = from + e.Place(); unit == "byte" {
			r.Bit = from + 8*e.Place()
		}
	}
	return r
}

// tree makes fields of what layouts see (spec/formats.json). Each ends behind the field at which it refuses its bytes, or
// before one that is not whole; what is left is a field, too.
type tree struct {
	b     []byte
	at    int       // the first bit that is in no field
	lists [][]Field // the fields, and the fields of the groups that have begun
	to    *[]Field  // nil: no fields are made
}

// tree returns the tree of a result.
func (in *Inspector) tree(r *Result, b []byte) *tree {
	t := &tree{b: b, lists: [][]Field{{}}}
	if !in.opts.Brief {
		t.to = &r.Fields
	}
	return t
}

// walk adds the fields of the bytes up to a place.
func (t *tree) walk(name string, to int, p layout.Parameters, given layout.Values) {
	if t.to == nil {
		return
	}
	from := t.at
	layout.Trace(name, t.b[from/8:to], p, given, func(part layout.Part) {
		isGroup := part.Item.Each != "" && part.Name != ""
		switch part.At += from; {
		case part.Begin && isGroup:
			t.lists = append(t.lists, nil)
		case part.End && isGroup:
			t.group(part.Name)
		case part.Begin, part.End, part.Size == 0 && part.Item.Value == "":
		case part.Size == 0:
			t.means(part.Name, part.Value)
		default:
			t.leaf(&part)
			t.at = part.At + part.Size
		}
	})
}

// fields are the fields of the group that has begun last.
func (t *tree) fields() *[]Field { return &t.lists[len(t.lists)-1] }

func (t *tree) add(f Field) { *t.fields() = append(*t.fields(), f) }

// latest is the field that was added last, or one that is not there.
func (t *tree) latest() *Field {
	if list := *t.fields(); len(list) > 0 {
		return &list[len(list)-1]
	}
	return &Field{}
}

// group ends a group: a record, which has the name of its type, or an element of another list.
func (t *tree) group(name string) {
	inside := *t.fields()
	t.lists = t.lists[:len(t.lists)-1]
	if len(inside) == 0 {
		return
	}
	first := &inside[0]
	if name = strings.TrimSuffix(name, "s"); first.Name == "type" && first.Meaning != "" {
		name = first.Meaning
	}
	t.add(Field{Name: name, Bit: first.Bit, Bits: t.at - first.Bit, Sentence: inside[min(1, len(inside)-1)].Sentence, Fields: inside})
}

// leaf adds a field with what it means: a name, or a number that is not as it stands there.
func (t *tree) leaf(part *layout.Part) {
	f := Field{Name: part.Name, Bit: part.At, Bits: part.Size, Sentence: part.Sentence}
	switch v := part.Value.(type) {
	case []bool:
		t.flags(f, v)
		return
	case []byte:
		f.Value = hex.EncodeToString(v)
	case string:
		f.Value, f.Meaning = uint64(part.Item.Names[v]), v
		if part.Item.Text {
			f.Value, f.Meaning = hex.EncodeToString([]byte(v)), strconv.Quote(v)
		}
	case int64:
		f.Value = uint64(v - part.Item.Plus)
		if part.Item.Plus != 0 {
			f.Meaning = strconv.FormatInt(v, 10)
		}
		if say := meanings[part.Name]; say != nil {
			f.Meaning = say(v)
		}
	}
	if last := t.latest(); last.Name == f.Name { // bytes that are a list of numbers
		last.Bits += f.Bits
		last.Value = hex.EncodeToString(t.b[last.Bit/8 : (last.Bit+last.Bits)/8])
		return
	}
	t.add(f)
}

// flags adds a group of bits.
func (t *tree) flags(f Field, flags []bool) {
	set := 0
	for i, is := range flags {
		bit := Field{Name: fmt.Sprintf("%s[%d]", f.Name, i), Bit: f.Bit + i, Bits: 1, Value: uint64(0), Sentence: f.Sentence}
		if is {
			set++
			bit.Value = uint64(1)
		}
		f.Fields = append(f.Fields, bit)
	}
	f.Meaning = fmt.Sprintf("%d of %d", set, len(flags))
	t.add(f)
}

// means adds to the latest field a number that follows from it and others.
func (t *tree) means(name string, v any) {
	f := t.latest()
	if n, ok := v.(int64); ok && f.Value != uint64(n) {
		f.Meaning = strings.TrimPrefix(fmt.Sprintf("%s, %s %d", f.Meaning, name, n), ", ")
	}
}

// cut takes the latest field away if it has a name, so that others can have its bits.
func (t *tree) cut(name string) (f Field, is bool) {
	if f = *t.latest(); f.Name != name {
		return f, false
	}
	t.at = f.Bit
	*t.fields() = (*t.fields())[:len(*t.fields())-1]
	return f, true
}

// rest makes fields of what is left up to a place: the bits of a byte that has begun, and whole bytes.
func (t *tree) rest(name string, to int) {
	if t.to == nil {
		return
	}
	if n := -t.at & 7; n > 0 {
		t.add(Field{Name: name, Bit: t.at, Bits: n, Value: uint64(t.b[t.at/8] >> (t.at % 8))})
		t.at += n
	}
	if left := t.b[t.at/8 : to]; len(left) > 0 {
		t.add(Field{Name: name, Bit: t.at, Bits: 8 * len(left), Value: hex.EncodeToString(left)})
	}
	t.at = 8 * to
}

// done gives the result its fields.
func (t *tree) done(rest string) {
	if t.rest(rest, len(t.b)); t.to != nil {
		*t.to = t.lists[0]
	}
}
