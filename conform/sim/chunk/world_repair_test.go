package chunk_test

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// repairS1 is a link of 100 Mbit/s with a round trip of 50 ms, and faults.
var repairS1 = netsim.Path{Delay: 25 * time.Millisecond, Rate: 100e6, Queue: 1 << 20, Overhead: 28, Loss: 20, Duplicate: 5, Reorder: 5, ReorderDelay: 30 * time.Millisecond}

func links(t *testing.T) (down, up *netsim.Link) {
	return check.Must(netsim.NewLink(repairS1, 1)), check.Must(netsim.NewLink(repairS1, 2))
}

// Over a lossy link each chunk arrives as it was sent, and what is sent more than slices
// is repair slices.
func TestConversation(t *testing.T) {
	down, up := links(t)
	c := check.Must(chunk.NewConversation(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: check.Must(rateless.New(rateless.Default()))}, statemachine.ReceiverConfig{Kind: codec.Repair}, down, up))
	for i, size := range []int{codec.MaxChunkSize, 1, 1025, 5000, codec.MaxChunkSize, 1024} {
		got, err := c.Transfer(chunktest.Chunk(size, uint32(i)), 10*core.Second)
		check.Same(t, "error", err, nil)
		check.That(t, got.SlicesSent >= int64(codec.NumSlices(size)), "each id is sent once")
	}
	st := c.Sender.Stats()
	check.That(t, st.SlicesRepair > 100 && st.SlicesResent == 0, "nothing is sent again")
}
