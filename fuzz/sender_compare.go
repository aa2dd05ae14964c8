package fuzz

import (
	"errors"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// look is all of a sender that can be seen and that an ignored event must leave
// as it was, but for the row.
type look struct {
	state       statemachine.SenderState
	chunkID     uint16
	numSlices   int
	sent, acked codec.Bitset
	heardAt     micros
	deadline    micros
	schedule    statemachine.ScheduleStats
}

func (b *senderBench) look() look {
	s := b.s
	return look{s.State(), s.ChunkID(), s.NumSlices(), s.Sent(), s.Acked(), s.HeardFromAt(), s.Deadline(), s.Stats().Schedule}
}

// unchanged: a foreign ack, one that tells nothing and a refused submit change
// nothing (SND-1, SND-5).
func (b *senderBench) unchanged(before look, row string) {
	b.Helper()
	if after := b.look(); after != before {
		b.Fatalf("%s changed the sender: %+v, before %+v", row, after, before)
	}
}

// observe holds what an observer is told against what is known before the event.
func (b *senderBench) observe(o statemachine.Observation) {
	b.Helper()
	known, acked := b.sent.Has(o.SliceID), b.acked.Has(o.SliceID)
	right := known && o.RTT == 0
	switch o.Kind {
	case statemachine.Sent:
		right = !known && o.RTT == 0
		b.observed++
	case statemachine.Resent:
		b.observed++
	case statemachine.Acked:
		b.arrived++
	case statemachine.MeasuredRTT:
		right = known && o.RTT >= 0
	}
	if !right || acked || o.At != b.now || o.ChunkID != b.chunkID {
		b.Fatalf("observed %v of slice %d, which was sent: %v, acked: %v; %+v", o.Kind, o.SliceID, known, acked, o)
	}
}

// compare holds the sender against its table.
func (b *senderBench) compare(event, row string) {
	b.Helper()
	s := b.s
	b.story.took(s.Row())
	if got := s.Row().String(); got != row {
		b.Fatalf("%s took row %s, want %s", event, got, row)
	}
	if s.State() != b.state || s.ChunkID() != b.chunkID {
		b.Fatalf("after %s (%s): %v, chunk %d, want %v, %d", event, row, s.State(), s.ChunkID(), b.state, b.chunkID)
	}
	if s.Acked() != b.acked || s.Sent() != b.sent || b.state != statemachine.SenderFailed && s.NumSlices() != b.numSlices {
		b.Fatalf("after %s (%s): %d slices, sent %x, acked %x, want %d, %x, %x", event, row,
			s.NumSlices(), s.Sent(), s.Acked(), b.numSlices, b.sent, b.acked)
	}
	if b.state == statemachine.SenderSending && s.HeardFromAt() != b.heardAt {
		b.Fatalf("after %s (%s): heard at %d, want %d", event, row, s.HeardFromAt(), b.heardAt)
	}
	if failed := b.state == statemachine.SenderFailed; failed != errors.Is(s.Err(), statemachine.ErrGaveUp) {
		b.Fatalf("in %v the error is %v", b.state, s.Err())
	}
	if got := s.Stats().SlicesSent; got != b.packets {
		b.Fatalf("%d slices went out, %d were counted", b.packets, got)
	}
}

// finish lets an honest peer ack at once whatever was sent. The chunk completes,
// unless the pace itself is slower than GIVE_UP.
func (b *senderBench) finish() {
	b.Helper()
	for n := 0; b.state == statemachine.SenderSending; n++ {
		if n > 2000 {
			b.Fatalf("no end: %d of %d slices are acked", b.acked.Count(), b.numSlices)
		}
		late := b.clock >= b.heardAt+b.giveUp
		b.poll()
		switch {
		case b.state == statemachine.SenderFailed && !late && b.giveUp > b.slowest():
			b.Fatalf("gave up on an honest peer")
		case b.sent.Minus(b.acked).Empty():
		default:
			b.ack(codec.Ack{ChunkID: b.chunkID, NumSlices: b.numSlices, Acked: b.sent}, "true")
		}
		if at := b.s.Deadline(); at != never {
			b.pass(at - b.clock)
		}
	}
}
