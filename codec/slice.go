package codec

import "github.com/chunkwire/chunkwire/bitpack"

// Slice is one piece of a chunk (section 4.1).
type Slice struct {
	ChunkID   uint16 // all of its values are valid (ENC-1)
	SliceID   int    // 0..NumSlices-1 (SLC-2)
	NumSlices int    // 1..MaxSlices
	Data      []byte // SliceSize bytes; in the last slice 1..SliceSize (SLC-3)
}

// Last reports whether the slice is its chunk's last, the one that carries its
// own length.
func (s *Slice) Last() bool { return s.SliceID == s.NumSlices-1 }

// AppendSliceBody appends the body of s to dst. It fails with ErrInvalidField,
// and then returns dst as it was.
func AppendSliceBody(dst []byte, s Slice) ([]byte, error) {
	if e := s.check(); e != nil {
		return dst, e
	}
	return append(s.head(bitpack.Word{}).Append(dst), s.Data...), nil
}

// DecodeSliceBody decodes a body that holds a slice and nothing else. Data
// points into body.
func DecodeSliceBody(body []byte) (s Slice, err error) {
	end, e := s.read(body, 0)
	if e == nil && end < len(body) {
		e = fault(bytesLeft, 8*end)
	}
	if e != nil {
		return Slice{}, e
	}
	return s, nil
}

// Validate returns ErrInvalidField when s cannot be represented.
func (s *Slice) Validate() error {
	if e := s.check(); e != nil {
		return e
	}
	return nil
}

// check tells whether s can be represented (ENC-2 to ENC-4).
func (s *Slice) check() *Error {
	switch n := len(s.Data); {
	case s.NumSlices < 1 || s.NumSlices > MaxSlices:
		return fault(numSlicesInvalid, 24)
	case s.SliceID < 0 || s.SliceID >= s.NumSlices:
		return fault(sliceIDInvalid, 16)
	case s.Last() && (n < 1 || n > SliceSize):
		return fault(dataInvalid, 32)
	case !s.Last() && n != SliceSize:
		return fault(dataInvalid, 32)
	}
	return nil
}

// head puts the fields before the data behind w, for a slice that check has
// passed (SLC-1).
func (s *Slice) head(w bitpack.Word) bitpack.Word {
	w = w.Put(uint64(s.ChunkID), 16).Put(uint64(s.SliceID), 8).Put(uint64(s.NumSlices-1), 8)
	if s.Last() {
		w = w.Put(uint64(len(s.Data)-1), 10)
	}
	return w
}

// read reads the fields of a slice from the stream b, behind its first at bits,
// in wire order (DEC-4 to DEC-8, DEC-10, DEC-11). It returns the byte behind them.
func (s *Slice) read(b []byte, at int) (end int, e *Error) {
	_, w := bitpack.Load(b).Take(at)
	if w.Len() < 32 {
		return 0, sliceHeadMissing(w.Len(), at)
	}
	chunkID, w := w.Take(16)
	sliceID, w := w.Take(8)
	lastID, w := w.Take(8)
	if sliceID > lastID {
		return 0, fault(sliceIDTooLarge, at+16)
	}
	n := SliceSize
	at += 32
	if sliceID == lastID {
		if w.Len() < 10 {
			return 0, fault(sliceBytesMissing, at)
		}
		var lessOne uint64
		lessOne, w = w.Take(10)
		n = int(lessOne) + 1
		at += 10
	}
	if padding, _ := w.Take(-at & 7); padding != 0 {
		return 0, fault(paddingNotZero, at)
	}
	first := (at + 7) >> 3
	end = first + n
	if len(b) < end {
		return 0, fault(dataMissing, 8*first)
	}
	s.ChunkID, s.SliceID, s.NumSlices = uint16(chunkID), int(sliceID), int(lastID)+1
	s.Data = b[first:end:end]
	return end, nil
}

// sliceHeadMissing tells which field the bits that are left are too few for.
func sliceHeadMissing(left, at int) *Error {
	switch {
	case left < 16:
		return fault(chunkIDMissing, at)
	case left < 24:
		return fault(sliceIDMissing, at+16)
	}
	return fault(numSlicesMissing, at+24)
}
