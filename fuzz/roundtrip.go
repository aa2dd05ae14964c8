package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
)

// An input of FuzzRoundTrip is a protocol id, 4 bytes; a byte each for the length
// of what stands before the packet in its buffer and for the buffer's spare room;
// and a packet as readPacket takes it.

// CheckRoundTrip encodes any packet: it is refused if and only if it cannot be
// represented (section 6.2), and then nothing was written; otherwise decoding
// gives it back.
func CheckRoundTrip(t T, data []byte) {
	s := script{data}
	framer := codec.NewFramer(s.uint32())
	before, spare := int(s.byte()%32), 8*int(s.byte())
	p := readPacket(&s)
	valid := isValid(p)
	checkValidate(t, p, valid)

	datagram := appended(t, valid, before, spare, func(dst []byte) ([]byte, error) { return framer.Append(dst, p) })
	if valid {
		checkSizes(t, p, len(datagram))
		back, err := framer.Decode(datagram)
		checkSame(t, "datagram", p, back, err)
	}
	if p.Type > codec.TypeAck {
		return
	}
	body := appended(t, valid, before, spare, func(dst []byte) ([]byte, error) { return appendBody(dst, p) })
	if valid {
		back, err := decodeBody(p.Type, body)
		checkSame(t, "body", p, back, err)
	}
}

// readPacket makes a packet, representable or not: a byte for its type, of which
// bit 7 asks to put all fields within their limits; chunk_id, num_slices,
// slice_id and size, 2 bytes each; and its data, which is repeated as often as
// its size asks, or the bits of an ack.
func readPacket(s *script) codec.Packet {
	kind := s.byte()
	chunkID, num, id, size := s.uint16(), int(int16(s.uint16())), int(int16(s.uint16())), int(s.uint16()%1300)
	if kind&0x80 != 0 {
		num = 1 + (num-1)&0xff
		id = (id & 0xff) % num
	}
	switch kind & 0x7f % 8 {
	case 4, 5, 6:
		a := codec.Ack{ChunkID: chunkID, NumSlices: num}
		for w := range a.Acked {
			a.Acked[w] = s.uint64()
		}
		if kind&0x80 != 0 {
			a.Acked = a.Acked.Intersect(codec.FirstN(num))
		}
		return codec.Packet{Type: codec.TypeAck, Ack: a}
	case 7:
		return codec.Packet{Type: codec.Type(2 + chunkID%254)}
	}
	if kind&0x80 != 0 {
		if size = 1 + (size-1)&0x3ff; id < num-1 {
			size = codec.SliceSize
		}
	}
	p := codec.Packet{Type: codec.TypeSlice, Slice: codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: num}}
	p.Slice.Data = repeated(s.left, size)
	return p
}

// repeated returns n bytes, the given ones again and again.
func repeated(b []byte, n int) []byte {
	out := make([]byte, n)
	if len(b) > 0 {
		for at := 0; at < n; {
			at += copy(out[at:], b)
		}
	}
	return out
}

const untouched = 0xA5

// appended calls an encoder with a buffer that holds something already and has
// spare room behind, and returns what it added. A refused packet must leave the
// buffer as it was, the room included (6.2).
func appended(t T, valid bool, before, spare int, encode func([]byte) ([]byte, error)) []byte {
	t.Helper()
	room := bytes.Repeat([]byte{untouched}, before+spare)
	out, err := encode(room[:before])
	if valid != (err == nil) {
		t.Fatalf("representable: %v, but the encoder says %v", valid, err)
	}
	if len(out) < before || !allUntouched(out[:before]) {
		t.Fatalf("what stood in the buffer before has changed")
	}
	if err == nil {
		return out[before:]
	}
	if e, ok := err.(*codec.Error); !ok || e.Code() != codec.CodeInvalidField {
		t.Fatalf("refused by %v", err)
	}
	if len(out) != before || !allUntouched(room) {
		t.Fatalf("a refused packet left something: %x", room)
	}
	return nil
}

func allUntouched(b []byte) bool {
	for _, v := range b {
		if v != untouched {
			return false
		}
	}
	return true
}

func checkValidate(t T, p codec.Packet, valid bool) {
	t.Helper()
	var err error
	switch p.Type {
	case codec.TypeSlice:
		err = p.Slice.Validate()
	case codec.TypeAck:
		err = p.Ack.Validate()
	default:
		return
	}
	if valid != (err == nil) {
		t.Fatalf("representable: %v, but Validate says %v", valid, err)
	}
}

// checkSizes compares with the table of section 5.
func checkSizes(t T, p codec.Packet, got int) {
	t.Helper()
	var want, told int
	switch s := p.Slice; {
	case p.Type == codec.TypeAck:
		want, told = (57+p.Ack.NumSlices+7)/8+4, codec.AckDatagramSize(p.Ack.NumSlices)
	case s.SliceID == s.NumSlices-1:
		want, told = 14+len(s.Data), codec.SliceDatagramSize(s.SliceID, s.NumSlices, len(s.Data))
	default:
		want, told = 1037, codec.SliceDatagramSize(s.SliceID, s.NumSlices, len(s.Data))
	}
	if got != want || told != want || got > codec.MaxDatagramSize {
		t.Fatalf("the datagram has %d bytes and should have %d; the codec says %d", got, want, told)
	}
	if p.Type == codec.TypeAck && got > codec.MaxAckSize {
		t.Fatalf("an ack of %d bytes", got)
	}
}

func checkSame(t T, what string, want, got codec.Packet, err error) {
	t.Helper()
	if err != nil || !samePacket(want, got) {
		t.Fatalf("the %s decodes to %s, %v, want %s", what, describe(got), err, describe(want))
	}
}

func samePacket(a, b codec.Packet) bool {
	s, o := a.Slice, b.Slice
	return a.Type == b.Type && a.Ack == b.Ack && s.ChunkID == o.ChunkID && s.SliceID == o.SliceID &&
		s.NumSlices == o.NumSlices && bytes.Equal(s.Data, o.Data)
}
