package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// Counters count all chunks, at both ends, and not the latest only.
func TestStatsAreOfAllChunks(t *testing.T) {
	s := NewSender(SenderConfig{Scheduler: NewBase(atOnce)})
	r := NewReceiver(ReceiverConfig{})
	for id, size := range []int{3000, 1, 2048} {
		must(t, s.Submit(0, chunkOf(size, 1)) == nil, "the chunk is taken")
		for slice, ok := s.Poll(0); ok; slice, ok = s.Poll(0) {
			r.HandleSlice(0, slice)
		}
		_, _ = r.Read(0, nil)
		s.HandleAck(0, fullAck(uint16(id), codec.NumSlices(size)))
	}
	sent, got := s.Stats(), r.Stats()
	wantEqual(t, "chunks", [2]int64{sent.Chunks, got.Chunks}, [2]int64{3, 3})
	wantEqual(t, "their bytes", [2]int64{sent.ChunkBytes, got.ChunkBytes}, [2]int64{5049, 5049})
	wantEqual(t, "slices", [2]int64{sent.SlicesAcked, got.SlicesStored}, [2]int64{6, 6})
}
