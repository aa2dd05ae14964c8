package netsim_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

// s1 is a clean link of 100 Mbit/s with a round trip of 50 ms.
var s1 = netsim.Path{Delay: 25 * time.Millisecond, Rate: 100e6, Queue: 1 << 20, Overhead: 28}

func converse(down, up netsim.Path, seed uint64, p statemachine.Profile) *netsim.Conversation {
	return &netsim.Conversation{
		Sender:   statemachine.NewSender(statemachine.SenderConfig{Scheduler: statemachine.NewBase(p)}),
		Receiver: statemachine.NewReceiver(statemachine.ReceiverConfig{}),
		Down:     netsim.NewLink(down, 2*seed),
		Up:       netsim.NewLink(up, 2*seed+1),
	}
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
	c := converse(s1, s1, 1, statemachine.Burst())
	got, err := c.Transfer(block(codec.MaxChunkSize), statemachine.Second)
	if err != nil {
		t.Fatal(err)
	}
	onTheWire := statemachine.Micros((255*1065 + 1066) * 8 / 100)
	ideal := 25*statemachine.Millisecond + onTheWire
	if got.Delivered < ideal || got.Delivered > ideal+ideal/100 {
		t.Errorf("delivered after %d us, ideal is %d us", got.Delivered, ideal)
	}
	if got.SlicesSent != 256 {
		t.Errorf("%d slices sent", got.SlicesSent)
	}
	if late := got.Acked - got.Delivered - 25*statemachine.Millisecond; late < 0 || late > 10 {
		t.Errorf("acked %d us later than an ack needs", late)
	}
	if got.BytesDown != 255*1037+1038 {
		t.Errorf("%d bytes down", got.BytesDown)
	}
}

// The same seed gives the same run, to the microsecond and the byte.
func TestConversationsRepeat(t *testing.T) {
	bad := s1
	bad.LossPPM, bad.DuplicatePPM, bad.ReorderPPM = 200_000, 50_000, 50_000
	run := func(seed uint64) netsim.Transfer {
		got, err := converse(bad, bad, seed, statemachine.Burst()).Transfer(block(100_000), 60*statemachine.Second)
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
	gone.LossPPM = 1_000_000
	if _, err := converse(gone, s1, 1, statemachine.Burst()).Transfer(block(1), statemachine.Second); !errors.Is(err, netsim.ErrNotDelivered) {
		t.Errorf("within the limit: %v", err)
	}
	if _, err := converse(gone, s1, 1, statemachine.Burst()).Transfer(block(1), statemachine.Never); !errors.Is(err, statemachine.ErrGaveUp) {
		t.Errorf("without a limit: %v", err)
	}
	if _, err := converse(s1, s1, 1, statemachine.Burst()).Transfer(nil, statemachine.Second); !errors.Is(err, statemachine.ErrChunkSize) {
		t.Errorf("an empty chunk: %v", err)
	}
}

// One connection, many chunks: each is a chunk of its own.
func TestChunksFollowEachOther(t *testing.T) {
	lossy := s1
	lossy.LossPPM = 100_000
	c := converse(lossy, lossy, 3, statemachine.Burst())
	for _, n := range []int{codec.MaxChunkSize, 1, 1025, 5000, codec.MaxChunkSize, 1024} {
		got, err := c.Transfer(block(n), 10*statemachine.Second)
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
	a, b := converse(s1, s1, 1, statemachine.Burst()), converse(s1, s1, 2, statemachine.Burst())
	b.Down, b.Up = a.Down, a.Up
	for _, c := range []*netsim.Conversation{a, b} {
		if err := c.Sender.Submit(0, block(codec.MaxChunkSize)); err != nil {
			t.Fatal(err)
		}
		c.Flush()
	}
	for a.Sender.State() == statemachine.SenderSending || b.Sender.State() == statemachine.SenderSending {
		first := a
		if b.Next() < a.Next() {
			first = b
		}
		if before := first.Next(); !first.Step(statemachine.Second) || first.Now() != statemachine.FromDuration(before) {
			t.Fatalf("stepped to %d, want %v", first.Now(), before)
		}
	}
	onTheWire := 2 * statemachine.Micros((255*1065+1066)*8/100)
	if took := max(a.Now(), b.Now()); took < 50*statemachine.Millisecond+onTheWire || took > 51*statemachine.Millisecond+onTheWire {
		t.Errorf("both were acked after %d us", took)
	}
	if a.Next() != math.MaxInt64 {
		t.Errorf("an idle conversation has an event at %v", a.Next())
	}
}

func BenchmarkConversation(b *testing.B) {
	lossy := s1
	lossy.LossPPM = 50_000
	chunk := block(codec.MaxChunkSize)
	c := converse(lossy, lossy, 1, statemachine.Burst())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Transfer(chunk, 100*statemachine.Second); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(c.Steps())/b.Elapsed().Seconds(), "steps/s")
}
