package codec

import "github.com/chunkwire/chunkwire/bitpack"

// Slice is one piece of a chunk (section 4.1).
type Slice struct {
	ChunkID   uint16
	SliceID   int    // 0..NumSlices-1
	NumSlices int    // 1..MaxSlices
	Data      []byte // SliceSize bytes; in the last slice 1..SliceSize
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
	w := bitpack.NewWriter(dst)
	s.write(&w)
	return w.Finish()
}

// DecodeSliceBody decodes a body that holds a slice and nothing else. Data
// points into body.
func DecodeSliceBody(body []byte) (Slice, error) {
	r := bitpack.NewReader(body)
	s, e := readSlice(&r)
	if e == nil {
		e = readEndOfBody(&r)
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

// write writes the fields of a slice that check has passed.
func (s *Slice) write(w *bitpack.Writer) {
	w.Bits(uint64(s.ChunkID), 16)
	w.Bits(uint64(s.SliceID), 8)
	w.Bits(uint64(s.NumSlices-1), 8)
	if s.Last() {
		w.Bits(uint64(len(s.Data)-1), 10)
	}
	w.Bytes(s.Data)
}

// readSlice reads the fields of a slice, in wire order (DEC-4 to DEC-8, DEC-10, DEC-11).
func readSlice(r *bitpack.Reader) (Slice, *Error) {
	start := r.Offset()
	chunkID, err := r.Bits(16)
	if err != nil {
		return Slice{}, fault(chunkIDMissing, start)
	}
	sliceID, err := r.Bits(8)
	if err != nil {
		return Slice{}, fault(sliceIDMissing, start+16)
	}
	lastID, err := r.Bits(8)
	if err != nil {
		return Slice{}, fault(numSlicesMissing, start+24)
	}
	if sliceID > lastID {
		return Slice{}, fault(sliceIDTooLarge, start+16)
	}
	n := SliceSize
	if sliceID == lastID {
		lessOne, err := r.Bits(10)
		if err != nil {
			return Slice{}, fault(sliceBytesMissing, start+32)
		}
		n = int(lessOne) + 1
	}
	if r.Align() != nil {
		return Slice{}, fault(paddingNotZero, r.Offset())
	}
	data, err := r.Bytes(n)
	if err != nil {
		return Slice{}, fault(dataMissing, r.Offset())
	}
	return Slice{uint16(chunkID), int(sliceID), int(lastID) + 1, data}, nil
}

// readEndOfBody checks that a bare body ends here (DEC-10, DEC-14).
func readEndOfBody(r *bitpack.Reader) *Error {
	if r.Align() != nil {
		return fault(paddingNotZero, r.Offset())
	}
	if r.Remaining() > 0 {
		return fault(bytesLeft, r.Offset())
	}
	return nil
}
