package codec

import (
	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/internal/frame"
)

// Kind distinguishes the two kinds of slices, and so the packets that carry them: both
// kinds have a slice and an ack, with the same frame and the same types. The two ends of a
// connection use the same kind; a packet does not say which it is.
type Kind uint8

const (
	// Named slices are the parts of the chunk. Each is acked by its id (spec/PROTOCOL.md).
	Named Kind = iota
	// Repair slices make up for each other: any NumSlices of them with independent rows
	// rebuild the chunk, and an ack counts them (spec/REPAIR.md).
	Repair
)

// KindOf returns the kind of slices, where a flag says whether they are repair slices.
func KindOf(repair bool) Kind {
	if repair {
		return Repair
	}
	return Named
}

func (k Kind) String() string {
	if k == Repair {
		return "repair"
	}
	return "named"
}

// ValidateSlice returns ErrInvalidField when s cannot be represented.
func (k Kind) ValidateSlice(s *Slice) error {
	if k == Repair {
		return s.validateRepair()
	}
	return s.validateNamed()
}

// ValidateAck returns ErrInvalidField when a cannot be represented.
func (k Kind) ValidateAck(a *Ack) error {
	if k == Repair {
		return a.validateRepair()
	}
	return a.validateNamed()
}

// AckSize returns the size in bytes of the datagram that carries an ack of a chunk.
func (k Kind) AckSize(numSlices int) int {
	if k == Repair {
		return repairAckSize
	}
	return (57+numSlices+7)/8 + 4
}

// AppendSliceBody appends the body of s to dst. It fails with ErrInvalidField,
// and then returns dst as it was.
func (k Kind) AppendSliceBody(dst []byte, s Slice) ([]byte, error) {
	if err := k.ValidateSlice(&s); err != nil {
		return dst, err
	}
	w := bitpack.NewWriter(dst)
	k.appendSlice(&w, &s)
	return w.Finish()
}

// AppendAckBody appends the body of a to dst. It fails with ErrInvalidField,
// and then returns dst as it was.
func (k Kind) AppendAckBody(dst []byte, a Ack) ([]byte, error) {
	if err := k.ValidateAck(&a); err != nil {
		return dst, err
	}
	w := bitpack.NewWriter(dst)
	k.appendAck(&w, &a)
	return w.Finish()
}

// DecodeSliceBody decodes a body that holds a slice and nothing else (DEC-17).
// Data points into body.
func (k Kind) DecodeSliceBody(body []byte) (Slice, error) {
	d := frame.NewDecoder(body)
	s := k.slice(&d)
	if d.End(); d.Err != nil {
		return Slice{}, d.Err
	}
	return s, nil
}

// DecodeAckBody decodes a body that holds an ack and nothing else.
func (k Kind) DecodeAckBody(body []byte) (Ack, error) {
	d := frame.NewDecoder(body)
	a := k.ack(&d)
	if d.End(); d.Err != nil {
		return Ack{}, d.Err
	}
	return a, nil
}

func (k Kind) appendSlice(w *bitpack.Writer, s *Slice) {
	if k == Repair {
		s.appendRepair(w)
	} else {
		s.appendNamed(w)
	}
}

func (k Kind) appendAck(w *bitpack.Writer, a *Ack) {
	if k == Repair {
		a.appendRepair(w)
	} else {
		a.appendNamed(w)
	}
}

func (k Kind) slice(d *frame.Decoder) Slice {
	if k == Repair {
		return repairSlice(d)
	}
	return namedSlice(d)
}

func (k Kind) ack(d *frame.Decoder) Ack {
	if k == Repair {
		return repairAck(d)
	}
	return namedAck(d)
}
