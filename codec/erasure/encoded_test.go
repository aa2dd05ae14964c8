package erasure_test

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
)

// plainRepair is RPC-4, byte by byte.
func plainRepair(chunk []byte, j int) []byte {
	k := (len(chunk) + erasure.SliceSize - 1) / erasure.SliceSize
	sum := make([]byte, min(len(chunk), erasure.SliceSize))
	coefficients := row(k, k+j)
	for n, b := range chunk {
		sum[n%erasure.SliceSize] ^= products[coefficients[n/erasure.SliceSize]][b]
	}
	return sum
}

// Slices of any chunk are what the specification says: parts of it, and sums.
func TestSlices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.OneOf(rapid.IntRange(1, 10), rapid.IntRange(1, 256)).Draw(t, "slices")
		last := rapid.OneOf(rapid.IntRange(1, 1024), rapid.SampledFrom([]int{1, 1023, 1024})).Draw(t, "last bytes")
		chunk := noise(seeded(rapid.Uint64().Draw(t, "seed")), k, last)
		e := erasure.Encode(chunk)
		check.Equal(t, "slices and last bytes", [2]int{e.NumSlices(), e.LastBytes()}, [2]int{k, last})
		check.That(t, &e.Bytes()[0] == &chunk[0], "the chunk is not copied")
		i := rapid.IntRange(0, k-1).Draw(t, "source")
		check.Bytes(t, "a source slice", e.Slice(i), chunk[i*1024:min(i*1024+1024, len(chunk))])
		j := rapid.OneOf(rapid.IntRange(0, 300), rapid.IntRange(0, 8191-k)).Draw(t, "repair")
		check.Equal(t, "room behind slices", cap(e.Slice(i))+cap(e.Slice(k+j)), len(e.Slice(i))+len(e.Slice(k+j)))
		for range 2 { // made, and kept
			check.Bytes(t, fmt.Sprintf("repair slice %d", j), e.Slice(k+j), plainRepair(chunk, j))
		}
	})
}

// What is no id and what is no chunk has no slice.
func TestNoSlices(t *testing.T) {
	full := erasure.Encode(make([]byte, erasure.MaxSlices*erasure.SliceSize))
	check.Equal(t, "sizes of the last ids", []int{len(full.Slice(255)), len(full.Slice(256)), len(full.Slice(8191))}, []int{1024, 1024, 1024})
	for _, id := range []int{-1, 8192, math.MaxInt} {
		check.That(t, full.Slice(id) == nil, fmt.Sprint("no slice ", id))
	}
	for _, size := range []int{0, erasure.MaxSlices*erasure.SliceSize + 1} {
		e := erasure.Encode(make([]byte, size))
		for _, id := range []int{0, 1, 256, 257, 8191} {
			check.That(t, e.Slice(id) == nil, fmt.Sprintf("no slice %d of %d bytes", id, size))
		}
	}
	nothing, tooLong := erasure.Encode(nil), erasure.Encode(make([]byte, erasure.MaxSlices*erasure.SliceSize+1))
	check.Equal(t, "of no byte", [2]int{nothing.NumSlices(), nothing.LastBytes()}, [2]int{0, 0})
	check.Equal(t, "of too many", [2]int{tooLong.NumSlices(), tooLong.LastBytes()}, [2]int{257, 1})
}

// Repair slices 0 to 255 are kept, and those after them are not.
func TestKept(t *testing.T) {
	e := erasure.Encode(pattern(3000))
	for j := range 300 {
		a, b := e.Slice(3+j), e.Slice(3+j)
		check.Bytes(t, "the same slice", a, b)
		check.Equal(t, fmt.Sprintf("repair slice %d is kept", j), &a[0] == &b[0], j < 256)
	}
}

// Of 1,000 receivers at 5 % loss each takes the next repair slices until it has the chunk:
// each slice is made once for all of them.
func TestOneEncodingForAll(t *testing.T) {
	const receivers, k = 1000, 256
	chunk := noise(seeded(1), k, 700)
	e := erasure.Encode(chunk)
	var mu sync.Mutex
	made := map[*byte]bool{} // where repair slices are
	var asked, most, wrong int
	var wait sync.WaitGroup
	for worker := range 4 {
		wait.Go(func() {
			p := newPool()
			for n := worker; n < receivers; n += 4 {
				repairs, right := served(e, p, n)
				mu.Lock()
				for _, s := range repairs {
					made[&s[0]] = true
				}
				asked += len(repairs)
				most = max(most, len(repairs))
				if !right {
					wrong++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	t.Logf("%d receivers were sent %d repair slices, of which %d were made", receivers, asked, len(made))
	check.Equal(t, "repair slices made", len(made), most)
	check.That(t, most < 40 && asked > 10000, "many receivers share them")
	check.Equal(t, "chunks that are wrong", wrong, 0)
}

// served sends slices to a receiver until it has the chunk, and returns the repair slices;
// one receiver in 50 rebuilds it.
func served(e *erasure.Encoded, p *pool, n int) (repairs [][]byte, right bool) {
	rng, k := seeded(uint64(n)), e.NumSlices()
	d := receiver(p, e)
	defer d.Release()
	for id := 0; d.Rank() < k; id++ {
		s := e.Slice(id)
		if id >= k {
			repairs = append(repairs, s)
		}
		if rng.IntN(100) >= 5 {
			d.Add(id, s)
		}
	}
	return repairs, n%50 != 0 || bytes.Equal(joined(d.Rebuild(), len(e.Bytes())), e.Bytes())
}

// What one sender sends once is not kept, however many repair slices false acks make it send;
// a server's senders of one world would else hold 256 KiB each.
func TestForOneKeepsNothing(t *testing.T) {
	chunk := noise(seeded(1), 256, 1024)
	one, many := erasure.EncodeForOne(chunk), erasure.Encode(chunk)
	before := check.Heap()
	for j := range 256 {
		one.Slice(256 + j)
	}
	check.That(t, check.Heap()-before < 64<<10, "nothing is kept")
	first, kept := one.Slice(256), many.Slice(256)
	check.Bytes(t, "a repair slice", first, kept)
	check.That(t, &first[0] != &one.Slice(256)[0], "it is made anew")
	check.That(t, &kept[0] == &many.Slice(256)[0], "it is kept")
}

// No Encoded is the code of no bytes.
func TestNilIsOfNoBytes(t *testing.T) {
	for _, e := range []*erasure.Encoded{nil, {}} {
		check.Equal(t, "sizes", [3]int{len(e.Bytes()), e.NumSlices(), e.LastBytes()}, [3]int{})
		check.That(t, e.Slice(0) == nil, "there is no slice")
	}
}
