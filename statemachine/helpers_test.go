package statemachine

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

const (
	ms   = core.Millisecond
	year = 365 * 24 * 3600 * core.Second
)

// inTurn is a scheduler that returns each slice once, and writes down the calls.
// The tests of this package that need a sender, but no scheduler of their own, use it.
type inTurn struct {
	NoPath
	due      core.Set
	deadline core.Micros // when none is due
	log      []string
}

func (s *inTurn) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *inTurn) Begin(f Flight) {
	s.due = core.FirstN(f.NumSlices)
	s.note("begin %d: chunk %d, %d slices, datagrams of %d and %d bytes", f.Now, f.ChunkID, f.NumSlices, f.Bytes, f.LastBytes)
}

func (s *inTurn) Held(now core.Micros) { s.note("held %d", now) }

func (s *inTurn) Acked(now core.Micros, p Progress) {
	s.due = s.due.Minus(p.News)
	s.note("acked %d: %d", now, p.News.Count())
}

func (s *inTurn) Next(now core.Micros) (int, bool) {
	s.note("next")
	id := s.due.Next(0)
	s.due.Remove(id)
	return id, id >= 0
}

func (s *inTurn) Deadline() core.Micros {
	if !s.due.Empty() {
		return 0
	}
	return s.deadline
}

func (s *inTurn) Stats() ScheduleStats { return ScheduleStats{Lost: 4} }

// kinds are both kinds of slices. A test of one machine is a test of each.
var kinds = []codec.Kind{codec.Named, codec.Repair}

func newSender(kind codec.Kind, first uint16, sched Scheduler) *Sender {
	return check.Must(NewSender(SenderConfig{Kind: kind, FirstChunkID: first, Scheduler: sched}))
}

func newReceiver(kind codec.Kind, first uint16) *Receiver {
	return check.Must(NewReceiver(ReceiverConfig{Kind: kind, FirstChunkID: first}))
}

// submit submits a chunk: one of repair slices encoded.
func submit(s *Sender, data []byte) error {
	if s.kind == codec.Repair {
		return s.SubmitEncoded(s.now, erasure.Encode(data))
	}
	return s.Submit(s.now, data)
}

// someSlice returns a slice of a chunk of n.
func someSlice(kind codec.Kind, chunkID uint16, id, n int) codec.Slice {
	if kind == codec.Repair {
		return sliceOf(chunkID, id, n)
	}
	return chunktest.Slice(chunkID, id, n)
}

// someAck returns an ack that says the same of either kind: which named slices are here, and
// how many of those that were sent below a number.
func someAck(kind codec.Kind, chunkID uint16, bits string, have, top int) codec.Ack {
	if kind == codec.Repair {
		return codec.Ack{ChunkID: chunkID, NumSlices: len(bits), Have: have, Top: top}
	}
	return chunktest.Ack(chunkID, bits)
}

// sentOf and receivedOf are the ledgers of machines of named slices.
func sentOf(s *Sender) *sentSet           { return s.ledger.(*sentSet) }
func receivedOf(r *Receiver) *receivedSet { return r.ledger.(*receivedSet) }

// give gives a receiver slices, all at its time.
func give(r *Receiver, slices ...codec.Slice) *Receiver {
	for _, s := range slices {
		r.HandleSlice(r.now, s)
	}
	return r
}

// nextAck polls once.
func nextAck(t *testing.T, r *Receiver, now core.Micros) codec.Ack {
	t.Helper()
	a, ok := r.Poll(now)
	if !ok {
		t.Fatalf("no ack at %d", now)
	}
	return a
}

func noAck(t *testing.T, r *Receiver, now core.Micros) {
	t.Helper()
	if a, ok := r.Poll(now); ok {
		t.Fatalf("at %d the ack %v, want none", now, a)
	}
}

// A sender in each of its states, reached by events only. The chunk has three slices
// and the id 7.

func idleSender(kind codec.Kind) *Sender { return senderAt(kind, 7) }

func senderAt(kind codec.Kind, first uint16) *Sender {
	if kind == codec.Repair {
		return newSender(kind, first, &scripted{deadline: core.Never})
	}
	return newSender(kind, first, &inTurn{deadline: core.Never})
}

func idleAgainSender(kind codec.Kind) *Sender {
	s := senderAt(kind, 6)
	_ = submit(s, chunktest.Chunk(5, 1))
	sends(s, 1)
	s.HandleAck(0, someAck(kind, 6, "1", 1, 1))
	return s
}

func startedSender(kind codec.Kind) *Sender {
	s := idleSender(kind)
	_ = submit(s, chunktest.Chunk(2*codec.SliceSize+lastBytes, 8))
	return s
}

// sends makes a sender send all that is due: so often, if its scheduler is scripted.
func sends(s *Sender, n int) (slices []codec.Slice) {
	if sched, ok := s.sched.(*scripted); ok {
		sched.due = n
	}
	for p, ok := s.Poll(s.now); ok; p, ok = s.Poll(s.now) {
		slices = append(slices, p)
	}
	return slices
}

// sentSender has sent its three slices, and of repair slices one more.
func sentSender(kind codec.Kind) *Sender {
	s := startedSender(kind)
	sends(s, 3+int(kind))
	return s
}

// ackedSender knows that one slice has arrived: the second of named ones, else one of the
// first two.
func ackedSender(kind codec.Kind) *Sender {
	s := sentSender(kind)
	s.HandleAck(0, someAck(kind, 7, "010", 1, 2))
	return s
}

func failedSender(kind codec.Kind) *Sender {
	s := ackedSender(kind)
	s.Poll(DefaultGiveUp)
	return s
}

// A receiver in each of its states, reached by events only. The current chunk is 8, of
// three slices; the chunk 7 before it had two.

func firstReceiver(kind codec.Kind) *Receiver { return newReceiver(kind, 7) }

// firstSlice is the first of the current chunk that comes.
func firstSlice(kind codec.Kind) codec.Slice {
	return someSlice(kind, 8, [...]int{codec.Named: 0, codec.Repair: alike[0]}[kind], 3)
}

// quiet polls until nothing is due.
func quiet(r *Receiver) *Receiver {
	for range 4 {
		r.Poll(r.now)
	}
	return r
}

func readyReceiver(kind codec.Kind) *Receiver {
	return quiet(give(firstReceiver(kind), someSlice(kind, 7, 0, 2), someSlice(kind, 7, 1, 2)))
}

func waitingReceiver(kind codec.Kind) *Receiver {
	r := readyReceiver(kind)
	_, _ = r.Read(0, nil)
	return r
}

func receivingReceiver(kind codec.Kind) *Receiver {
	r := waitingReceiver(kind)
	r.Poll(2 * ms) // from now on an ack may go out again
	return quiet(give(r, firstSlice(kind)))
}

func almostReceiver(kind codec.Kind) *Receiver {
	return quiet(give(receivingReceiver(kind), someSlice(kind, 8, 2, 3)))
}

func failedReceiver(kind codec.Kind) *Receiver {
	r := almostReceiver(kind)
	r.Poll(r.now + DefaultGiveUp)
	return r
}
