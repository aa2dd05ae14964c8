package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// nextAck polls once.
func nextAck(t *testing.T, r *Receiver, now Micros) codec.Ack {
	t.Helper()
	a, ok := r.Poll(now)
	if !ok {
		t.Fatalf("no ack at %d", now)
	}
	return a
}

func noAck(t *testing.T, r *Receiver, now Micros) {
	t.Helper()
	if a, ok := r.Poll(now); ok {
		t.Fatalf("at %d the ack %v, want none", now, a)
	}
}

// Whatever went out just before (RCV-12, ACQ-3).
func TestACompleteChunkIsAckedAtOnce(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	chunk := slicesOf(0, chunkOf(3000, 1))
	give(r, chunk[0])
	nextAck(t, r, 0)
	give(r, chunk[1])
	noAck(t, r, 0) // in order, and too soon
	wantEqual(t, "deadline", r.Deadline(), 2*ms)
	r.HandleSlice(1, chunk[2])
	wantEqual(t, "deadline", r.Deadline(), 1)
	wantEqual(t, "ack", nextAck(t, r, 1), ackOf(0, "111"))
	noAck(t, r, 1)
	wantEqual(t, "deadline", r.Deadline(), Never)
}

func TestAChunkOfOneSliceIsAckedAtOnce(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	for id := range uint16(3) {
		give(r, slicesOf(id, chunkOf(100, 1))...)
		wantEqual(t, "ack", nextAck(t, r, 0), ackOf(id, "1"))
		noAck(t, r, 0)
		_, err := r.Read(0, nil)
		wantEqual(t, "read", err, nil)
	}
}

// One for each chunk that has one due (AKT-2, ACQ-2).
func TestNoMoreAcksThanOneRoundInTwoMilliseconds(t *testing.T) {
	r := waitingReceiver() // the last ack went out at 0
	r.HandleSlice(3*ms, sliceOf(8, 0, 3))
	nextAck(t, r, 3*ms)
	for now := 3 * ms; now < 5*ms; now += 100 {
		r.HandleSlice(now, sliceOf(8, 0, 3))
		r.HandleSlice(now, sliceOf(7, 0, 2))
		noAck(t, r, now)
	}
	wantEqual(t, "deadline", r.Deadline(), 5*ms)
	wantEqual(t, "ack", nextAck(t, r, 5*ms), ackOf(7, "11"))
	wantEqual(t, "ack", nextAck(t, r, 5*ms), ackOf(8, "100"))
	noAck(t, r, 5*ms)
	wantEqual(t, "acks sent", r.Stats().AcksSent, 4)
}

// Two slices come too early, one hold goes out (RCV-14, AKT-2).
func TestHoldsAreLimitedToo(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(ms, sliceOf(8, 4, 9))
	r.HandleSlice(ms, sliceOf(8, 5, 9))
	noAck(t, r, 2*ms-1)
	wantEqual(t, "hold", nextAck(t, r, 2*ms), ackOf(8, "000000000"))
	noAck(t, r, 2*ms)
	wantEqual(t, "held", r.Stats().Held, 2)
}

// Where several are due (RCV-16).
func TestTheOrderInWhichAcksGoOut(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(5*ms, sliceOf(8, 0, 3))
	r.HandleSlice(5*ms, sliceOf(7, 1, 2))
	wantEqual(t, "previous first", nextAck(t, r, 5*ms), ackOf(7, "11"))
	wantEqual(t, "then hold", nextAck(t, r, 5*ms), ackOf(8, "000"))
	noAck(t, r, 5*ms)
}

// A hold that is still due when the chunk starts is forgotten: the chunk's own
// ack says more (RCV-10).
func TestAHoldIsForgottenWhenTheChunkStarts(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(ms, sliceOf(8, 0, 3))
	_, _ = r.Read(ms, nil)
	r.HandleSlice(ms, sliceOf(8, 0, 3))
	wantEqual(t, "ack", nextAck(t, r, 2*ms), ackOf(8, "100"))
	noAck(t, r, 2*ms)
}

func TestAHoldGoesOutAlsoAfterTheRead(t *testing.T) {
	r := readyReceiver()
	r.HandleSlice(ms, sliceOf(8, 0, 3))
	_, _ = r.Read(ms, nil)
	wantEqual(t, "hold", nextAck(t, r, 2*ms), ackOf(8, "000"))
	noAck(t, r, 2*ms)
}

// The ack of the chunk that completes replaces the ones that were due before (RCV-12).
func TestCompletionReplacesTheAckOfTheCurrentChunk(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	give(r, sliceOf(0, 0, 2), sliceOf(0, 1, 2))
	wantEqual(t, "ack", nextAck(t, r, 0), ackOf(0, "11"))
	noAck(t, r, 0)
	noAck(t, r, Second)
}

// Fifteen wait (AKT-3).
func TestTheSixteenthUnreportedSliceIsAckedAtOnce(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	give(r, sliceOf(0, 0, 40))
	nextAck(t, r, 0)
	for id := 1; id < 16; id++ {
		give(r, sliceOf(0, id, 40))
		noAck(t, r, 0)
	}
	give(r, sliceOf(0, 16, 40))
	wantEqual(t, "acked", nextAck(t, r, 0).Acked, codec.FirstN(17))
	noAck(t, r, 0)
}

func TestAReadAppends(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	chunk := chunkOf(2500, 4)
	give(r, slicesOf(0, chunk)...)
	wantEqual(t, "size to read", r.ReadSize(), 2500)
	got, err := r.Read(0, []byte("head"))
	wantEqual(t, "error", err, nil)
	wantBytes(t, "chunk", got, append([]byte("head"), chunk...))
	wantEqual(t, "size to read", r.ReadSize(), 0)
	must(t, r.chunk == nil, "the receiver lets go of what it delivered")

	dst := []byte("kept")
	got, err = r.Read(0, dst)
	wantEqual(t, "error", err, ErrNothingToRead, anyError)
	wantBytes(t, "what was given", got, dst)
}

