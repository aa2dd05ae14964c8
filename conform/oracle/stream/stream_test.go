package stream

import (
	"encoding/hex"
	"testing"
)

// The example of section 3.
func TestStreamOfTheDocument(t *testing.T) {
	var s Stream
	s.Bits(5, 3)
	s.Bits(1, 16)
	s.Align()
	if got := hex.EncodeToString(s.Pack()); got != "0d0000" {
		t.Errorf("got %s", got)
	}
}

func TestPackUnpack(t *testing.T) {
	in := []byte{0x01, 0x80, 0xa5, 0xff}
	s := Unpack(in)
	if s[0] != 1 || s[1] != 0 || s[8] != 0 || s[15] != 1 {
		t.Errorf("bits %v", s)
	}
	if got := string(s.Pack()); got != string(in) {
		t.Errorf("got %x", got)
	}
	if got := (Stream{1, 0, 1}).Pack(); len(got) != 1 || got[0] != 5 {
		t.Errorf("a part of a byte becomes %x", got)
	}
}

func TestWidth(t *testing.T) {
	cases := []struct {
		low, high int64
		want      int
	}{{0, 255, 8}, {1, 256, 8}, {1, 1024, 10}, {0, 1, 1}, {0, 256, 9}, {0, 7, 3}, {0, 8, 4}, {0, 1<<32 - 1, 32}}
	for _, c := range cases {
		if got := Width(c.low, c.high); got != c.want {
			t.Errorf("int(v, %d, %d) takes %d bits, want %d", c.low, c.high, got, c.want)
		}
	}
}
