package chunk_test

import (
	"errors"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

func repairNewWorld(roundTrip core.Micros) *chunk.World {
	return check.Must(chunk.NewWorld(statemachine.SenderConfig{Kind: codec.Repair, FirstChunkID: firstID, Scheduler: &chunk.Plain{}}, statemachine.ReceiverConfig{Kind: codec.Repair, FirstChunkID: firstID}, roundTrip))
}

func TestRepairAWorldTransfersAndReads(t *testing.T) {
	w := repairNewWorld(20)
	w.Judge(chunk.PlainPace, t.Fatalf)
	w.ReadTime = 500
	data := chunktest.Chunk(3000, 1)
	took, err := w.Transfer(data)
	check.Same(t, "error", err, nil)
	check.Equal(t, "time", took, 20)
	check.Equal(t, "read at once", len(w.Delivered), 0)
	w.Finish()
	check.Equal(t, "delivered", w.Delivered, [][]byte{data})
	_, err = w.Transfer(nil)
	check.Same(t, "error of an empty chunk", err, statemachine.ErrChunkSize)
	w.Carry = func(time.Duration, int, codec.Packet, func(time.Duration, int, codec.Packet)) {}
	_, err = w.Transfer(data)
	check.Same(t, "error without a network", err, statemachine.ErrGaveUp)
}

func TestRepairAWorldRefusesABadConfiguration(t *testing.T) {
	_, err := chunk.NewWorld(statemachine.SenderConfig{Kind: codec.Repair}, statemachine.ReceiverConfig{Kind: codec.Repair}, 0)
	check.That(t, errors.Is(err, core.ErrConfig), "a sender needs a scheduler")
	_, err = chunk.NewWorld(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: &chunk.Plain{}}, statemachine.ReceiverConfig{Kind: codec.Repair, GiveUp: -1}, 0)
	check.That(t, errors.Is(err, core.ErrConfig), "the time to give up is checked")
}

// repairS1 is a link of 100 Mbit/s with a round trip of 50 ms, and faults.
var repairS1 = netsim.Path{Delay: 25 * time.Millisecond, Rate: 100e6, Queue: 1 << 20, Overhead: 28, Loss: 20, Duplicate: 5, Reorder: 5, ReorderDelay: 30 * time.Millisecond}

func links(t *testing.T) (down, up *netsim.Link) {
	return check.Must(netsim.NewLink(repairS1, 1)), check.Must(netsim.NewLink(repairS1, 2))
}

// Over a lossy link each chunk arrives as it was sent, and what is sent more than slices
// is repair slices.
func TestConversation(t *testing.T) {
	down, up := links(t)
	c := check.Must(chunk.NewConversation(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: &chunk.Plain{}}, statemachine.ReceiverConfig{Kind: codec.Repair}, down, up))
	for i, size := range []int{codec.MaxChunkSize, 1, 1025, 5000, codec.MaxChunkSize, 1024} {
		got, err := c.Transfer(chunktest.Chunk(size, uint32(i)), 10*core.Second)
		check.Same(t, "error", err, nil)
		check.That(t, got.SlicesSent >= int64(codec.NumSlices(size)), "each id is sent once")
	}
	st := c.Sender.Stats()
	check.That(t, st.SlicesRepair > 100 && st.SlicesResent == 0, "nothing is sent again")
}

// A run among troubles ends in time, in front of judges.
func TestRepairTroubledRuns(t *testing.T) {
	x := explore.Troubles[codec.Packet]{Delay: 25_000, Late: 120_000, Outage: 6_000_000, Most: 1, Within: core.Second, Text: chunk.Text}
	x.Run = chunk.Troubled(codec.Repair, func() (statemachine.Scheduler, error) { return &chunk.Plain{}, nil }, chunk.PlainPace, 0, chunktest.Chunk(2000, 1))
	if r := x.Search(); r.Err != nil {
		t.Errorf("%v\n%s", r.Err, r.Trace)
	}
	x.Run, x.Within = chunk.Troubled(codec.Repair, func() (statemachine.Scheduler, error) { return &chunk.Plain{}, nil }, chunk.PlainPace, 0, []byte{1}), 1
	check.Equal(t, "trace", x.Search().Trace, "         0 us  sender -- slice 0/1 of chunk 0\n     25000 us  receiver -- ack of 1 of 1 slices of chunk 0, below 1\n")
	x.Run = chunk.Troubled(codec.Repair, func() (statemachine.Scheduler, error) { return nil, nil }, chunk.PlainPace, 0, []byte{1})
	check.That(t, errors.Is(x.Search().Err, core.ErrConfig), "a sender needs a scheduler")
}
