package base_test

import (
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// The scheduler behind its sender, over networks.

const ms = core.Millisecond

func newWorld(p base.Profile, roundTrip core.Micros) *chunk.World {
	return check.Must(chunk.NewWorld(statemachine.SenderConfig{Scheduler: check.Must(base.New(p))}, statemachine.ReceiverConfig{}, roundTrip))
}

// transfer sends a chunk, which must arrive, and returns how long that took.
func transfer(t *testing.T, w *chunk.World, data []byte) core.Micros {
	t.Helper()
	took, err := w.Transfer(data)
	check.Same(t, "error", err, nil)
	check.That(t, w.Intact(), "what is delivered is what was submitted")
	return took
}

// On a clean link nothing is sent twice, and a chunk takes one round trip and the
// time until its last slice goes out (ACQ-3, SPC-1).
func TestACleanLinkTakesOneRoundTrip(t *testing.T) {
	w := newWorld(base.Burst(), 50*ms)
	for i := range 5 {
		n := 1 + 60*i
		check.Equal(t, "time", transfer(t, w, chunktest.Chunk(n*1024, 1)), core.Micros(n-1)*85+50*ms)
	}
	check.Equal(t, "resent", w.Sender.Stats().SlicesResent, 0)
}

// Nothing is sent twice without a loss, at any round trip; a first chunk does not
// know the round trip, so up to 250 ms (TMR-2, RTT-6).
func TestNothingIsSentTwiceWithoutALoss(t *testing.T) {
	for _, roundTrip := range []core.Micros{100, ms, 5 * ms, 20 * ms, 100 * ms, 245 * ms, 400 * ms, 2 * core.Second} {
		for _, size := range []int{1, 1024, 5000, 70_000, 262144} {
			w := newWorld(base.Burst(), roundTrip)
			learned := int64(0)
			for i := range 5 {
				transfer(t, w, chunktest.Chunk(size, 1))
				w.Wait(30 * ms)
				if resent := w.Sender.Stats().SlicesResent; i == 0 && roundTrip < 250*ms {
					check.Equal(t, "resent in a first chunk", resent, 0)
				} else if i == 2 { // the first three may have had to find out
					learned = resent
				}
			}
			if n := w.Sender.Stats().SlicesResent - learned; n != 0 {
				t.Errorf("round trip %d, %d bytes: %d slices resent", roundTrip, size, n)
			}
		}
	}
}

// The first slices of a connection are all lost, as they are when the peer starts
// later. Nothing is known of the round trip, and every slice that arrives was sent
// more than once; still what is missing is found soon (RTT-4, TMR-5).
func TestAnOutageAtTheStartOfAConnection(t *testing.T) {
	for _, outage := range []core.Micros{300 * ms, core.Second, 3 * core.Second, 6 * core.Second, 9 * core.Second} {
		for _, roundTrip := range []core.Micros{ms, 50 * ms, 400 * ms} {
			w := newWorld(base.Burst(), roundTrip)
			w.Down = sim.Outage(w.Down, 0, outage)
			if took, limit := transfer(t, w, chunktest.Chunk(262144, 1)), outage+4*roundTrip+700*ms; took > limit {
				t.Errorf("%d us of outage, round trip %d: it took %d, want %d at the most", outage, roundTrip, took, limit)
			}
		}
	}
}

// Chunks of one slice through heavy loss seldom give an unambiguous sample of the
// round trip. What stands in for it must not make the sender so patient that it
// gives up: 50 connections of 20 chunks each, with the default time to give up
// (RTT-3, RTT-4, TMR-5).
func TestSmallChunksSurviveHeavyLoss(t *testing.T) {
	for _, loss := range []int{30, 50} {
		for _, size := range []int{1, 3000} {
			for seed := range uint64(50) {
				random := rand.New(rand.NewPCG(seed, uint64(loss)))
				w := newWorld(base.Burst(), 0)
				w.Down = func(now core.Micros, _ codec.Packet) []core.Micros {
					if random.IntN(100) < loss {
						return nil
					}
					return []core.Micros{now + 10*ms}
				}
				w.Up = w.Down
				for range 20 {
					transfer(t, w, chunktest.Chunk(size, 1))
					w.Finish()
				}
			}
		}
	}
}
