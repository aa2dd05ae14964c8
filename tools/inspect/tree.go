package inspect

import (
	"encoding/hex"
	"fmt"

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
	r := &Refusal{Code: e.Code(), Place: e.Place(), Unit: unit, Layer: layer, Sentence: e.Rule(), Text: e.Error(), Bit: -1}
	if e.Place() != core.NoPlace {
		r.Bit = from + unitBits(unit)*e.Place()
	}
	return r
}

// walker walks along a datagram and makes fields. It ends behind the field at which the
// codec refused the datagram, or before one that is not whole; what is left is a field, too.
type walker struct {
	b    []byte
	at   int // the next bit
	stop int // the place of the refusal, in bits
	unit int // the size of that place; the field that begins in it and reaches its end is the last
	end  int // no field goes beyond it
	done bool
	list *[]Field // nil: no fields are made
	last Field    // the latest one, if they are not kept
}

// walker returns what walks along a datagram for a result.
func (in *Inspector) walker(r *Result, b []byte) *walker {
	w := &walker{b: b, stop: 8*len(b) + 1, end: 8 * len(b)}
	if !in.opts.Brief {
		w.list = &r.Fields
	}
	return w
}

// refuse makes the walk end at the place of a refusal.
func (w *walker) refuse(r *Refusal) {
	if r.Bit >= 0 {
		w.stop, w.unit = r.Bit, unitBits(r.Unit)
	}
}

func unitBits(unit string) int {
	if unit == "byte" {
		return 8
	}
	return 1
}

// take moves behind the next n bits, and reports whether they are there.
func (w *walker) take(n int) (from int, ok bool) {
	if w.done || n > w.end-w.at {
		w.done = true
		return 0, false
	}
	from = w.at
	w.at += n
	w.done = from >= w.stop && w.at >= w.stop+w.unit
	return from, true
}

// leaf adds a field that has been taken.
func (w *walker) leaf(f Field) *Field {
	if w.list == nil {
		w.last = f
		return &w.last
	}
	*w.list = append(*w.list, f)
	return &(*w.list)[len(*w.list)-1]
}

// nothing takes what is said of a field that is not there.
var nothing = func() *Field { return &Field{} }

// mean gives the latest field of a name a meaning that only fields behind it decide, if they were read.
func (w *walker) mean(name, meaning string) {
	if w.done || w.list == nil {
		return
	}
	for i := len(*w.list) - 1; i >= 0; i-- {
		if f := &(*w.list)[i]; f.Name == name {
			f.Meaning = meaning
			return
		}
	}
}

// bits reads a number of n bits, at most 64.
func (w *walker) bits(name string, n int, sentence string) (v uint64, f *Field) {
	from, ok := w.take(n)
	if !ok {
		return 0, nothing()
	}
	for i := range n {
		at := from + i
		v |= uint64(w.b[at/8]>>(at%8)&1) << i
	}
	return v, w.leaf(Field{Name: name, Bit: from, Bits: n, Value: v, Sentence: sentence})
}

// indexed returns the name of one of several fields.
func (w *walker) indexed(name string, i int) string {
	if w.list == nil {
		return name
	}
	return fmt.Sprintf("%s[%d]", name, i)
}

// bytes reads n bytes. The next bit is the first one of a byte.
func (w *walker) bytes(name string, n int, sentence string) ([]byte, *Field) {
	if n == 0 {
		return nil, nothing()
	}
	from, ok := w.take(8 * n)
	if !ok {
		return nil, nothing()
	}
	b := w.b[from/8 : from/8+n]
	if w.list == nil {
		return b, w.leaf(Field{})
	}
	return b, w.leaf(Field{Name: name, Bit: from, Bits: 8 * n, Value: hex.EncodeToString(b), Sentence: sentence})
}

// align reads padding.
func (w *walker) align(sentence string) {
	if n := -w.at & 7; n > 0 {
		w.bits("padding", n, sentence)
	}
}

// group makes a group of the fields that walk reads.
func (w *walker) group(name, sentence string, walk func() (meaning string)) {
	if w.done {
		return
	}
	if w.list == nil {
		walk()
		return
	}
	var inside []Field
	from, outer := w.at, w.list
	w.list = &inside
	meaning := walk()
	w.list = outer
	if len(inside) > 0 {
		w.leaf(Field{Name: name, Bit: from, Bits: w.at - from, Meaning: meaning, Sentence: sentence, Fields: inside})
	}
}

// rest makes fields of what is left: the bits of a byte that has begun, and whole bytes.
func (w *walker) rest(name string) {
	w.done, w.stop = false, 8*len(w.b)+1
	if n := -w.at & 7; n > 0 {
		w.bits(name, n, "")
	}
	w.bytes(name, w.left(), "")
}

// left returns how many whole bytes are left.
func (w *walker) left() int { return (w.end - w.at) / 8 }
