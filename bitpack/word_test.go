package bitpack_test

import (
	"bytes"
	"testing"

	"github.com/chunkwire/chunkwire/bitpack"
	"pgregory.net/rapid"
)

// field is a number and the bits it takes.
type field struct {
	v uint64
	n int
}

func drawField(t *rapid.T, most int) field {
	n := rapid.IntRange(1, most).Draw(t, "width")
	return field{rapid.Uint64Range(0, ^uint64(0)>>(64-n)).Draw(t, "value"), n}
}

// Whatever the fields, a Word makes the bytes that a Writer makes of them one by
// one, behind what the buffer held, and reads them back.
func TestWordAgreesWithTheWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		prefix := rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "prefix")
		plain := bitpack.NewWriter(bytes.Clone(prefix))
		var word bitpack.Word
		var fields []field
		for left := rapid.IntRange(0, 64).Draw(t, "bits"); left > 0; {
			f := drawField(t, min(left, 63)) // Take has no use for all 64
			plain.Bits(f.v, f.n)
			word = word.Put(f.v, f.n)
			fields = append(fields, f)
			left -= f.n
		}
		want, err := plain.Finish()
		got := word.Append(bytes.Clone(prefix))
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("the Word gives %x, the Writer %x, %v", got, want, err)
		}
		stream := got[len(prefix):]
		word = bitpack.Load(stream[:len(stream):len(stream)])
		if word.Len() != 8*len(stream) {
			t.Fatalf("%d bits of %d bytes", word.Len(), len(stream))
		}
		for _, f := range fields {
			var v uint64
			if v, word = word.Take(f.n); v != f.v {
				t.Fatalf("took %#x, put %#x in %d bits", v, f.v, f.n)
			}
		}
	})
}

// A Word that spills into a buffer has no end.
func TestPutAppendAgreesWithTheWriter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var plain bitpack.Writer
		var word bitpack.Word
		var got []byte
		for range rapid.IntRange(0, 10).Draw(t, "fields") {
			f := drawField(t, 64)
			plain.Bits(f.v, f.n)
			got, word = word.PutAppend(got, f.v, f.n)
		}
		want, err := plain.Finish()
		if got = word.Append(got); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("the Word gives %x, the Writer %x, %v", got, want, err)
		}
	})
}

// Words and Aligned do what a Reader does, from any bit on, and stay inside.
func TestWordsAgreeWithTheReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "stream")
		stream = stream[:len(stream):len(stream)]
		at := rapid.IntRange(0, 8*len(stream)-1).Draw(t, "at")
		n := rapid.IntRange(1, 8*len(stream)-at).Draw(t, "bits")
		r := bitpack.NewReader(stream)
		for range at {
			_, _ = r.Bits(1)
		}
		var got, want [5]uint64
		bitpack.Words(got[:], stream, at, n)
		for i := 0; 64*i < n; i++ {
			for k := range min(64, n-64*i) {
				bit, err := r.Bits(1)
				if err != nil {
					t.Fatal(err)
				}
				want[i] |= bit << k
			}
		}
		if got != want {
			t.Fatalf("Words gives %x, the Reader %x", got, want)
		}
		next, errAligned := bitpack.Aligned(stream, at+n)
		if err := r.Align(); err != errAligned || err == nil && 8*next != r.Offset() {
			t.Fatalf("Aligned gives %d, %v, the Reader %v at %d", next, errAligned, err, r.Offset())
		}
	})
}
