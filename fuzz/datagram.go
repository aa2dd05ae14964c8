package fuzz

import (
	"bytes"

	"github.com/chunkwire/chunkwire/codec"
)

// An input of FuzzDatagram is a byte, of which bit 0 asks to make the crc right;
// a protocol id, 4 bytes; and a datagram.

// datagramInput is such an input, read.
type datagramInput struct {
	framer   codec.Framer
	repaired bool // the crc was made right
	datagram []byte
}

func readDatagramInput(data []byte) datagramInput {
	s := script{data}
	in := datagramInput{repaired: s.byte()&1 == 1, framer: codec.NewFramer(s.uint32())}
	in.datagram = append([]byte(nil), s.left...)
	if in.repaired {
		repair(in.framer.ProtocolID(), in.datagram)
	}
	return in
}

// CheckDatagram decodes a datagram: it is accepted if and only if it is what the
// encoder makes of the value (LAW-2); otherwise nothing is returned but an error
// that tells the truth (DEC-15).
func CheckDatagram(t T, data []byte) {
	in := readDatagramInput(data)
	before := append([]byte(nil), in.datagram...)
	p, err := in.framer.Decode(in.datagram)
	switch {
	case err != nil:
		if !isZero(p) {
			t.Fatalf("refused with %v, but returned %s", err, describe(p))
		}
		checkRefusal(t, err, in.datagram, 33)
		checkCRC(t, err.(*codec.Error).Rule(), in)
	case !isValid(p):
		t.Fatalf("accepted a value that is none: %s", describe(p))
	default:
		again, err := in.framer.Append(nil, p)
		if err != nil || !bytes.Equal(again, in.datagram) {
			t.Fatalf("accepted, but it encodes to %x, %v", again, err)
		}
		if !crcIsRight(in) {
			t.Fatalf("accepted with a wrong crc")
		}
	}
	if !bytes.Equal(before, in.datagram) {
		t.Fatalf("decoding changed the datagram")
	}
}

// checkCRC: a crc is refused if and only if it is wrong (DEC-2).
func checkCRC(t T, rule string, in datagramInput) {
	t.Helper()
	if refused := rule == "DEC-2"; len(in.datagram) >= 4 && refused == crcIsRight(in) {
		t.Fatalf("refused by %s, but the crc is right: %v", rule, crcIsRight(in))
	}
}
