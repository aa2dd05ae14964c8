package statemachine_test

import (
	"encoding/binary"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// More chunks than there are ids, twice over, in one run. Each has bytes of its own,
// and each is followed by late duplicates of its slice and its ack (CID-2).
func TestMoreChunksThanIDs(t *testing.T) {
	const chunks = 1<<17 + 100
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{FirstChunkID: 65535, Scheduler: check.Must(base.New(base.Fixed(0)))}))
	r := check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{FirstChunkID: 65535}))
	chunk, got := make([]byte, 8), make([]byte, 0, 8)
	now := core.Micros(0)
	for i := range uint64(chunks) {
		now += 3 * ms
		binary.LittleEndian.PutUint64(chunk, i)
		if err := s.Submit(now, chunk); err != nil {
			t.Fatal(err)
		}
		p, ok := s.Poll(now)
		if !ok || p.ChunkID != uint16(65535+i) {
			t.Fatalf("chunk %d: id %d, %v", i, p.ChunkID, ok)
		}
		r.HandleSlice(now, p)
		got, _ = r.Read(now, got[:0])
		if binary.LittleEndian.Uint64(got) != i {
			t.Fatalf("chunk %d arrives as %x", i, got)
		}
		a, ok := r.Poll(now)
		if !ok || a != chunktest.FullAck(p.ChunkID, 1) {
			t.Fatalf("chunk %d: ack %v", i, a)
		}
		r.HandleSlice(now, p)
		s.HandleAck(now, a)
		s.HandleAck(now, a)
		if s.Vars().State != statemachine.SenderIdle || r.Vars().State != statemachine.ReceiverWaiting {
			t.Fatalf("chunk %d: %v, %v", i, s.Vars().State, r.Vars().State)
		}
	}
	check.Equal(t, "chunks", []int64{s.Stats().Chunks, r.Stats().Chunks}, []int64{chunks, chunks})
	check.Equal(t, "duplicates", r.Stats().Duplicates, chunks)
}
