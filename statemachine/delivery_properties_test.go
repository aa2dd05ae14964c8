package statemachine

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Eventual delivery (LIVE-2): whatever the weather was, when it turns fair every
// chunk is delivered and reported as delivered.
func TestEventualDelivery(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		w.watch()
		chunks := w.run(t)
		if w.sender.State() != SenderIdle || w.delivered < chunks {
			t.Fatalf("eventual delivery (LIVE-2): a minute after the weather turned fair %d of %d chunks are delivered, sender %v, receiver %v",
				w.delivered, chunks, w.sender.State(), w.receiver.State())
		}
	})
}

// All at once: in any world all properties hold together, and all is delivered.
func TestAllPropertiesTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		if chunks := w.run(t); w.sender.State() != SenderIdle || w.delivered != chunks {
			t.Fatalf("sender %v, %d of %d chunks delivered", w.sender.State(), w.delivered, chunks)
		}
	})
}

// pattern loses packets by a list that it walks in a circle, and all of them
// during an outage.
type pattern struct {
	survives []bool
	next     int
	outages  [][2]Micros
	over     bool
}

// drawPattern draws a loss of less than 100 %: any at all that lets one packet of
// a round survive.
func drawPattern(t *rapid.T, name string) *pattern {
	p := &pattern{survives: rapid.SliceOfN(rapid.Bool(), 1, 30).Draw(t, name+" that survive")}
	p.survives[rapid.IntRange(0, len(p.survives)-1).Draw(t, name+" survivor")] = true
	return p
}

func (p *pattern) fate(now Micros) []Micros {
	during := func(o [2]Micros) bool { return o[0] <= now && now < o[1] }
	p.next = (p.next + 1) % len(p.survives)
	if !p.over && (!p.survives[p.next] || slices.ContainsFunc(p.outages, during)) {
		return nil
	}
	return []Micros{now + 20*ms}
}

// No stall (LIVE-2): under any loss below 100 %, with outages of either direction,
// and then fair weather, a chunk is through within what the timers allow: one wait
// of 3 s at most (TMR-2), and another after news, which puts the timer off by its
// margin (TMR-3); once it ran out waits are shorter (TMR-5).
func TestNoStallWhenFairWeatherComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		there, back := drawPattern(t, "slices"), drawPattern(t, "acks")
		for _, p := range []*pattern{there, back} {
			for range rapid.IntRange(0, 2).Draw(t, "outages") {
				from := Micros(rapid.SampledFrom([]int64{0, 30_000, 300_000, 3_000_000}).Draw(t, "from"))
				length := Micros(rapid.SampledFrom([]int64{20_000, 500_000, 4_000_000, 20_000_000}).Draw(t, "for"))
				p.outages = append(p.outages, [2]Micros{from, from + length})
			}
		}
		w := newWorld(t, drawProfile(t), 0)
		w.watch()
		w.sender.giveUp, w.receiver.giveUp = year, year
		w.toRecv, w.toSend = there.fate, back.fate
		fairFrom := Micros(rapid.SampledFrom([]int64{0, 400_000, 6_000_000, 25_000_000}).Draw(t, "fair from"))
		for i := range rapid.IntRange(1, 4).Draw(t, "chunks") {
			w.submit(numbered(drawSize(t), i))
			for w.sender.State() == SenderSending && w.now < fairFrom {
				w.step(fairFrom)
			}
			there.over, back.over = w.now >= fairFrom, w.now >= fairFrom
			begin := w.now
			for w.sender.State() == SenderSending && w.now <= begin+8*Second {
				w.step(Never)
			}
			if w.sender.State() != SenderIdle || w.now > begin+8*Second {
				t.Fatalf("no stall (LIVE-2): 8 s of fair weather, and chunk %d has %d of %d slices acked", i, w.sender.Acked().Count(), w.sender.NumSlices())
			}
		}
	})
}

// No stall (LIVE-2) without any fair weather either: it is enough that one slice
// and one ack of each round survive, whichever they are.
func TestNoStallUnderArbitraryLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		there, back := drawPattern(t, "slices"), drawPattern(t, "acks")
		w := newWorld(t, drawProfile(t), 0)
		w.watch()
		w.sender.giveUp, w.receiver.giveUp = year, year
		w.toRecv, w.toSend = there.fate, back.fate
		w.submit(chunkOf(rapid.IntRange(1, 6*1024).Draw(t, "size"), 1))
		slicesANews := int64(len(there.survives) * len(back.survives))
		limit := 8 * slicesANews * int64(w.sender.NumSlices())
		for w.sender.State() == SenderSending && w.sender.Stats().SlicesSent <= limit {
			w.step(Never)
		}
		if w.sender.State() != SenderIdle {
			t.Fatalf("no stall (LIVE-2): %d slices were sent, %d would have to do, and %d of %d are acked",
				w.sender.Stats().SlicesSent, limit, w.sender.Acked().Count(), w.sender.NumSlices())
		}
	})
}

