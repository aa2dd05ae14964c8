package connection

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/packet"
)

// The sizes of section 7, in bytes.
const (
	// MaxText is the longest text of a close.
	MaxText = 128
	// MaxDatagram is the largest datagram that an end sends, in bytes.
	MaxDatagram = packet.MaxDatagram + 25

	largestPayload = channel.LargestPayload
	closeTop       = 4 // before the text
	sliceTop       = 2 // before the body
	ackTop         = 3
	ecnSize        = 5
	largestSlice   = sliceTop + 6 + codec.SliceSize // the record of a last slice that is full
	largestAck     = ackTop + 3 + codec.MaxSlices/8
)

// Type is the first byte of a record. Those below TypeClose are of package channel.
type Type uint8

// The types of records (CXR-1 to CXR-3, CXR-9).
const (
	TypeClose Type = 7 + iota
	TypeSlice
	TypeChunkAck
	TypeECN
)

func (t Type) String() string {
	if t < TypeClose || t > TypeECN {
		return "unknown"
	}
	return [...]string{"close", "slice", "chunk ack", "ECN"}[t-TypeClose]
}

// Record is a record that a connection adds to the records of the channels. It has the fields of its
// type, the others are 0 (CXR-1 to CXR-3, CXR-9).
type Record struct {
	Type  Type
	Code  uint16 // of a close
	Text  []byte // of a close: UTF-8, 0 to MaxText bytes
	Lane  int    // of a slice or a chunk ack
	Slice codec.Slice
	Ack   codec.Ack
	Marks Marks // of an ECN
}

// quiet reports whether the record asks for no ack (CXR-6).
func (r *Record) quiet() bool { return r.Type != TypeSlice }

// Format is the codec of records 7 to 10: what both ends agreed on.
type Format struct {
	Lanes  int
	Repair bool // the bodies of slices and chunk acks are as in codec.Repair
	ECN    bool // there are records of marks
}

// IsRecord reports whether the record that begins at a place of a payload is one of a
// connection, and not of the channels.
func (f Format) IsRecord(payload []byte, at int) bool {
	last := TypeChunkAck
	if f.ECN {
		last = TypeECN
	}
	return at < len(payload) && Type(payload[at]) >= TypeClose && Type(payload[at]) <= last
}

// Decode decodes the record that begins at a place of a payload. It returns where the next one
// begins: the payload ends there, or another record follows. The checks and their order are
// in CXR-5. What the record holds points into the payload. Decode takes exactly what
// Append makes (CXR-7), and reads nothing beyond the payload.
func (f Format) Decode(payload []byte, at int, r *Record) (next int, err error) {
	if next, e := f.decode(payload, at, r); e == nil {
		return next, nil
	} else {
		return at, e
	}
}

func (f Format) decode(b []byte, at int, r *Record) (next int, err *Error) {
	*r = Record{}
	if at >= len(b) {
		return 0, fieldMissing.At(at)
	}
	r.Type = Type(b[at])
	switch {
	case r.Type == TypeClose:
		return r.decodeClose(b, at)
	case r.Type == TypeSlice || r.Type == TypeChunkAck:
		return f.decodeLane(b, at, r)
	case r.Type == TypeECN && f.ECN:
		return r.decodeECN(b, at)
	}
	return 0, typeUnknown.At(at)
}

// decodeClose decodes a close, which is all of its payload (CXR-1).
func (r *Record) decodeClose(b []byte, at int) (next int, err *Error) {
	switch {
	case at > 0:
		return 0, closeNotFirst.At(at)
	case len(b) < 3:
		return 0, fieldMissing.At(1)
	case len(b) < closeTop:
		return 0, fieldMissing.At(3)
	}
	r.Code = binary.LittleEndian.Uint16(b[1:])
	end := closeTop + int(b[3])
	switch {
	case end > closeTop+MaxText:
		return 0, textTooLong.At(3)
	case len(b) < end:
		return 0, fieldMissing.At(closeTop)
	case !utf8.Valid(b[closeTop:end]):
		return 0, textNotUTF8.At(closeTop)
	case len(b) > end:
		return 0, closeNotLast.At(end)
	}
	r.Text = b[closeTop:end:end]
	return end, nil
}

