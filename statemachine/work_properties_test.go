package statemachine_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// countingScheduler counts how often it is called.
type countingScheduler struct {
	statemachine.Scheduler
	calls int
}

func (c *countingScheduler) Begin(f statemachine.Flight) { c.calls++; c.Scheduler.Begin(f) }
func (c *countingScheduler) Held(now core.Micros)        { c.calls++; c.Scheduler.Held(now) }
func (c *countingScheduler) Acked(now core.Micros, p statemachine.Progress) {
	c.calls++
	c.Scheduler.Acked(now, p)
}
func (c *countingScheduler) Next(now core.Micros) (sliceID int, ok bool) {
	c.calls++
	return c.Scheduler.Next(now)
}

// workbench is both machines with all the memory that they need, and what is counted
// of their events.
type workbench struct {
	*rapid.T
	sender   *statemachine.Sender
	receiver *statemachine.Receiver
	sched    *countingScheduler
	observed int
	now      core.Micros
	largest  []byte
	buffer   []byte
}

func newWorkbench(t *rapid.T) *workbench {
	b := &workbench{T: t, largest: chunktest.Chunk(codec.MaxChunkSize, 1), receiver: check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{}))}
	b.sched = &countingScheduler{Scheduler: check.Must(base.New(rapid.SampledFrom(profiles).Draw(t, "profile")))}
	b.sender = check.Must(statemachine.NewSender(statemachine.SenderConfig{
		Scheduler: b.sched, Log: func(eventlog.Event) { b.observed++ },
	}))
	for _, s := range chunktest.Slices(0, b.largest) {
		b.receiver.HandleSlice(0, s)
	}
	b.buffer, _ = b.receiver.Read(0, nil)
	check.Same(t, "submit", b.sender.Submit(0, b.largest), nil)
	return b
}

// finishChunk sends what may be sent and acks everything.
func (b *workbench) finishChunk() {
	for range 1000 {
		if _, ok := b.sender.Poll(b.now); !ok {
			break
		}
	}
	v := b.sender.Vars()
	b.sender.HandleAck(b.now, chunktest.FullAck(v.ChunkID, v.NumSlices))
}

// drawEvent draws any event of either machine.
func (b *workbench) drawEvent() func() {
	s, r, now := b.sender, b.receiver, b.now
	switch rapid.IntRange(0, 4).Draw(b.T, "event") {
	case 0:
		return func() { s.Poll(now); r.Poll(now) }
	case 1:
		a := codec.Ack{ChunkID: s.Vars().ChunkID, NumSlices: s.Vars().NumSlices}
		a.Acked = core.FirstN(rapid.SampledFrom([]int{0, 100, a.NumSlices}).Draw(b.T, "acked"))
		return func() { s.HandleAck(now, a) }
	case 2:
		return func() { _ = s.Submit(now, b.largest) }
	case 3:
		return func() { _, _ = r.Read(now, b.buffer[:0]) }
	}
	n := rapid.SampledFrom([]int{1, 2, 256}).Draw(b.T, "slices")
	chunkID := r.Vars().ChunkID + uint16(rapid.IntRange(-1, 1).Draw(b.T, "chunk"))
	some := chunktest.Slices(chunkID, b.largest[:n*1024])[:rapid.IntRange(1, n).Draw(b.T, "some")]
	return func() {
		for _, slice := range some {
			r.HandleSlice(now, slice)
		}
	}
}

// Bounded work per event (BND-3). How often a loop goes round cannot be seen from
// outside, but all that it could go over can: what the machine keeps, the event itself,
// and what others do for it. So, for any history of events, of each:
//
//   - what the machine keeps is bounded: by a chunk's slices, not by the events so far;
//   - its scheduler is called once at most, and answers one slice at most;
//   - at most one observation a slice and kind comes of it;
//   - it allocates nothing, once the machine has its memory.
func TestBoundedWorkPerEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newWorkbench(t)
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			b.now += core.Micros(rapid.SampledFrom([]int64{0, 1, 3000, 300_000}).Draw(t, "later"))
			event := b.drawEvent()
			finish := rapid.IntRange(0, 3).Draw(t, "the chunk is finished before") == 0
			var calls, observed int
			allocated := testing.AllocsPerRun(1, func() { // twice, and the second time counts
				if finish {
					b.finishChunk()
				}
				callsBefore, observedBefore := b.sched.calls, b.observed
				event()
				calls, observed = max(calls, b.sched.calls-callsBefore), max(observed, b.observed-observedBefore)
			})
			switch {
			case calls > 1:
				t.Fatalf("bounded work per event (BND-3): the scheduler is called %d times", calls)
			case observed > 2*codec.MaxSlices+1:
				t.Fatalf("bounded work per event (BND-3): %d observations", observed)
			case allocated > 0:
				t.Fatalf("bounded work per event (BND-3): %v allocations", allocated)
			}
		}
		// The chunk itself, a record of each slice, and a few hundred bytes.
		if n := sim.Footprint(b.sender) - int64(len(b.largest)); n > 256*64+2048 {
			t.Fatalf("bounded work per event (BND-3): the sender keeps %d bytes beside the chunk", n)
		}
		if n := sim.Footprint(b.receiver); n > codec.MaxChunkSize+2048+1024 {
			t.Fatalf("bounded work per event (BND-1, BND-3): the receiver keeps %d bytes", n)
		}
	})
}

// Once the machines are running a whole exchange allocates nothing, whatever happens in
// it (BND-3).
func TestNothingIsAllocatedOnceRunning(t *testing.T) {
	s := check.Must(statemachine.NewSender(statemachine.SenderConfig{
		Scheduler: check.Must(base.New(base.Fixed(0))), Log: func(eventlog.Event) {},
	}))
	r := check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{}))
	chunk := chunktest.Chunk(20_000, 1)
	buffer := make([]byte, 0, len(chunk))
	now := core.Micros(0)
	exchange := func() {
		now += second
		_, _ = s.Submit(now, chunk), s.Submit(now, chunk) // the second is refused
		for sent := 0; s.Vars().State == statemachine.SenderSending && sent < 1000; {
			now = max(now, min(s.Deadline(), r.Deadline()))
			for p, ok := s.Poll(now); ok; p, ok = s.Poll(now) {
				if sent++; sent%3 == 1 {
					continue // lost
				}
				r.HandleSlice(now, p)
				r.HandleSlice(now, p)
				p.NumSlices++
				r.HandleSlice(now, p) // conflicts, or is early
			}
			for a, ok := r.Poll(now); ok; a, ok = r.Poll(now) {
				s.HandleAck(now, a)
				a.ChunkID++
				s.HandleAck(now, a)
			}
		}
		r.HandleSlice(now, codec.Slice{ChunkID: r.Vars().ChunkID, NumSlices: 1, Data: chunk[:1]}) // held
		_, _ = r.Read(now, buffer)
		_, _ = r.Read(now, buffer) // refused
		_, _ = s.Stats(), r.Stats()
	}
	exchange()
	check.Equal(t, "allocations a chunk", testing.AllocsPerRun(50, exchange), 0)
	sent, got := s.Stats(), r.Stats()
	check.That(t, sent.Chunks > 50 && sent.SlicesResent > 0 && got.Held > 0 && got.Conflicts > 0 && got.Duplicates > 0, "all sorts of events")
}
