package repair

import (
	"testing"

	"github.com/chunkwire/chunkwire/testvectors/oracle/stream"
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
		{1, [3]uint32{0xb70b4c26, 0xd43974aa, 0xb997ddcc}},
		{2, [3]uint32{0x5ceb63cd, 0x32c86935, 0xf89355c7}},
		{3, [3]uint32{0xaf5a4903, 0xceeb9dd4, 0x4ae9cf5c}},
		{256, [3]uint32{0xdef1082f, 0x1aa4fe7e, 0xc36c7d8e}},
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
