package statemachine

import "testing"

// Field note 26: the sizes at which things break, one after the other over one connection
// (LIM-1, LIM-2).
func TestNote26Sizes(t *testing.T) {
	for _, p := range []Profile{Burst(), Fixed(0), Fixed(1_000_000), Article(1_000_000)} {
		w := newWorld(t, p, 20*ms)
		sizes := []int{1, 1023, 1024, 1025, 261120, 261121, 262143, 262144, 1, 7 * 1024, 8 * 1024, 9*1024 + 1, 65536, 65537}
		var bytes int64
		for i, size := range sizes {
			w.transfer(chunkOf(size, uint32(i)))
			bytes += int64(size)
		}
		w.settle()
		wantEqual(t, "delivered", w.delivered, len(sizes))
		wantEqual(t, "bytes sent", w.sender.Stats().ChunkBytes, bytes)
		wantEqual(t, "bytes received", w.receiver.Stats().ChunkBytes, bytes)
	}
}

// All sizes of up to three slices and a bit.
func TestEverySmallSize(t *testing.T) {
	c := converse(t)
	chunk := chunkOf(3080, 1)
	for size := 1; size <= len(chunk); size += 3 {
		c.exchange(chunk[:size])
		c.advance(2 * ms)
	}
}
