package transport_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// Clients fill what a server keeps of them, with chunks and with messages, and nobody accepts: some leave by a close,
// many from one address, and as many stay as may. What the server keeps is within Config.Memory, and one address has
// no more of it than its connections. (R6: 60 that came and went from one address left 79 MB, beside none that lived.)
func TestMemoryOfAServer(t *testing.T) {
	const budget = 64 << 20
	cfg := transport.Config{Memory: budget, Lanes: 4, MaxPerAddress: 4, Timeout: time.Minute}
	bubble(t, netsim.Path{Delay: 2 * ms}, cfg, func(w *world) {
		places := w.server.Config().MaxPeers
		before := check.Heap()
		kept := func(what string, most int64) {
			kept := check.Heap() - before
			t.Logf("%s: %d B of %d", what, kept, most)
			if kept > most {
				t.Errorf("%s: %d B are kept", what, kept)
			}
		}
		for i := range 16 { // more would be refused, since that many are remembered
			fill(w, netsim.Addr(fmt.Sprint("192.0.2.1:", 1000+i)), true)
		}
		kept("16 that left from one address", budget*4/int64(places))
		for i := range places {
			fill(w, netsim.Addr(fmt.Sprintf("192.0.2.%d:1000", 2+i)), true)
		}
		kept("as many that left as may live", budget)
		for i := range places {
			fill(w, netsim.Addr(fmt.Sprintf("192.0.2.%d:2000", 2+i)), false)
		}
		check.Same(t, "living connections", w.server.Stats().Peers, places)
		kept("as many that live", budget)
		if _, err := transport.Over(background, w.listen("late"), netsim.Addr("s"), transport.Config{}); err == nil {
			t.Error("there is a place beyond the memory")
		}
	})
}

// fill connects, sends until the server takes no more, and leaves, with a close or without a word.
func fill(w *world, from netsim.Addr, closes bool) {
	w.t.Helper()
	p, err := transport.Over(background, w.listen(from), netsim.Addr("s"), transport.Config{Lanes: 4, Timeout: time.Minute, MessageRate: 1e9})
	if err != nil {
		w.t.Fatal(from, err)
	}
	ctx, cancel := context.WithTimeout(background, 500*ms)
	defer cancel()
	message := make([]byte, 1024)
	for p.Channel(1).Send(message) == nil && p.Channel(2).Send(message) == nil {
	}
	for {
		if _, err := p.Chunks().Enqueue(ctx, worldChunk); err != nil {
			break
		}
	}
	if !closes {
		w.setPath(from, outage)
	}
	p.Close(0, "")
	time.Sleep(50 * ms)
}

var worldChunk = make([]byte, transport.MaxChunkSize)
