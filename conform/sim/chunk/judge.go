package chunk

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
)

// The judges stand outside the machines. They are given the application's calls and
// their results, packets and times, and know from the specification alone what must
// follow: they share no code with a machine. What they report is nil as long as nothing is wrong.

// Violation is a sentence of the specification that was broken, and how.
type Violation struct {
	Rule string
	Text string
}

func (v *Violation) Error() string { return v.Rule + ": " + v.Text }

// Violates returns a violation.
func Violates(rule, format string, args ...any) *Violation {
	return &Violation{rule, fmt.Sprintf(format, args...)}
}

// Stream is one direction of one connection, as the judges of its two ends see it
// together: the chunks from a sender to a receiver.
type Stream struct {
	FirstID   uint16
	Submitted [][]byte
	Complete  int // chunks of which every slice has arrived
	Senders   int // machines that had this stream; more than one is against CON-5
	Receivers int // likewise
}

// Lawful reports whether the stream keeps to CON-1 and CON-5. Only then do the
// properties of section 11 hold.
func (s *Stream) Lawful() bool { return s.Senders == 1 && s.Receivers <= 1 }

// Figures of the specification.
const (
	maxChunk  = 262_144
	ackWithin = 100 * core.Millisecond // ACQ-1
)

// end is what both judges know of their machine.
type end struct {
	stream *Stream
	giveUp core.Micros
	slack  core.Micros // how late its driver may be
	now    core.Micros // the latest time that the machine was given
	failed bool
}

// At takes a time as the machine does (TIM-1).
func (e *end) At(now core.Micros) core.Micros {
	e.now = max(e.now, now)
	return e.now
}

// ahead is what holds after a poll that returned nothing: the deadline lies in the
// future.
func (e *end) ahead(rule string, deadline core.Micros) *Violation {
	if deadline <= e.now {
		return Violates(rule, "has nothing to send at %d, but its deadline is %d", e.now, deadline)
	}
	return nil
}
