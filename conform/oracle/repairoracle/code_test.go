package repairoracle

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/oracle/stream"
)

// pattern is a chunk of full slices, byte i of slice s is (i + 31 s) mod 256.
func pattern(numSlices int) []byte {
	b := make([]byte, SliceSize*numSlices)
	for i := range b {
		b[i] = byte(i%SliceSize + 31*(i/SliceSize))
	}
	return b
}

// The repair slices whose crc the document has.
func TestRepairSlicesOfTheDocument(t *testing.T) {
	for _, c := range []struct {
		numSlices int
		crc       [3]uint32 // of repair slices 0, 1 and 7,935
	}{
		{1, [3]uint32{0xb997ddcc, 0xe9193fa0, 0xe785ae4a}},
		{2, [3]uint32{0x9db6d897, 0xe843c435, 0x3af8cc44}},
		{3, [3]uint32{0xb7cdfe8c, 0xd07c524d, 0xd2bee67e}},
		{256, [3]uint32{0xe30b4483, 0xb85dfb38, 0x6a4b8894}},
	} {
		for n, j := range []int{0, 1, 7935} {
			if got := stream.CRC32(Slice(pattern(c.numSlices), int64(c.numSlices+j))); got != c.crc[n] {
				t.Errorf("repair slice %d of %d: %08x, want %08x", j, c.numSlices, got, c.crc[n])
			}
		}
	}
}

// Any independent slices rebuild a chunk, and no fewer.
func TestRebuild(t *testing.T) {
	x := stream.Random(13)
	for range 200 {
		chunk := pattern(int(x.Next()%9 + 1))
		chunk = chunk[:len(chunk)-int(x.Next()%SliceSize)]
		k := NumSlices(len(chunk))
		d := NewDecoder(k, LastBytes(len(chunk)))
		for d.Rank() < k {
			id := int64(x.Next()) % (k + 4)
			isNew := !d.Has(id) && !d.Depends(id)
			if d.Add(id, Slice(chunk, id)) != isNew {
				t.Fatalf("slice %d of %d: added %v", id, k, !isNew)
			}
		}
		if got, clean := d.Rebuild(); string(got) != string(chunk) || !clean {
			t.Fatalf("%d of %d bytes, clean %v: ids %v", len(got), len(chunk), clean, d.ids)
		}
	}
}
