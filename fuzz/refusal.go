package fuzz

import (
	"errors"

	"github.com/chunkwire/chunkwire/codec"
)

// decoderRules is the table of section 6.3: the code of each check.
var decoderRules = map[string]codec.Code{
	"DEC-1": codec.CodeTruncated, "DEC-2": codec.CodeCRCMismatch, "DEC-3": codec.CodeTruncated,
	"DEC-4": codec.CodeTruncated, "DEC-5": codec.CodeTruncated, "DEC-6": codec.CodeTruncated,
	"DEC-7": codec.CodeSliceIDOutOfRange, "DEC-8": codec.CodeTruncated, "DEC-9": codec.CodeTruncated,
	"DEC-10": codec.CodeNonzeroPadding, "DEC-11": codec.CodeTruncated, "DEC-12": codec.CodeTruncated,
	"DEC-13": codec.CodeBadEndCheck, "DEC-14": codec.CodeTrailingData,
}

var sentinels = map[codec.Code]error{
	codec.CodeTruncated: codec.ErrTruncated, codec.CodeCRCMismatch: codec.ErrCRCMismatch,
	codec.CodeSliceIDOutOfRange: codec.ErrSliceIDOutOfRange, codec.CodeNonzeroPadding: codec.ErrNonzeroPadding,
	codec.CodeBadEndCheck: codec.ErrBadEndCheck, codec.CodeTrailingData: codec.ErrTrailingData,
	codec.CodeInvalidField: codec.ErrInvalidField,
}

// checkRefusal fails unless an error has the code of its sentence and a place at
// which the bytes do break it. The body begins at bit start: 33 in a datagram.
func checkRefusal(t T, err error, b []byte, start int) {
	t.Helper()
	e, ok := err.(*codec.Error)
	switch {
	case !ok:
		t.Fatalf("a foreign error: %v", err)
	case decoderRules[e.Rule()] == "" || decoderRules[e.Rule()] != e.Code():
		t.Fatalf("%v: the sentence %q has not the code %q", err, e.Rule(), e.Code())
	case !errors.Is(err, sentinels[e.Code()]):
		t.Fatalf("%v is not the error of its code", err)
	case e.Bit() < 0 || e.Bit() > 8*len(b):
		t.Fatalf("%v lies outside of %d bytes", err, len(b))
	case !atFault(e.Rule(), e.Bit(), b, start):
		t.Fatalf("%v: nothing is wrong at that place", err)
	}
}

// atFault reports whether the bytes break a sentence of section 6.3 at a bit.
func atFault(rule string, bit int, b []byte, start int) bool {
	left := 8*len(b) - bit
	if start == 0 {
		switch rule {
		case "DEC-1", "DEC-2", "DEC-3", "DEC-12", "DEC-13":
			return false // a bare body has no frame
		}
	}
	switch rule {
	case "DEC-1":
		return bit == 0 && left < 32
	case "DEC-2":
		return bit == 0 && left >= 32
	case "DEC-3":
		return bit == 32 && left < 1
	case "DEC-4":
		return bit == start && left < 16
	case "DEC-5":
		return bit == start+16 && left < 8
	case "DEC-6":
		return (bit == start+16 || bit == start+24) && left < 8
	case "DEC-7":
		return bit == start+16 && left >= 16 && field(b, bit, 8) > field(b, bit+8, 8)
	case "DEC-8":
		return bit == start+32 && left < 10
	case "DEC-9":
		return bit == start+24 && uint64(left) < field(b, start+16, 8)+1
	case "DEC-10":
		return bit%8 != 0 && left > 0 && field(b, bit, 8-bit%8) != 0
	case "DEC-11":
		return bit%8 == 0 && left < 8*codec.SliceSize
	case "DEC-12":
		return bit%8 == 0 && left < 32
	case "DEC-13":
		return bit%8 == 0 && left >= 32 && field(b, bit, 32) != 0x9908ACE2
	case "DEC-14":
		return bit%8 == 0 && left > 0
	}
	return false
}

// field reads n bits, bit by bit (BIT-1, BIT-2).
func field(b []byte, at, n int) (v uint64) {
	for k := range n {
		v |= uint64(b[(at+k)/8]>>((at+k)%8)&1) << k
	}
	return v
}