// The network reuses its buffers (RCV-11).
func TestAReceiverCopiesWhatItIsGiven(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	chunk := chunkOf(2500, 4)
	for _, s := range slicesOf(0, chunk) {
		buffer := append([]byte(nil), s.Data...)
		s.Data = buffer
		give(r, s)
		clear(buffer)
	}
	got, _ := r.Read(0, nil)
	wantBytes(t, "chunk", got, chunk)
}

func TestASmallerChunkAfterALargerOne(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	for id, size := range []int{5000, 300, 4096, 1, 5000} {
		chunk := chunkOf(size, uint32(id))
		list := slicesOf(uint16(id), chunk)
		for i := range list { // last slice first
			give(r, list[len(list)-1-i])
		}
		got, _ := r.Read(0, nil)
		wantBytes(t, "chunk", got, chunk)
	}
}

// A slice that cannot be represented is not of this protocol, and is ignored
// in every state.
func TestInvalidSlicesAreIgnored(t *testing.T) {
	good := sliceOf(8, 1, 3)
	for _, c := range []struct {
		name  string
		wrong func(s *codec.Slice)
	}{
		{"no slices", func(s *codec.Slice) { s.NumSlices = 0 }},
		{"257 slices", func(s *codec.Slice) { s.NumSlices = 257 }},
		{"slice -1", func(s *codec.Slice) { s.SliceID = -1 }},
		{"slice 3 of 3", func(s *codec.Slice) { s.SliceID = 3 }},
		{"too short", func(s *codec.Slice) { s.Data = s.Data[:1023] }},
		{"empty", func(s *codec.Slice) { s.Data = nil }},
		{"too long", func(s *codec.Slice) { s.Data = make([]byte, 1025) }},
	} {
		for _, from := range []func() *Receiver{waitingReceiver, receivingReceiver, readyReceiver, failedReceiver} {
			r := from()
			before := *r
			s := good
			c.wrong(&s)
			give(r, s)
			if r.Stats().Ignored != before.stats.Ignored+1 || r.State() != before.state || r.pending != before.pending ||
				r.Received() != before.received || r.Deadline() != before.Deadline() {
				t.Errorf("%s: not ignored in %v", c.name, before.state)
			}
		}
	}
}

// Only a new slice is progress (RCV-9, RCV-15, RCV-17).
func TestAReceiverGivesUp(t *testing.T) {
	for _, giveUp := range []Micros{0, 3 * Second} {
		r := NewReceiver(ReceiverConfig{GiveUp: giveUp})
		limit := giveUp
		if giveUp == 0 {
			limit = 10 * Second
		}
		r.HandleSlice(5*Second, sliceOf(0, 0, 3))
		nextAck(t, r, 5*Second)
		r.HandleSlice(6*Second, sliceOf(0, 1, 3))
		nextAck(t, r, 6*Second)
		r.HandleSlice(7*Second, sliceOf(0, 1, 3)) // a duplicate is no progress
		nextAck(t, r, 7*Second)
		wantEqual(t, "deadline", r.Deadline(), 6*Second+limit)
		noAck(t, r, 6*Second+limit-1)
		wantEqual(t, "error", r.Err(), nil)
		r.HandleSlice(6*Second+limit-1, sliceOf(0, 0, 3)) // an ack is due as well
		noAck(t, r, 6*Second+limit)
		wantEqual(t, "state", r.State(), ReceiverFailed)
		wantEqual(t, "error", r.Err(), ErrGaveUp, anyError)
		wantEqual(t, "deadline", r.Deadline(), Never)
		wantEqual(t, "memory", len(r.slices), 0)
		noAck(t, r, year)
	}
}

// Packets come before timers: a slice at the very time to give up keeps the
// receiver going (RCV-2).
func TestASliceAtTheTimeToGiveUpIsProgress(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	give(r, sliceOf(0, 0, 3))
	r.HandleSlice(10*Second, sliceOf(0, 1, 3))
	nextAck(t, r, 10*Second)
	wantEqual(t, "deadline", r.Deadline(), 20*Second)
}

func TestOnlyAReceivingReceiverGivesUp(t *testing.T) {
	for _, from := range []func() *Receiver{newReceiver, waitingReceiver, readyReceiver} {
		r := from()
		wantEqual(t, "deadline", r.Deadline(), Never)
		r.Poll(year)
		wantEqual(t, "error", r.Err(), nil)
	}
}

func TestReceiverStats(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	chunk := slicesOf(0, chunkOf(2500, 1))
	r.HandleSlice(10*ms, chunk[0])
	r.HandleSlice(11*ms, chunk[0])
	r.HandleSlice(12*ms, sliceOf(0, 0, 2))
	r.HandleSlice(13*ms, sliceOf(9, 0, 2))
	r.HandleSlice(15*ms, chunk[1])
	wantEqual(t, "pinned", r.NumSlices(), 3)
	r.HandleSlice(17*ms, chunk[2])
	wantEqual(t, "pinned", r.NumSlices(), 0)
	r.HandleSlice(18*ms, chunk[2])
	r.HandleSlice(18*ms, sliceOf(1, 0, 2))
	r.Poll(18 * ms)
	_, _ = r.Read(18*ms, nil)
	wantEqual(t, "stats", r.Stats(), ReceiverStats{
		Chunks: 1, ChunkBytes: 2500, SlicesReceived: 8, SlicesStored: 3, Duplicates: 2,
		Held: 1, Conflicts: 1, Ignored: 1, AcksSent: 1, LastChunkTime: 7 * ms,
	})
}
