package codec_test

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/bitpack"
	"github.com/chunkwire/chunkwire/codec"
	"pgregory.net/rapid"
)

// plainFields writes a packet's fields one at a time, as section 4 lists them.
func plainFields(w *bitpack.Writer, p codec.Packet) {
	w.Bits(uint64(p.Slice.ChunkID|p.Ack.ChunkID), 16) // the other packet is zero
	if p.Type == codec.TypeAck {
		w.Int(int64(p.Ack.NumSlices), 1, 256)
		for k := range p.Ack.NumSlices {
			w.Bool(p.Ack.Acked.Has(k))
		}
		return
	}
	w.Int(int64(p.Slice.SliceID), 0, 255)
	w.Int(int64(p.Slice.NumSlices), 1, 256)
	if p.Slice.SliceID == p.Slice.NumSlices-1 {
		w.Int(int64(len(p.Slice.Data)), 1, 1024)
	}
	w.Bytes(p.Slice.Data)
}

func plainBody(t *rapid.T, p codec.Packet) []byte {
	var w bitpack.Writer
	plainFields(&w, p)
	return finished(t, &w)
}

// plainDatagram is section 5, with a crc of 0 that reseal replaces.
func plainDatagram(t *rapid.T, p codec.Packet) []byte {
	var w bitpack.Writer
	w.Bits(0, 32)
	w.Bits(uint64(p.Type), 1)
	plainFields(&w, p)
	w.Align()
	w.Bits(0x9908ACE2, 32)
	return reseal(finished(t, &w))
}

func finished(t *rapid.T, w *bitpack.Writer) []byte {
	out, err := w.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The encoders, which put a head together in a register and move an ack's bits by
// words, make what the fields make one by one (SLC-1, ACK-1, FRM-1, FRM-4).
func TestEncodersAgreeWithThePlainWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPacket(t)
		body, err := appendBody(p)
		if want := plainBody(t, p); err != nil || !bytes.Equal(body, want) {
			t.Fatalf("body %x, %v, plain %x", body, err, want)
		}
		datagram, err := framer.Append(nil, p)
		if want := plainDatagram(t, p); err != nil || !bytes.Equal(datagram, want) {
			t.Fatalf("datagram %x, %v, plain %x", datagram, err, want)
		}
	})
}

// verdict is what becomes of bytes: the rule that refuses them, and where.
type verdict struct {
	rule string
	bit  int
}

func verdictOf(err error) verdict {
	if e, ok := err.(*codec.Error); ok {
		return verdict{e.Rule(), e.Bit()}
	}
	return verdict{}
}

// plainReader walks along the wire as the table of section 6.3 does, one check
// at a time. The first that fails stands.
type plainReader struct {
	bitpack.Reader
	verdict
}

func (r *plainReader) refuse(rule string, bit int) {
	if r.rule == "" {
		r.verdict = verdict{rule, bit}
	}
}

func (r *plainReader) field(n int, rule string) uint64 {
	v, err := r.Bits(n)
	if err != nil {
		r.refuse(rule, r.Offset())
	}
	return v
}

func (r *plainReader) align() {
	if r.Align() != nil {
		r.refuse("DEC-10", r.Offset())
	}
}

func (r *plainReader) slice() {
	start := r.Offset()
	r.field(16, "DEC-4")
	id, last := r.field(8, "DEC-5"), r.field(8, "DEC-6")
	if id > last {
		r.refuse("DEC-7", start+16)
	}
	n := codec.SliceSize
	if id == last {
		n = int(r.field(10, "DEC-8")) + 1
	}
	r.align()
	if _, err := r.Bytes(n); err != nil {
		r.refuse("DEC-11", r.Offset())
	}
}

func (r *plainReader) ack() {
	r.field(16, "DEC-4")
	n, start := int(r.field(8, "DEC-6"))+1, r.Offset()
	for range n {
		if _, err := r.Bool(); err != nil {
			r.refuse("DEC-9", start)
		}
	}
	r.align()
}

func (r *plainReader) packet(kind codec.Type) {
	if kind == codec.TypeSlice {
		r.slice()
	} else {
		r.ack()
	}
}

func (r *plainReader) end() verdict {
	if r.Remaining() > 0 {
		r.refuse("DEC-14", r.Offset())
	}
	return r.verdict
}

// plainDecode is the plain verdict on a datagram whose crc is right.
func plainDecode(datagram []byte) verdict {
	r := plainReader{Reader: bitpack.NewReader(datagram)}
	r.field(32, "DEC-1")
	r.packet(codec.Type(r.field(1, "DEC-3")))
	at := r.Offset()
	if r.field(32, "DEC-12") != 0x9908ACE2 {
		r.refuse("DEC-13", at)
	}
	return r.end()
}

// The decoders refuse what the plain walk refuses, by the same rule and at the
// same bit, and accept the rest (LAW-2, DEC-15).
func TestDecodersAgreeWithThePlainReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPacket(t)
		d, _ := framer.Append(nil, p)
		body, _ := appendBody(p)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			d, body = drawChange(t, d), drawChange(t, body)
		}
		d = reseal(d)
		_, err := framer.Decode(d)
		if got, want := verdictOf(err), plainDecode(d); got != want {
			t.Fatalf("%x: %+v, plain %+v", d, got, want)
		}
		for _, kind := range []codec.Type{codec.TypeSlice, codec.TypeAck} {
			r := plainReader{Reader: bitpack.NewReader(body)}
			r.packet(kind)
			_, err := decodeBody(kind, body)
			if got, want := verdictOf(err), r.end(); got != want {
				t.Fatalf("%v body %x: %+v, plain %+v", kind, body, got, want)
			}
		}
	})
}
