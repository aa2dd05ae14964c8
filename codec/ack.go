package codec

import "github.com/chunkwire/chunkwire/bitpack"

// Ack tells which slices of a chunk have arrived (section 4.2). It always holds
// the whole state, so any later ack makes up for a lost one.
type Ack struct {
	ChunkID   uint16 // all of its values are valid (ENC-1)
	NumSlices int    // 1..MaxSlices
	Acked     Bitset // no id of NumSlices or above
}

// AppendAckBody appends the body of a to dst. It fails with ErrInvalidField,
// and then returns dst as it was.
func AppendAckBody(dst []byte, a Ack) ([]byte, error) {
	if e := a.check(); e != nil {
		return dst, e
	}
	return a.append(dst, bitpack.Word{}), nil
}

// DecodeAckBody decodes a body that holds an ack and nothing else.
func DecodeAckBody(body []byte) (a Ack, err error) {
	end, e := a.read(body, 0)
	if e == nil && end < len(body) {
		e = fault(bytesLeft, 8*end)
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
	if a.Acked.Next(a.NumSlices) >= 0 {
		return fault(ackedInvalid, 24)
	}
	return nil
}

// append appends the fields of an ack that check has passed, behind the bits of
// the frame in w (ACK-1).
func (a *Ack) append(dst []byte, w bitpack.Word) []byte {
	w = w.Put(uint64(a.ChunkID), 16).Put(uint64(a.NumSlices-1), 8)
	for i, left := 0, a.NumSlices; left > 0; i, left = i+1, left-64 {
		dst, w = w.PutAppend(dst, a.Acked[i], min(left, 64))
	}
	return w.Append(dst)
}

// read reads the fields of an ack from the stream b, behind its first at bits,
// in wire order (DEC-4, DEC-6, DEC-9, DEC-10). It returns the byte behind them.
func (a *Ack) read(b []byte, at int) (end int, e *Error) {
	_, w := bitpack.Load(b).Take(at)
	switch {
	case w.Len() < 16:
		return 0, fault(chunkIDMissing, at)
	case w.Len() < 24:
		return 0, fault(numSlicesMissing, at+16)
	}
	chunkID, w := w.Take(16)
	lastID, _ := w.Take(8)
	n := int(lastID) + 1
	at += 24
	if 8*len(b)-at < n {
		return 0, fault(ackedMissing, at)
	}
	end, err := bitpack.Aligned(b, at+n)
	if err != nil {
		return 0, fault(paddingNotZero, at+n)
	}
	a.ChunkID, a.NumSlices = uint16(chunkID), n
	bitpack.Words(a.Acked[:], b, at, n)
	return end, nil
}
