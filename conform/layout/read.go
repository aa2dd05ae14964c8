package layout

import "cmp"

// read reads what stands in bytes.
func (w *walk) read(it *Item, s *scope, c *context) *Fault {
	at := w.at
	size := it.Bits
	switch {
	case it.Align > 0:
		size = (it.Align - w.at%it.Align) % it.Align
	case it.Bytes != "":
		size = 8 * int(number(it.size(s)))
	case it.Flags != "":
		size = int(number(it.size(s)))
	}
	if size < 0 || w.left() < size {
		return w.truncated(it, c)
	}
	var v any
	switch {
	case it.Bytes != "":
		b := make([]byte, size/8)
		for i := range b {
			b[i] = byte(w.take(8))
		}
		if v = b; it.Text {
			v = string(b)
		}
	case it.Flags != "":
		flags := make([]bool, size)
		for i := range flags {
			flags[i] = w.take(1) == 1
		}
		v = flags
	default:
		n := w.take(size)
		if it.Align > 0 {
			return w.padding(it, n, at)
		}
		v = it.named(n + it.Plus)
	}
	if it.isDerived() {
		s.local[it.Name] = v
	} else {
		s.values[it.Name] = v
	}
	if w.saw != nil {
		part := Part{Item: it, Name: it.Name, At: at, Size: size, Value: v, Sentence: cmp.Or(it.Says, c.sentence)}
		if it.Late {
			part.Right = it.from(s)
		}
		w.saw(part)
	}
	return nil
}

// isDerived reports whether a field is no value: an encoder computes it.
func (it *Item) isDerived() bool { return it.From != "" }

func (w *walk) padding(it *Item, n int64, at int) *Fault {
	if w.saw != nil && w.at > at {
		w.saw(Part{Item: it, Name: "padding", At: at, Size: w.at - at, Value: n, Sentence: it.Zero})
	}
	if n != 0 {
		return w.fault(load().codes[it.Zero], it.Zero, at)
	}
	return nil
}

// named is a number, or its name.
func (it *Item) named(n int64) any {
	for name, v := range it.Names {
		if v == n {
			return name
		}
	}
	return n
}

// take reads a number, low bit first.
func (w *walk) take(bits int) (n int64) {
	for k := range bits {
		n |= int64(w.bytes[w.at/8]>>(w.at%8)&1) << k
		w.at++
	}
	return n
}

// Part is a part of bytes that a decoder has read, or begins and ends to read.
type Part struct {
	Item  *Item
	Name  string
	At    int // in bits
	Size  int // in bits
	Value any // a number's as it is meant: more by plus, or its name
	Right any // of a number that is computed over all bytes: what it must be

	Sentence string // that says how it looks

	Begin, End bool // of a list's element, or of another layout
}

func (w *walk) begin(it *Item, s *scope) {
	if w.values != nil && s.isElement && it.Each != "" && it.Name != "" {
		w.values.enter(it, s)
	}
	if w.saw != nil {
		w.saw(Part{Item: it, Name: it.Name, At: w.at, Begin: true})
	}
}

func (w *walk) finish(it *Item) {
	if w.values != nil && it.Each != "" && it.Name != "" {
		w.values.leave(it)
	}
	if w.saw != nil {
		w.saw(Part{Item: it, Name: it.Name, At: w.at, End: true})
	}
}

// Decode decodes bytes by a layout. given are values that the bytes do not have, or nil. With a
// fault the values are those before it.
func Decode(layout string, b []byte, p Parameters, given Values) (Values, *Fault) {
	return Trace(layout, b, p, given, nil)
}

// Trace is Decode, which reports each part before the fault, if there is one. It also goes on behind a number
// that is computed over all bytes, and is wrong.
func Trace(layout string, b []byte, p Parameters, given Values, saw func(Part)) (Values, *Fault) {
	f := find(layout)
	w := &walk{format: f, parameters: p, decoding: true, bytes: b, end: 8 * len(b), saw: saw}
	v := Values{}
	for name, x := range given {
		v[name] = x
	}
	err := w.items(f.Items, newScope(w, v, nil), &context{f.Whole, f.Sentence, f.Exact})
	if w.first != nil {
		err = w.first
	}
	return v, err
}
