package statemachine

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
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

func newSender(first uint16, sched Scheduler) *Sender {
	return check.Must(NewSender(SenderConfig{FirstChunkID: first, Scheduler: sched}))
}

func newReceiver(first uint16) *Receiver {
	return check.Must(NewReceiver(ReceiverConfig{FirstChunkID: first}))
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

func idleSender() *Sender { return newSender(7, &inTurn{deadline: core.Never}) }

func idleAgainSender() *Sender {
	s := newSender(6, &inTurn{deadline: core.Never})
	_ = s.Submit(0, chunktest.Chunk(5, 1))
	s.Poll(0)
	s.HandleAck(0, chunktest.Ack(6, "1"))
	return s
}

func startedSender() *Sender {
	s := idleSender()
	_ = s.Submit(0, chunktest.Chunk(3000, 1))
	return s
}

func sentSender() *Sender {
	s := startedSender()
	for range 3 {
		s.Poll(0)
	}
	return s
}

func ackedSender() *Sender {
	s := sentSender()
	s.HandleAck(0, chunktest.Ack(7, "010"))
	return s
}

func failedSender() *Sender {
	s := ackedSender()
	s.Poll(DefaultGiveUp)
	return s
}

// failedUnacked has failed without an ack.
func failedUnacked() *Sender {
	s := sentSender()
	s.Poll(DefaultGiveUp)
	return s
}

// firstSlice is of the current chunk of the receivers below.
var firstSlice = chunktest.Slice(8, 0, 3)

// A receiver in each of its states, reached by events only. The current chunk is 8, of
// three slices; the chunk 7 before it had two.

func firstReceiver() *Receiver { return newReceiver(7) }

// quiet polls until nothing is due.
func quiet(r *Receiver) *Receiver {
	for range 4 {
		r.Poll(r.now)
	}
	return r
}

func readyReceiver() *Receiver {
	return quiet(give(firstReceiver(), chunktest.Slice(7, 0, 2), chunktest.Slice(7, 1, 2)))
}

func waitingReceiver() *Receiver {
	r := readyReceiver()
	_, _ = r.Read(0, nil)
	return r
}

func receivingReceiver() *Receiver {
	r := waitingReceiver()
	r.Poll(2 * ms) // from now on an ack may go out again
	return quiet(give(r, chunktest.Slice(8, 0, 3)))
}

func almostReceiver() *Receiver { return quiet(give(receivingReceiver(), chunktest.Slice(8, 2, 3))) }

// halfway has waited for half the time to give up.
func halfway() *Receiver {
	r := receivingReceiver()
	r.Poll(r.now + DefaultGiveUp/2)
	return r
}

func failedReceiver() *Receiver {
	r := almostReceiver()
	r.Poll(r.now + DefaultGiveUp)
	return r
}
