package layout

// given looks up what is to be written, and refuses what its bits cannot hold.
func (w *walk) given(it *Item, s *scope, c *context) *Fault {
	if w.values != nil && it.from == nil && it.Name != "" {
		w.values.value(it, s, c)
	}
	if _, given := s.values[it.Name]; it.from != nil && !it.Late && !(given && w.values != nil) {
		s.local[it.Name] = asNumber(it.from(s))
	}
	if v, _ := s.find(it.Name); it.Names != nil {
		if n, ok := v.(int64); ok {
			v = it.named(n)
			s.local[it.Name] = v
		}
		if _, known := it.Names[text(v)]; !known {
			s.local[it.Name] = int64(-1) // which no check takes for a name
		}
	}
	if it.Holds == "" || w.values != nil && !w.holds {
		return nil
	}
	if n := w.wire(it, s); n < 0 || it.Bits < 63 && n>>it.Bits != 0 {
		return w.fault("invalid_field", it.Holds, w.at)
	}
	return nil
}

// asNumber is 1 for true and 0 for false.
func asNumber(v any) any {
	if is, ok := v.(bool); ok {
		return map[bool]int64{true: 1}[is]
	}
	return v
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// wire is the number that a field has on the wire.
func (w *walk) wire(it *Item, s *scope) int64 {
	v, _ := s.find(it.Name)
	switch v := v.(type) {
	case int64:
		return v - it.Plus
	case string:
		return it.Names[v]
	}
	return 0
}

// write appends an item.
func (w *walk) write(it *Item, s *scope) {
	switch v, _ := s.find(it.Name); {
	case it.Align > 0:
		w.append(0, (it.Align-w.at%it.Align)%it.Align)
	case it.Late:
		at := w.at
		w.append(0, it.Bits)
		w.late = append(w.late, func() { w.put(number(it.from(s)), it.Bits, at) })
	case it.Bytes != "":
		b, _ := v.([]byte)
		if text, ok := v.(string); ok {
			b = []byte(text)
		}
		for _, x := range b {
			w.append(int64(x), 8)
		}
	case it.Flags != "":
		flags, _ := v.([]bool)
		for i := range number(it.size(s)) {
			bit := int64(0)
			if i < int64(len(flags)) && flags[i] {
				bit = 1
			}
			w.append(bit, 1)
		}
	default:
		w.append(w.wire(it, s), it.Bits)
	}
}

// append appends the low bits of a number.
func (w *walk) append(n int64, bits int) {
	for len(w.bytes)*8 < w.at+bits {
		w.bytes = append(w.bytes, 0)
	}
	w.put(n, bits, w.at)
	w.at += bits
}

// put sets bits that are there.
func (w *walk) put(n int64, bits, at int) {
	for k := range bits {
		if n>>k&1 == 1 {
			w.bytes[(at+k)/8] |= 1 << ((at + k) % 8)
		}
	}
}

// Raw returns the bytes of values, valid or not: those of an encoder that makes no checks. A number
// that an encoder computes can be given.
func Raw(layout string, v Values, p Parameters) []byte {
	return visit(layout, v, p, blind{}).finished()
}

// blind is a visitor that only keeps the checks away.
type blind struct{}

func (blind) value(*Item, *scope, *context) {}
func (blind) enter(*Item, *scope)           {}
func (blind) leave(*Item)                   {}

// Encode returns the bytes of values by a layout. Bytes and flags have the sizes that the layout
// has for them, except where it checks that.
func Encode(layout string, v Values, p Parameters) ([]byte, *Fault) {
	f := find(layout)
	w := &walk{format: f, parameters: p}
	if err := w.items(f.Items, newScope(w, v, nil), &context{whole: f.Whole, exact: f.Exact}); err != nil {
		return nil, err
	}
	return w.finished(), nil
}

// finished is the bytes, with what is written at last.
func (w *walk) finished() []byte {
	for _, write := range w.late {
		write()
	}
	return w.bytes
}
