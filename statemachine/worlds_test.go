package statemachine_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

const (
	ms     = core.Millisecond
	second = core.Second
	year   = 365 * 24 * 3600 * second
)

type (
	packet = codec.Packet
	fate   = sim.Fate[packet]
)

// config is how both ends of a world are set up.
type config struct {
	profile   base.Profile
	first     uint16 // chunk id
	giveUp    core.Micros
	roundTrip core.Micros
}

// newWorld returns a world of two machines beside their oracles.
func newWorld(t check.T, c config) *chunk.World {
	sender := statemachine.SenderConfig{FirstChunkID: c.first, GiveUp: c.giveUp, Scheduler: check.Must(base.New(c.profile))}
	receiver := statemachine.ReceiverConfig{FirstChunkID: c.first, GiveUp: c.giveUp}
	w := check.Must(chunk.NewWorld(sender, receiver, c.roundTrip))
	w.Sender = check.Must(chunks.NewCheckedSender(sender, chunks.BaseOf(c.profile).Oracle(), t.Fatalf))
	w.Receiver = check.Must(chunks.NewCheckedReceiver(receiver, t.Fatalf))
	return w
}

// atOnce is a world in which all that is due goes out at once, and a chunk that
// arrives is read at once. Its round trip is 50 ms.
func atOnce(t *testing.T) *chunk.World {
	return newWorld(t, config{profile: base.Fixed(0), roundTrip: 50 * ms})
}

// transfer sends a chunk, which must arrive, and returns how long that took.
func transfer(t *testing.T, w *chunk.World, data []byte) core.Micros {
	t.Helper()
	took, err := w.Transfer(data)
	check.Same(t, "error", err, nil)
	return took
}

// finish runs until nothing is left to do, and makes sure that all was delivered.
func finish(t *testing.T, w *chunk.World) {
	t.Helper()
	w.Finish()
	check.That(t, w.Intact(), "what is delivered is what was submitted")
}

// dropping is a network in which packets take 25 ms, but for those that are lost: n
// counts them from 0.
func dropping(lost func(n int, p packet) bool) fate {
	n := -1
	return func(now core.Micros, p packet) []core.Micros {
		if n++; lost(n, p) {
			return nil
		}
		return []core.Micros{now + 25*ms}
	}
}

// dropFirst loses the first packets.
func dropFirst(some int) fate {
	return dropping(func(n int, _ packet) bool { return n < some })
}

// A slice has arrived, but its ack was lost. The slice that is sent again for that
// reason is a duplicate, and is acked; a receiver that drops it stalls (RCV-13, LIVE-1).
func TestStallOneADuplicateIsAckedAgain(t *testing.T) {
	w := atOnce(t)
	sent := 0
	w.Down = dropping(func(_ int, p packet) bool {
		sent++
		return p.Slice.SliceID == 1 && sent < 5 // twice
	})
	w.Up = dropFirst(1)
	check.Equal(t, "time", transfer(t, w, chunktest.Chunk(2000, 1)), 2*250*ms+50*ms) // the timer runs out twice
	check.Equal(t, "duplicates", w.Receiver.Stats().Duplicates, 1)
	finish(t, w)
}

// The last ack was lost, and the receiver has moved on to the next chunk. What the
// sender sends again belongs to the previous chunk, and is answered with all of that
// chunk's slices; a receiver that ignores it stalls (RCV-13, RCV-16).
func TestStallTwoThePreviousChunkIsAckedAgain(t *testing.T) {
	for _, readTime := range []core.Micros{0, second} { // or while it waits to be read
		w := atOnce(t)
		transfer(t, w, chunktest.Chunk(10, 1))
		w.Up, w.ReadTime = dropFirst(1), readTime
		took := transfer(t, w, chunktest.Chunk(3000, 2))
		check.That(t, took < 200*ms, "the next ack ends it")
		check.Equal(t, "resent", w.Sender.Stats().SlicesResent, w.Receiver.Stats().Duplicates)
		check.That(t, w.Receiver.Stats().Duplicates > 0, "a slice of the previous chunk was answered")
		finish(t, w)
	}
}

// The same while the next chunk is arriving: a late slice of the chunk before is
// answered with that chunk's ack, beside the ack of the one that arrives (RCV-16).
func TestStallTwoWhileTheNextChunkArrives(t *testing.T) {
	w := atOnce(t)
	var acks []codec.Ack
	w.Up = func(now core.Micros, p packet) []core.Micros {
		acks = append(acks, p.Ack)
		return []core.Micros{now + 25*ms}
	}
	steady := w.Down
	w.Down = func(now core.Micros, p packet) []core.Micros {
		if p.Slice.ChunkID == 0 && p.Slice.SliceID == 1 { // doubled by the network, and late
			return []core.Micros{now + 25*ms, now + 75*ms}
		}
		return steady(now, p)
	}
	transfer(t, w, chunktest.Chunk(3000, 1))
	acks = nil
	w.Down = dropping(func(_ int, p packet) bool { return p.Slice.SliceID == 1 })
	check.Same(t, "error", w.Submit(chunktest.Chunk(2000, 2)), nil)
	w.Wait(30 * ms)
	check.Equal(t, "acks", acks, []codec.Ack{chunktest.Ack(0, "111"), chunktest.Ack(1, "10")})
	w.Down = steady
	finish(t, w)
}

