package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
)

// An input of FuzzBody is a byte, of which bit 0 is the type, and a bare body.

// CheckBody decodes a bare body, as CheckDatagram does a datagram.
func CheckBody(t T, data []byte) {
	kind, body := readBodyInput(data)
	before := append([]byte(nil), body...)
	p, err := decodeBody(kind, body)
	if err != nil {
		if !isZero(codec.Packet{Slice: p.Slice, Ack: p.Ack}) {
			t.Fatalf("refused with %v, but returned %s", err, describe(p))
		}
		checkRefusal(t, err, body, 0)
		return
	}
	if !isValid(p) {
		t.Fatalf("accepted a value that is none: %s", describe(p))
	}
	again, err := appendBody(nil, p)
	if err != nil || !bytes.Equal(again, body) {
		t.Fatalf("accepted, but it encodes to %x, %v", again, err)
	}
	if !bytes.Equal(before, body) {
		t.Fatalf("decoding changed the body")
	}
}

func readBodyInput(data []byte) (codec.Type, []byte) {
	s := script{data}
	return codec.Type(s.byte() & 1), append([]byte(nil), s.left...)
}

func decodeBody(kind codec.Type, body []byte) (p codec.Packet, err error) {
	p.Type = kind
	if kind == codec.TypeAck {
		p.Ack, err = codec.DecodeAckBody(body)
	} else {
		p.Slice, err = codec.DecodeSliceBody(body)
	}
	return p, err
}

func appendBody(dst []byte, p codec.Packet) ([]byte, error) {
	if p.Type == codec.TypeAck {
		return codec.AppendAckBody(dst, p.Ack)
	}
	return codec.AppendSliceBody(dst, p.Slice)
}
