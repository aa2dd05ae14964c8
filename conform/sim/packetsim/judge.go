package packetsim

import (
	"fmt"

	"github.com/chunkwire/chunkwire/core"
	protocol "github.com/chunkwire/chunkwire/packet"
)

// Judge watches two ends of a connection, 0 and 1, from outside, and knows what was sent. It
// checks the properties of section 11.
type Judge struct {
	ends   [2]judged
	forged bool
}

// Forged says that from now on the assumptions of section 11 do not hold: what the layer
// above is given, and what is acked, may be anything.
func (j *Judge) Forged() { j.forged = true }

// judged is what one end has sent, and what was said of it.
type judged struct {
	sent        map[core.Number]sentPayload
	next        core.Number
	taken       map[core.Number]bool // by the other end
	acked, lost map[core.Number]bool
	unsettled   []core.Number // not quiet, neither acked nor lost, ascending
}

type sentPayload struct {
	payload string
	at      core.Micros
	quiet   bool
}

// NewJudge returns the judge of two ends whose first packets have these numbers.
func NewJudge(first0, first1 core.Number) *Judge {
	j := &Judge{}
	for i, first := range []core.Number{first0, first1} {
		j.ends[i] = judged{
			sent: map[core.Number]sentPayload{}, next: first,
			taken: map[core.Number]bool{}, acked: map[core.Number]bool{}, lost: map[core.Number]bool{},
		}
	}
	return j
}

// Sent says that an end sent a payload with a number.
func (j *Judge) Sent(end int, now core.Micros, n core.Number, payload []byte, quiet bool) error {
	e := &j.ends[end]
	if n != e.next {
		return fmt.Errorf("PKS-1: end %d sends number %d, want %d", end, n, e.next)
	}
	e.next++
	quiet = quiet || isPad(payload)
	e.sent[n] = sentPayload{string(payload), now, quiet}
	if !quiet {
		e.unsettled = append(e.unsettled, n)
	}
	return nil
}

// Taken says that an end's layer above took a payload.
func (j *Judge) Taken(end int, d protocol.Delivery) error {
	if j.forged {
		return nil
	}
	from := &j.ends[1-end]
	s, was := from.sent[d.Number]
	switch {
	case !was:
		return fmt.Errorf("PKT-SAFE-1: end %d is given %d, which was never sent", end, d.Number)
	case s.payload != string(d.Payload):
		return fmt.Errorf("PKT-SAFE-1: end %d is given other bytes for %d", end, d.Number)
	case from.taken[d.Number]:
		return fmt.Errorf("PKT-SAFE-1: end %d is given %d twice", end, d.Number)
	}
	from.taken[d.Number] = true
	return nil
}

// Event says what an end said of a number of its own.
func (j *Judge) Event(end int, now core.Micros, e protocol.Event) error {
	own := &j.ends[end]
	s, n := own.sent[e.Number], e.Number
	acked := e.Kind == protocol.EventAcked
	switch {
	case acked && !own.taken[n] && !j.forged:
		return fmt.Errorf("PKT-SAFE-2: end %d says that %d is acked, which was not taken", end, n)
	case own.acked[n] || !acked && own.lost[n]:
		return fmt.Errorf("PKL-1: end %d says %v of %d, which was settled", end, e.Kind, n)
	case !acked && s.quiet:
		return fmt.Errorf("PKL-1: end %d says that %d is lost, which asks for no ack", end, n)
	}
	if acked {
		own.acked[n] = true
	} else {
		own.lost[n] = true
	}
	return nil
}

// Polled says that an end was polled, after its events.
func (j *Judge) Polled(end int, now core.Micros) error {
	own := &j.ends[end]
	for len(own.unsettled) > 0 {
		n := own.unsettled[0]
		if !own.acked[n] && !own.lost[n] {
			if now-own.sent[n].at >= protocol.LostAfter {
				return fmt.Errorf("PKT-LIVE-2: %d of end %d is not settled %d us after it was sent", n, end, now-own.sent[n].at)
			}
			break
		}
		own.unsettled = own.unsettled[1:]
	}
	return nil
}

// Holds says what an end holds (PKT-SAFE-3).
func (j *Judge) Holds(end int, cfg protocol.Config, s protocol.Stats) error {
	if s.Incomplete > cfg.ReassemblyPackets || s.IncompleteBytes > cfg.ReassemblyBytes {
		return fmt.Errorf("PKT-SAFE-3: end %d holds %d bytes of %d packets", end, s.IncompleteBytes, s.Incomplete)
	}
	return nil
}

// Counts returns how many packets of an end were sent, taken, acked and lost.
func (j *Judge) Counts(end int) (sent, taken, acked, lost int) {
	e := &j.ends[end]
	return len(e.sent), len(e.taken), len(e.acked), len(e.lost)
}