// All acks are lost for a while, and then they are not (LIVE-2).
func TestEveryAckIsLostAndThenNoMore(t *testing.T) {
	w := atOnce(t)
	w.Up = sim.Outage(w.Up, 0, 6*second)
	took := transfer(t, w, chunktest.Chunk(5000, 3))
	check.That(t, took > 6*second && took < 6400*ms, "it ends soon after the acks come through")
	check.Equal(t, "stored", w.Receiver.Stats().SlicesStored, 5)
	finish(t, w)
}

// Every chunk starts with everything anew, also a smaller one, and one after losses:
// neither timers nor counts nor bits of the chunk before are left (SND-10, RCV-10,
// SCH-5).
func TestEverythingStartsAnew(t *testing.T) {
	w := atOnce(t)
	for i, size := range []int{262144, 1, 3000, 1024, 262144, 5} {
		check.Equal(t, "time", transfer(t, w, chunktest.Chunk(size, uint32(i))), 50*ms)
	}
	check.Equal(t, "stored", w.Receiver.Stats().SlicesStored, 256+1+3+1+256+1)
	check.Equal(t, "resent", w.Sender.Stats().SlicesResent, 0)

	w.Down = sim.Outage(w.Down, w.Now(), w.Now()+second)
	transfer(t, w, chunktest.Chunk(4096, 7))
	check.That(t, w.Sender.Stats().SlicesResent > 0, "the timer has backed off")
	check.Equal(t, "time", transfer(t, w, chunktest.Chunk(2048, 8)), 50*ms)
	finish(t, w)
}

// Late duplicates start nothing: neither of the chunk before nor of one before that
// (RCV-4, RCV-12, SAFE-1).
func TestLateDuplicatesStartNothing(t *testing.T) {
	w := atOnce(t)
	w.Down = func(now core.Micros, _ packet) []core.Micros {
		return []core.Micros{now + 25*ms, now + 26*ms, now + 60*ms, now + second}
	}
	for i := range 5 {
		transfer(t, w, chunktest.Chunk(2000+i, uint32(i)))
	}
	finish(t, w)
	check.Equal(t, "chunks", w.Receiver.Stats().Chunks, 5)
	check.That(t, w.Receiver.Stats().Ignored > 0, "older ones are ignored")
}

// Losses in each chunk across the wrap of chunk ids (CID-2).
func TestLossesAcrossTheWrap(t *testing.T) {
	w := newWorld(t, config{profile: base.Fixed(0), first: 65530, roundTrip: 50 * ms})
	w.Down = dropping(func(n int, p packet) bool { return n%4 == 1 })
	w.Up = dropping(func(n int, _ packet) bool { return n%3 == 0 })
	for i := range 12 {
		transfer(t, w, chunktest.Chunk(3000, uint32(i)))
	}
	check.Equal(t, "chunk id", w.Sender.Vars().ChunkID, 65530+12-65536)
	finish(t, w)
}

// A forged first slice fixes a wrong number of slices. The genuine ones conflict, are
// counted and not answered, until half of the time to give up has gone by; then the
// next one replaces the number, and the chunk arrives (RCV-7).
func TestForgedFirstSlice(t *testing.T) {
	w := newWorld(t, config{profile: base.Burst(), roundTrip: 50 * ms})
	w.Receiver.HandleSlice(0, chunktest.Slice(0, 2, 7))
	check.Same(t, "submit", w.Submit(chunktest.Chunk(3000, 1)), nil)
	w.Run(year, func() bool { return w.Receiver.Stats().Replaced > 0 })
	if w.Now() < 5*second || w.Now() > 5*second+300*ms {
		t.Errorf("replaced at %d", w.Now())
	}
	check.Equal(t, "stored until then", w.Receiver.Stats().SlicesStored, 2)
	check.That(t, w.Receiver.Stats().Conflicts > 3, "conflicts are counted")
	finish(t, w)
	check.Equal(t, "sender", w.Sender.Vars().State, statemachine.SenderIdle)
	check.Equal(t, "replaced", w.Receiver.Stats().Replaced, 1)
}

// Acks are few: a clean chunk of 256 slices needs some 18 (AKT-2, AKT-3).
func TestFewAcks(t *testing.T) {
	w := newWorld(t, config{profile: base.Burst(), roundTrip: 50 * ms})
	transfer(t, w, chunktest.Chunk(262144, 1))
	if n := w.Receiver.Stats().AcksSent; n < 16 || n > 20 {
		t.Errorf("%d acks for 256 slices", n)
	}
}

// The sizes at which things break, one after the other over one connection; counters
// count all chunks (LIM-1, LIM-2).
func TestSizes(t *testing.T) {
	sizes := []int{1, 1023, 1024, 1025, 261120, 261121, 262143, 262144, 1, 7 * 1024, 8 * 1024, 9*1024 + 1, 65536, 65537}
	for size := 2; size < 3080; size += 3 {
		sizes = append(sizes, size)
	}
	for _, p := range []base.Profile{base.Burst(), base.Fixed(0), base.Fixed(8_000_000), base.Article(8_000_000)} {
		w := newWorld(t, config{profile: p, roundTrip: 20 * ms})
		var bytes int64
		for i, size := range sizes {
			transfer(t, w, chunktest.Chunk(size, uint32(i)))
			bytes += int64(size)
		}
		finish(t, w)
		sent, got := w.Sender.Stats(), w.Receiver.Stats()
		check.Equal(t, "chunks", [2]int64{sent.Chunks, got.Chunks}, [2]int64{int64(len(sizes)), int64(len(sizes))})
		check.Equal(t, "bytes", [2]int64{sent.ChunkBytes, got.ChunkBytes}, [2]int64{bytes, bytes})
		check.Equal(t, "slices", sent.SlicesAcked, got.SlicesStored)
	}
}