// deliveredExactlyOnce: no chunk is read twice (SAFE-1).
func deliveredExactlyOnce() property {
	times := map[string]int{}
	return func(w *world, m moment) {
		w.Helper()
		if m.kind != chunkRead {
			return
		}
		times[string(m.chunk)]++
		submitted := 0
		for _, c := range w.submitted {
			if bytes.Equal(c, m.chunk) {
				submitted++
			}
		}
		if n := times[string(m.chunk)]; n > max(submitted, 1) {
			w.Fatalf("exactly once (SAFE-1): a chunk of %d bytes is delivered %d times, and was submitted %d times", len(m.chunk), n, submitted)
		}
	}
}

// Exactly once (SAFE-1).
func TestExactlyOnce(t *testing.T) { holdsInEveryWorld(t, deliveredExactlyOnce) }

// deliveredInOrder: what is read was submitted after what was read before. What
// is read again, or was never submitted, is for others to find.
func deliveredInOrder() property {
	after := 0
	return func(w *world, m moment) {
		w.Helper()
		if m.kind != chunkRead {
			return
		}
		same := func(c []byte) bool { return bytes.Equal(c, m.chunk) }
		first, later := slices.IndexFunc(w.submitted, same), slices.IndexFunc(w.submitted[min(after, len(w.submitted)):], same)
		switch {
		case later >= 0:
			if later > 0 {
				w.Fatalf("in order (SAFE-1, CON-2): chunk %d is delivered, and chunk %d was not before it", after+later, after)
			}
			after++
		case first >= 0 && first != after-1:
			w.Fatalf("in order (SAFE-1, CON-2): chunk %d is delivered after chunk %d", first, after-1)
		}
	}
}

// In order (SAFE-1, CON-2).
func TestInOrder(t *testing.T) { holdsInEveryWorld(t, deliveredInOrder) }

// deliveredUnchanged: what is read is what was submitted, byte for byte (SAFE-1).
func deliveredUnchanged() property {
	return func(w *world, m moment) {
		w.Helper()
		same := func(c []byte) bool { return bytes.Equal(c, m.chunk) }
		if m.kind == chunkRead && !slices.ContainsFunc(w.submitted, same) {
			w.Fatalf("unchanged (SAFE-1): %d bytes are delivered that nobody submitted", len(m.chunk))
		}
	}
}

// What is delivered is what was sent (SAFE-1).
func TestDeliveredUnchanged(t *testing.T) { holdsInEveryWorld(t, deliveredUnchanged) }

// readyChunksStay: a chunk in READY stays there, whatever arrives, until it is
// read (SAFE-5).
func readyChunksStay() property {
	size := 0
	return func(w *world, m moment) {
		w.Helper()
		switch ready := w.receiver.State() == ReceiverReady; {
		case m.kind == chunkRead:
			size = 0
			return
		case size > 0 && (!ready || w.receiver.ReadSize() != size):
			w.Fatalf("a chunk in READY is delivered by the next read (SAFE-5): %d bytes became %d, in %v", size, w.receiver.ReadSize(), w.receiver.State())
		case ready:
			size = w.receiver.ReadSize()
		}
	}
}

// A chunk in READY is delivered by the next read (SAFE-5).
func TestReadyChunksStay(t *testing.T) { holdsInEveryWorld(t, readyChunksStay) }

// nobodyWaitsTooLong: whoever has not given up has a reason to wait (LIVE-3).
func nobodyWaitsTooLong() property {
	return func(w *world, m moment) {
		w.Helper()
		if m.kind != polled {
			return
		}
		if s := w.sender; s.State() == SenderSending && w.now-s.HeardFromAt() >= s.giveUp {
			w.Fatalf("no silent wait (LIVE-3): at %d the sender is still waiting", w.now)
		}
		if r := w.receiver; r.State() == ReceiverReceiving && w.now-r.progressAt >= r.giveUp {
			w.Fatalf("no silent wait (LIVE-3): at %d the receiver is still waiting", w.now)
		}
	}
}

// No silent wait (LIVE-3): in bad weather that never ends either end may give up.
// Then what was delivered until then is still right, and nobody waits for ever.
func TestNobodyWaitsForEver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		giveUp := Micros(rapid.SampledFrom([]int64{300_000, 2_000_000, 10_000_000}).Draw(t, "give up"))
		w.sender.giveUp, w.receiver.giveUp = giveUp, giveUp
		chunks := 0
		for chunks < rapid.IntRange(1, 4).Draw(t, "chunks") && w.sender.State() == SenderIdle {
			w.submit(numbered(drawSize(t), chunks))
			chunks++
			for w.sender.State() == SenderSending {
				w.step(Never)
			}
		}
		w.settle()
		if w.sender.State() == SenderIdle && w.receiver.State() != ReceiverFailed && w.delivered != chunks {
			t.Fatalf("no silent wait (LIVE-3): %d of %d chunks delivered, and no error", w.delivered, chunks)
		}
	})
}
