package oracle

import (
	"bytes"
	"errors"
	"testing"
)

// LAW-2, and the sizes of section 5: whatever is accepted is encoded to the same bytes.
func TestCanonical(t *testing.T) {
	x := NewGenerator(1)
	for range 2000 {
		id, p := x.Packet()
		b, err := EncodeDatagram(id, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{b, x.Flip(id, b)} {
			p, err := DecodeDatagram(id, in)
			if err != nil {
				continue
			}
			if again, err := EncodeDatagram(id, p); err != nil || !bytes.Equal(again, in) {
				t.Fatalf("%x becomes %x, %v", in, again, err)
			}
		}
	}
}

func TestEncoderRefuses(t *testing.T) {
	full := make([]byte, SliceSize)
	cases := map[string]Packet{
		"ENC-1": {Type: TypeAck, ChunkID: 65536, NumSlices: 1},
		"ENC-2": {Type: TypeAck, NumSlices: 257},
		"ENC-3": {Type: TypeSlice, SliceID: 2, NumSlices: 2, Data: full},
		"ENC-4": {Type: TypeSlice, SliceID: 0, NumSlices: 2, Data: full[:1023]},
		"ENC-5": {Type: TypeAck, NumSlices: 1, Acked: []bool{false, true}},
		"ENC-6": {Type: "nack", NumSlices: 1},
	}
	for sentence, p := range cases {
		_, bodyErr := EncodeBody(p)
		_, err := EncodeDatagram(0, p)
		for _, err := range []error{bodyErr, err} {
			var refused *Error
			if !errors.As(err, &refused) || refused.Code != InvalidField || refused.Sentence != sentence {
				t.Errorf("%s: %v", sentence, err)
			}
		}
	}
}

// Every sentence of section 6.3, with the place that it names.
func TestDecoderRefuses(t *testing.T) {
	end := []byte{0xe2, 0xac, 0x08, 0x99}
	cases := []struct {
		in   []byte
		want Error
	}{
		{nil, Error{Truncated, "DEC-1", 0}},
		{[]byte{1, 2, 3, 4, 5}, Error{CRCMismatch, "DEC-2", 0}},
		{Seal(7, nil), Error{Truncated, "DEC-3", 32}},
		{Seal(7, []byte{0, 0}), Error{Truncated, "DEC-4", 33}},
		{Seal(7, []byte{0, 0, 0}), Error{Truncated, "DEC-5", 49}},
		{Seal(7, []byte{0, 0, 0, 0}), Error{Truncated, "DEC-6", 57}},
		{Seal(7, []byte{1, 0, 0}), Error{Truncated, "DEC-6", 49}},
		{Seal(7, []byte{0, 0, 2, 0, 0}), Error{SliceIDOutOfRange, "DEC-7", 49}},
		{Seal(7, []byte{0, 0, 0, 0, 0}), Error{Truncated, "DEC-8", 65}},
		{Seal(7, []byte{1, 0, 14, 0}), Error{Truncated, "DEC-9", 57}},
		{Seal(7, []byte{0, 0, 0, 0, 0, 0x80}), Error{NonzeroPadding, "DEC-10", 75}},
		{Seal(7, []byte{1, 0, 0, 4}), Error{NonzeroPadding, "DEC-10", 58}},
		{Seal(7, []byte{0, 0, 0, 0, 0, 0}), Error{Truncated, "DEC-11", 80}},
		{Seal(7, []byte{0, 0, 0, 0, 0, 0, 9, 0xe2}), Error{Truncated, "DEC-12", 88}},
		{Seal(7, []byte{0, 0, 0, 0, 0, 0, 9, 0xe2, 0xac, 0x08, 0x98}), Error{BadEndCheck, "DEC-13", 88}},
		{Seal(7, append(append([]byte{0, 0, 0, 0, 0, 0, 9}, end...), 0)), Error{TrailingData, "DEC-14", 120}},
	}
	for _, c := range cases {
		var refused *Error
		if _, err := DecodeDatagram(7, c.in); !errors.As(err, &refused) || *refused != c.want {
			t.Errorf("%x: %+v, want %+v", c.in, refused, c.want)
		}
	}
}
