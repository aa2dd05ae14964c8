package chunk_test

import (
	"errors"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// s1 is a clean link of 100 Mbit/s with a round trip of 50 ms.
var s1 = netsim.Path{Delay: 25 * time.Millisecond, Rate: 100e6, Queue: 1 << 20, Overhead: 28}

func converse(tb testing.TB, down, up netsim.Path, seed uint64) *chunk.Conversation {
	tb.Helper()
	there, err1 := netsim.NewLink(down, 2*seed)
	back, err2 := netsim.NewLink(up, 2*seed+1)
	scheduler, err3 := base.New(base.Burst())
	c, err4 := chunk.NewConversation(statemachine.SenderConfig{Scheduler: scheduler}, statemachine.ReceiverConfig{}, there, back)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		tb.Fatal(err)
	}
	return c
}

// sharing returns a conversation over the links of another.
func sharing(t *testing.T, other *chunk.Conversation) *chunk.Conversation {
	t.Helper()
	scheduler, err1 := base.New(base.Burst())
	c, err2 := chunk.NewConversation(statemachine.SenderConfig{Scheduler: scheduler}, statemachine.ReceiverConfig{}, other.Down, other.Up)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return c
}

func block(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7 >> 3)
	}
	return b
}

// Half a round trip and the time that the link needs for the bytes, and not a
// slice too many.
func TestBurstIsAsFastAsACleanLink(t *testing.T) {
	c := converse(t, s1, s1, 1)
	got, err := c.Transfer(block(codec.MaxChunkSize), core.Second)
	if err != nil {
		t.Fatal(err)
	}
	onTheWire := core.Micros((255*1065 + 1066) * 8 / 100)
	ideal := 25*core.Millisecond + onTheWire
	if got.Delivered < ideal || got.Delivered > ideal+ideal/100 {
		t.Errorf("delivered after %d us, ideal is %d us", got.Delivered, ideal)
	}
	if got.SlicesSent != 256 {
		t.Errorf("%d slices sent", got.SlicesSent)
	}
	if late := got.Acked - got.Delivered - 25*core.Millisecond; late < 0 || late > 10 {
		t.Errorf("acked %d us later than an ack needs", late)
	}
	if got.BytesDown != 255*1037+1038 {
		t.Errorf("%d bytes down", got.BytesDown)
	}
}

// The same seed gives the same run, to the microsecond and the byte.
func TestConversationsRepeat(t *testing.T) {
	bad := s1
	bad.Loss, bad.Duplicate, bad.Reorder = 20, 5, 5
	run := func(seed uint64) chunk.Transfer {
		got, err := converse(t, bad, bad, seed).Transfer(block(100_000), 60*core.Second)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first, again, other := run(7), run(7), run(8)
	if first != again {
		t.Error("two runs with one seed differ")
	}
	if first == other {
		t.Error("two seeds give one run")
	}
}

func TestTransferTellsHowItFailed(t *testing.T) {
	gone := s1
	gone.Loss = 100
	if _, err := converse(t, gone, s1, 1).Transfer(block(1), core.Second); !errors.Is(err, chunk.ErrNotDelivered) {
		t.Errorf("within the limit: %v", err)
	}
	if _, err := converse(t, gone, s1, 1).Transfer(block(1), core.Never); !errors.Is(err, statemachine.ErrGaveUp) {
		t.Errorf("without a limit: %v", err)
	}
	if _, err := converse(t, s1, s1, 1).Transfer(nil, core.Second); !errors.Is(err, statemachine.ErrChunkSize) {
		t.Errorf("an empty chunk: %v", err)
	}
}

// One connection, many chunks: each is a chunk of its own.
func TestChunksFollowEachOther(t *testing.T) {
	lossy := s1
	lossy.Loss = 10
	c := converse(t, lossy, lossy, 3)
	for _, n := range []int{codec.MaxChunkSize, 1, 1025, 5000, codec.MaxChunkSize, 1024} {
		got, err := c.Transfer(block(n), 10*core.Second)
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if got.SlicesSent < int64(codec.NumSlices(n)) {
			t.Errorf("%d bytes in %d slices", n, got.SlicesSent)
		}
	}
}

// Two conversations over one pair of links share its rate: stepped by who comes
// first, they take as long as twice the bytes.
func TestConversationsShareALink(t *testing.T) {
	a := converse(t, s1, s1, 1)
	b := sharing(t, a)
	for _, c := range []*chunk.Conversation{a, b} {
		if err := c.Sender.Submit(0, block(codec.MaxChunkSize)); err != nil {
			t.Fatal(err)
		}
		c.Flush()
	}
	acked := func() bool {
		return a.Sender.Vars().State == statemachine.SenderIdle && b.Sender.Vars().State == statemachine.SenderIdle
	}
	if !sim.Together(core.Second, acked, a.World, b.World) {
		t.Fatal("stalled")
	}
	onTheWire := 2 * core.Micros((255*1065+1066)*8/100)
	if took := max(a.Now(), b.Now()); took < 50*core.Millisecond+onTheWire || took > 51*core.Millisecond+onTheWire {
		t.Errorf("both were acked after %d us", took)
	}
	if a.Step(core.Never) {
		t.Errorf("an idle conversation has an event at %d", a.Now())
	}
}

func BenchmarkConversation(b *testing.B) {
	lossy := s1
	lossy.Loss = 5
	full := block(codec.MaxChunkSize)
	c := converse(b, lossy, lossy, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Transfer(full, 100*core.Second); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.Steps())/b.Elapsed().Seconds(), "steps/s")
}
