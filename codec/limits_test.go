package codec_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// The figures of section 2.3, and that they agree (LIM-1 to LIM-4).
func TestLimits(t *testing.T) {
	if codec.SliceSize != 1024 || codec.MaxSlices != 256 || codec.MaxChunkSize != 262_144 {
		t.Errorf("%d slices of %d bytes, chunks of %d", codec.MaxSlices, codec.SliceSize, codec.MaxChunkSize)
	}
	if codec.HeaderBytes != 28 {
		t.Errorf("headers of %d bytes", codec.HeaderBytes)
	}
	if codec.NumSlices(codec.MaxChunkSize) != codec.MaxSlices {
		t.Errorf("the largest chunk has %d slices", codec.NumSlices(codec.MaxChunkSize))
	}
	slice, ack := (&codec.Slice{NumSlices: 1, Data: make([]byte, codec.SliceSize)}).DatagramSize(), codec.Named.AckSize(codec.MaxSlices)
	if slice != 1038 || ack != 44 {
		t.Errorf("the largest slice has %d bytes, the largest ack %d", slice, ack)
	}
	if slice != codec.MaxDatagramSize || ack != codec.MaxAckSize {
		t.Errorf("but the limits are %d and %d", codec.MaxDatagramSize, codec.MaxAckSize)
	}
}

// verdict is what becomes of bytes: the rule that refuses them, and where.
type verdict struct {
	rule string
	bit  int
}

func verdictOf(err error) verdict {
	if e, ok := err.(*codec.Error); ok {
		return verdict{e.Rule(), e.Place()}
	}
	return verdict{}
}

// A last slice of any size is refused at every place of its end: the error has
// the rule and the place (DEC-12 to DEC-14). One that is longer than any datagram can
// be refused before (DEC-16).
func TestTheEndOfEverySliceIsChecked(t *testing.T) {
	data := make([]byte, codec.SliceSize)
	for n := 1; n <= len(data); n++ {
		whole, err := framer.AppendSlice(nil, codec.Slice{ChunkID: 7, NumSlices: 1, Data: data[:n]})
		if err != nil {
			t.Fatal(err)
		}
		end := 10 + n
		cut := reseal(append([]byte(nil), whole[:end+3]...))
		wrong := append([]byte(nil), whole...)
		wrong[end] ^= 1
		if err := codec.CheckSize(len(whole)); err != nil {
			t.Errorf("%d bytes are refused: %v", len(whole), err)
		}
		cases := map[string]struct {
			datagram []byte
			want     verdict
		}{
			"cut":    {cut, verdict{"DEC-12", 8 * end}},
			"wrong":  {reseal(wrong), verdict{"DEC-13", 8 * end}},
			"longer": {reseal(append(whole[:len(whole):len(whole)], 0)), verdict{"DEC-14", 8*end + 32}},
		}
		for name, c := range cases {
			if _, err := framer.Decode(c.datagram); verdictOf(err) != c.want {
				t.Errorf("end of %d bytes %s: %v, want %+v", n, name, err, c.want)
			}
		}
	}
	if got, want := verdictOf(codec.CheckSize(codec.MaxDatagramSize+1)), (verdict{"DEC-16", 8 * codec.MaxDatagramSize}); got != want {
		t.Errorf("a datagram that is too long: %+v, want %+v", got, want)
	}
}
