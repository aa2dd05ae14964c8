package layout

import (
	"iter"
	"maps"
	"slices"
)

// Mutations are bytes with a fault or two, or without: each cut, a byte more, each bit changed, each
// number at and beside its bounds, and two numbers at once. A field that follows from all bytes is
// made right again.
func Mutations(layout string, b []byte, p Parameters, given Values) iter.Seq[[]byte] {
	var numbers []Part
	var late []Part
	Trace(layout, b, p, given, func(part Part) {
		switch {
		case part.Begin || part.End || part.Item.Bits == 0:
		case part.Item.Late:
			late = append(late, part)
		default:
			numbers = append(numbers, part)
		}
	})
	return func(yield func([]byte) bool) {
		for m := range mutations(b, numbers) {
			for _, part := range late {
				reseal(find(layout), m, part, p)
			}
			if !yield(m) {
				return
			}
		}
	}
}

// mostBytes is how many bytes at the beginning have each of their bits changed.
const mostBytes = 64

func mutations(b []byte, numbers []Part) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for n := range min(len(b), mostBytes) {
			if !yield(slices.Clone(b[:n])) || !yield(slices.Clone(b[:len(b)-1-n])) {
				return
			}
		}
		if !yield(append(slices.Clone(b), 0)) || !yield(append(slices.Clone(b), 1)) {
			return
		}
		for bit := range 8 * len(b) {
			if bit < 8*mostBytes || bit > 8*len(b)-64 {
				m := slices.Clone(b)
				if m[bit/8] ^= 1 << (bit % 8); !yield(m) {
					return
				}
			}
		}
		for i, part := range numbers {
			for _, n := range bounds(b, part) {
				m := with(b, part, n)
				if !yield(m) {
					return
				}
				for _, other := range numbers[i+1:] {
					if !yield(with(m, other, -1)) {
						return
					}
				}
			}
		}
	}
}

// bounds are the least and the largest number of a field, and those beside the one that it has.
func bounds(b []byte, part Part) []int64 {
	w := &walk{bytes: b, at: part.At}
	n := w.take(part.Size)
	return []int64{0, -1, n - 1, n + 1}
}

// with is bytes with the low bits of a number in a field.
func with(b []byte, part Part, n int64) []byte {
	m := slices.Clone(b)
	for k := range part.Size {
		bit := part.At + k
		m[bit/8] = m[bit/8]&^(1<<(bit%8)) | byte(n>>k&1)<<(bit%8)
	}
	return m
}

// reseal makes a field right that follows from all bytes, if it is there.
func reseal(f *Format, b []byte, part Part, p Parameters) {
	if 8*len(b) < part.At+part.Size {
		return
	}
	w := &walk{format: f, parameters: p, bytes: b}
	copy(b, with(b, part, number(part.Item.from(newScope(w, Values{}, nil)))))
}

// ValueMutations are values with one of them changed, also to such as no encoder takes.
func ValueMutations(v Values) iter.Seq[Values] {
	return func(yield func(Values) bool) {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			for _, other := range others(v[name]) {
				m := maps.Clone(v)
				if m[name] = other; !yield(m) {
					return
				}
			}
		}
	}
}

// others are other values in the place of one.
func others(v any) (list []any) {
	switch v := v.(type) {
	case int64:
		for _, n := range []int64{-1, 0, 1, v - 1, v + 1, 255, 256, 257, 1024, 1025, 8192, 16385, 65535, 65536, 1 << 32, 1<<32 - 1} {
			list = append(list, n)
		}
	case []byte:
		long := append(slices.Clone(v), make([]byte, 1025)...)
		list = append(list, []byte{}, long[:len(v)+1], long[:1024], long[:1025], v[:len(v)/2])
	case []bool:
		list = append(list, append(slices.Clone(v), true), append(slices.Clone(v), false), []bool{})
	case []Values:
		for i := range v {
			for m := range ValueMutations(v[i]) {
				changed := slices.Clone(v)
				changed[i] = m
				list = append(list, changed)
			}
		}
		list = append(list, []Values{}, append(slices.Clone(v), v...))
	}
	return list
}

// Reseal makes the field right with which a layout begins, if that follows from all bytes: no fuzzer
// would get past a checksum.
func Reseal(layout string, b []byte, p Parameters) {
	f := find(layout)
	if first := &f.Items[0]; first.Late {
		reseal(f, b, Part{Item: first, Size: first.Bits}, p)
	}
}
