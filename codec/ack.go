package codec

import "github.com/chunkwire/chunkwire/bitpack"

// Ack tells which slices of a chunk have arrived (section 4.2). It always holds
// the whole state, so any later ack makes up for a lost one.
type Ack struct {
	ChunkID   uint16
	NumSlices int    // 1..MaxSlices
	Acked     Bitset // no id of NumSlices or above
}

// AppendAckBody appends the body of a to dst. It fails with ErrInvalidField,
// and then returns dst as it was.
func AppendAckBody(dst []byte, a Ack) ([]byte, error) {
	if e := a.check(); e != nil {
		return dst, e
	}
	w := bitpack.NewWriter(dst)
	a.write(&w)
	return w.Finish()
}

// DecodeAckBody decodes a body that holds an ack and nothing else.
func DecodeAckBody(body []byte) (Ack, error) {
	r := bitpack.NewReader(body)
	a, e := readAck(&r)
	if e == nil {
		e = readEndOfBody(&r)
	}
	if e != nil {
		return Ack{}, e
	}
	return a, nil
}

// Validate returns ErrInvalidField when a cannot be represented.
func (a *Ack) Validate() error {
	if e := a.check(); e != nil {
		return e
	}
	return nil
}

// check tells whether a can be represented (ENC-2, ENC-5).
func (a *Ack) check() *Error {
	if a.NumSlices < 1 || a.NumSlices > MaxSlices {
		return fault(numSlicesInvalid, 16)
	}
	if !a.Acked.Minus(FirstN(a.NumSlices)).Empty() {
		return fault(ackedInvalid, 24)
	}
	return nil
}

// write writes the fields of an ack that check has passed.
func (a *Ack) write(w *bitpack.Writer) {
	w.Bits(uint64(a.ChunkID), 16)
	w.Bits(uint64(a.NumSlices-1), 8)
	left := a.NumSlices
	for _, word := range a.Acked {
		if left <= 0 {
			return
		}
		w.Bits(word, min(left, 64))
		left -= 64
	}
}

// readAck reads the fields of an ack, in wire order (DEC-4, DEC-6, DEC-9).
func readAck(r *bitpack.Reader) (Ack, *Error) {
	start := r.Offset()
	chunkID, err := r.Bits(16)
	if err != nil {
		return Ack{}, fault(chunkIDMissing, start)
	}
	lastID, err := r.Bits(8)
	if err != nil {
		return Ack{}, fault(numSlicesMissing, start+16)
	}
	a := Ack{ChunkID: uint16(chunkID), NumSlices: int(lastID) + 1}
	for w := 0; 64*w < a.NumSlices; w++ {
		if a.Acked[w], err = r.Bits(min(a.NumSlices-64*w, 64)); err != nil {
			return Ack{}, fault(ackedMissing, start+24)
		}
	}
	return a, nil
}
