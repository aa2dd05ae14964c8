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
	if codec.NumSlices(codec.MaxChunkSize) != codec.MaxSlices {
		t.Errorf("the largest chunk has %d slices", codec.NumSlices(codec.MaxChunkSize))
	}
	slice, ack := codec.SliceDatagramSize(0, 1, codec.SliceSize), codec.AckDatagramSize(codec.MaxSlices)
	if slice != 1038 || ack != 44 {
		t.Errorf("the largest slice has %d bytes, the largest ack %d", slice, ack)
	}
	if slice != codec.MaxDatagramSize || ack != codec.MaxAckSize {
		t.Errorf("but the limits are %d and %d", codec.MaxDatagramSize, codec.MaxAckSize)
	}
}

// A last slice of any size is refused at every place of its end: the error tells
// the rule and the place, also where one table of errors ends and another begins
// (DEC-12 to DEC-14).
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
}