// decodeECN decodes what an end counted of marks (CXR-9).
func (r *Record) decodeECN(b []byte, at int) (next int, err *Error) {
	for field := at + 1; field < at+ecnSize; field += 2 {
		if len(b) < field+2 {
			return 0, fieldMissing.At(field)
		}
	}
	r.Marks = Marks{binary.LittleEndian.Uint16(b[at+1:]), binary.LittleEndian.Uint16(b[at+3:])}
	return at + ecnSize, nil
}

// decodeLane decodes a slice or a chunk ack (CXR-2, CXR-3).
func (f Format) decodeLane(b []byte, at int, r *Record) (next int, err *Error) {
	if len(b) < at+2 {
		return 0, fieldMissing.At(at + 1)
	}
	r.Lane = int(b[at+1])
	switch {
	case r.Lane >= f.Lanes:
		return 0, laneBeyond.At(at + 1)
	case r.Type == TypeSlice:
		return f.decodeSlice(b, at+sliceTop, &r.Slice)
	}
	return f.decodeAck(b, at+2, &r.Ack)
}

// kind returns the kind of the bodies.
func (f Format) kind() codec.Kind { return codec.KindOf(f.Repair) }

// decodeSlice decodes the body of a slice, which is the rest of the payload.
func (f Format) decodeSlice(b []byte, at int, s *codec.Slice) (next int, err *Error) {
	var e error
	if *s, e = f.kind().DecodeSliceBody(b[at:]); e != nil {
		return 0, inBody(e, at)
	}
	return len(b), nil
}

// decodeAck decodes a length and the body of an ack.
func (f Format) decodeAck(b []byte, at int, a *codec.Ack) (next int, err *Error) {
	if len(b) <= at {
		return 0, fieldMissing.At(at)
	}
	from := at + 1
	next = from + int(b[at])
	if len(b) < next {
		return 0, fieldMissing.At(from)
	}
	var e error
	if *a, e = f.kind().DecodeAckBody(b[from:next]); e != nil {
		return 0, inBody(e, from)
	}
	return next, nil
}

// Append appends the record to a payload. It fails with what a decoder would say of it, at the
// place where the field at fault would be (CXR-8); it then returns the payload as it was.
func (f Format) Append(payload []byte, r *Record) ([]byte, error) {
	out, err := f.append(payload, r)
	if err != nil {
		return payload, err
	}
	return out, nil
}

func (f Format) append(b []byte, r *Record) (out []byte, err error) {
	at := len(b)
	switch {
	case r.Type == TypeClose:
		return appendClose(b, r)
	case r.Type == TypeECN && f.ECN:
		return appendECN(b, r.Marks), nil
	case r.Type != TypeSlice && r.Type != TypeChunkAck:
		return nil, typeUnknown.At(at)
	case r.Lane < 0 || r.Lane >= f.Lanes:
		return nil, laneBeyond.At(at + 1)
	case r.Type == TypeSlice:
		out, err = f.kind().AppendSliceBody(append(b, byte(r.Type), byte(r.Lane)), r.Slice)
	default:
		out, err = f.kind().AppendAckBody(append(b, byte(r.Type), byte(r.Lane), 0), r.Ack)
	}
	switch {
	case err != nil && r.Type == TypeSlice:
		return nil, bodyInvalid.At(at + sliceTop)
	case err != nil:
		return nil, bodyInvalid.At(at + ackTop)
	case r.Type == TypeChunkAck:
		out[at+2] = byte(len(out) - at - ackTop)
	}
	return out, nil
}

func appendClose(b []byte, r *Record) ([]byte, error) {
	switch {
	case len(b) > 0:
		return nil, closeNotFirst.At(len(b))
	case len(r.Text) > MaxText:
		return nil, textTooLong.At(3)
	case !utf8.Valid(r.Text):
		return nil, textNotUTF8.At(closeTop)
	}
	b = binary.LittleEndian.AppendUint16(append(b, byte(TypeClose)), r.Code)
	return append(append(b, byte(len(r.Text))), r.Text...), nil
}

func appendECN(b []byte, m Marks) []byte {
	b = binary.LittleEndian.AppendUint16(append(b, byte(TypeECN)), m.Arrived)
	return binary.LittleEndian.AppendUint16(b, m.Congested)
}
