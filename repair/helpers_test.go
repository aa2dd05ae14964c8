package repair

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

const (
	ms     = core.Millisecond
	giveUp = statemachine.DefaultGiveUp
)

// scripted is a scheduler that sends as often as it is allowed to, and writes down the
// calls. Its deadline is now while it is allowed to.
type scripted struct {
	due      int
	deadline core.Micros // when nothing is due
	log      []string
}

func (s *scripted) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *scripted) Begin(f statemachine.Flight) {
	s.note("begin %d: chunk %d, %d slices, datagrams of %d and %d bytes", f.Now, f.ChunkID, f.NumSlices, f.Bytes, f.LastBytes)
}

func (s *scripted) Acked(now core.Micros, have, top int) {
	s.note("acked %d: %d of %d", now, have, top)
}

func (s *scripted) Held(now core.Micros) { s.note("held %d", now) }

func (s *scripted) Next(core.Micros) bool {
	if s.due == 0 {
		return false
	}
	s.due--
	return true
}

func (s *scripted) Deadline() core.Micros {
	if s.due > 0 {
		return 0
	}
	return s.deadline
}

func (s *scripted) Stats() statemachine.ScheduleStats { return statemachine.ScheduleStats{Lost: 4} }

func newSender(first uint16, sched Scheduler) *Sender {
	return check.Must(NewSender(SenderConfig{FirstChunkID: first, Scheduler: sched}))
}

func newReceiver(first uint16) *Receiver {
	return check.Must(NewReceiver(ReceiverConfig{FirstChunkID: first}))
}

// lastBytes is the size of the last slice of the chunks below.
const lastBytes = 100

// chunkOf returns the chunk of k slices that has an id.
func chunkOf(chunkID uint16, k int) []byte {
	return chunktest.Chunk((k-1)*codec.SliceSize+lastBytes, uint32(chunkID)+1)
}

// sliceOf returns a slice of it.
func sliceOf(chunkID uint16, id, k int) Slice {
	return Slice{ChunkID: chunkID, ID: id, NumSlices: k, LastBytes: lastBytes, Data: erasure.Encode(chunkOf(chunkID, k)).Slice(id)}
}

// alike are the ids of two repair slices of three slices whose rows are multiples of each
// other: one of them is dependent if the other is held.
var alike = func() [2]int {
	for j := 1; ; j++ {
		for i := range j {
			shift := func(column int) int { return erasure.Exponent(j, column) - erasure.Exponent(i, column) }
			if shift(0) == shift(1) && shift(1) == shift(2) {
				return [2]int{3 + i, 3 + j}
			}
		}
	}
}()

// forged returns a slice with one bit that is not the chunk's.
func forged(s Slice) Slice {
	s.Data = append([]byte(nil), s.Data...)
	s.Data[0] ^= 1
	return s
}

// give gives a receiver slices of a chunk, all at its time.
func give(r *Receiver, slices ...Slice) *Receiver {
	for _, s := range slices {
		r.HandleSlice(r.now, s)
	}
	return r
}

// ids returns slices of a chunk.
func ids(chunkID uint16, k int, list ...int) (slices []Slice) {
	for _, id := range list {
		slices = append(slices, sliceOf(chunkID, id, k))
	}
	return slices
}

// quiet polls until nothing is due.
func quiet(r *Receiver) *Receiver {
	for range 4 {
		r.Poll(r.now)
	}
	return r
}

// nextAck polls once.
func nextAck(t *testing.T, r *Receiver, now core.Micros) Ack {
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

// A sender in each of its states, reached by events only. The chunk has three slices and
// the id 7.

func idleSender() *Sender { return newSender(7, &scripted{deadline: core.Never}) }

func idleAgainSender() *Sender {
	s := newSender(6, &scripted{due: 1, deadline: core.Never})
	_ = s.Submit(0, erasure.Encode(chunkOf(6, 1)))
	s.Poll(0)
	s.HandleAck(0, Ack{ChunkID: 6, NumSlices: 1, Have: 1, Top: 1})
	return s
}

func startedSender() *Sender {
	s := idleSender()
	_ = s.Submit(0, erasure.Encode(chunkOf(7, 3)))
	return s
}

// sends makes a sender send.
func sends(s *Sender, n int) (slices []Slice) {
	s.sched.(*scripted).due = n
	for p, ok := s.Poll(s.now); ok; p, ok = s.Poll(s.now) {
		slices = append(slices, p)
	}
	return slices
}

// sentSender has sent its three slices and a repair slice.
func sentSender() *Sender {
	s := startedSender()
	sends(s, 4)
	return s
}

// ackedSender knows that one of the first two has arrived.
func ackedSender() *Sender {
	s := sentSender()
	s.HandleAck(0, ackOf(1, 2))
	return s
}

func failedSender() *Sender {
	s := ackedSender()
	s.Poll(giveUp)
	return s
}

// ackOf is an ack of the chunk of the senders above.
func ackOf(have, top int) Ack { return Ack{ChunkID: 7, NumSlices: 3, Have: have, Top: top} }

// A receiver in each of its states, reached by events only. The current chunk is 8, of
// three slices; the chunk 7 before it had two.

func firstReceiver() *Receiver { return newReceiver(7) }

func readyReceiver() *Receiver { return quiet(give(firstReceiver(), ids(7, 2, 0, 1)...)) }

func waitingReceiver() *Receiver {
	r := readyReceiver()
	_, _ = r.Read(0, nil)
	return r
}

func receivingReceiver() *Receiver {
	r := waitingReceiver()
	r.Poll(2 * ms) // from now on an ack may go out again
	return quiet(give(r, ids(8, 3, alike[0])...))
}

func almostReceiver() *Receiver { return quiet(give(receivingReceiver(), ids(8, 3, 2)...)) }

// halfway has waited for half the time to give up.
func halfway() *Receiver {
	r := receivingReceiver()
	r.Poll(r.now + giveUp/2)
	return r
}

func failedReceiver() *Receiver {
	r := almostReceiver()
	r.Poll(r.now + giveUp)
	return r
}
