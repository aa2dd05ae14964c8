package oracle_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle"
)

// The codec and the oracle refuse the same damaged datagrams and bodies, with the same
// code and place (DEC-15).
func TestCodecAgreesWithOracle(t *testing.T) {
	x := oracle.NewGenerator(0x9e3779b9)
	for range 5000 {
		id, p := x.Packet()
		b, err := oracle.EncodeDatagram(id, p)
		if err != nil {
			t.Fatal(err)
		}
		damaged := damage(x, id, b)
		_, want := oracle.DecodeDatagram(id, damaged)
		_, got := codec.NewFramer(id).Decode(damaged)
		compareErrors(t, damaged, got, want)

		bare := damaged[4:]
		_, want = oracle.DecodeBody(oracle.TypeSlice, bare)
		_, got = codec.Named.DecodeSliceBody(bare)
		compareErrors(t, bare, got, want)
		_, want = oracle.DecodeBody(oracle.TypeAck, bare)
		_, got = codec.Named.DecodeAckBody(bare)
		compareErrors(t, bare, got, want)
	}
}

// damage cuts a datagram off, or makes it longer, or flips bits near its start
// or its end; mostly the crc is right.
func damage(x *oracle.Generator, id uint32, b []byte) []byte {
	b = bytes.Clone(b)
	switch x.Next() % 4 {
	case 0:
		b = b[:x.Next()%uint32(len(b)+1)]
	case 1:
		b = append(b, byte(x.Next()))
	case 2:
		b[len(b)-1-int(x.Next()%6)] ^= 1 << (x.Next() % 8)
	default:
		b[4+x.Next()%6] ^= 1 << (x.Next() % 8)
	}
	if len(b) < 4 || x.Next()%8 == 0 {
		return append(b, 0, 0, 0, 0)
	}
	return oracle.Seal(id, b[4:])
}

func compareErrors(t *testing.T, in []byte, got, want error) {
	t.Helper()
	var g *codec.Error
	var w *oracle.Error
	errors.As(got, &g)
	errors.As(want, &w)
	switch {
	case (g == nil) != (w == nil), g == nil && got != nil:
		t.Fatalf("%s: the codec returns %v, the oracle %v", hex.EncodeToString(in), got, want)
	case g == nil:
	case string(g.Code()) != w.Code || g.Place() != w.At:
		t.Fatalf("%s: the codec returns %v at %d, the oracle %v at %d", hex.EncodeToString(in), g, g.Place(), w, w.At)
	}
}
