package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/eventlog"
)

// sentCount is the ledger of a sender of repair slices: each transmission has the next
// number, and acks count (section 5.1 of spec/REPAIR.md).
type sentCount struct {
	id    uint16           // of the chunk
	chunk *erasure.Encoded // the caller's; nil unless one is in flight
	k     int              // its source slices
	sent  int              // transmissions so far
	have  int              // independent slices that have arrived; never falls within a chunk (SAFE-3)
	top   int              // the highest number that arrived, and one; never falls within a chunk
}

func (l *sentCount) start(chunkID uint16, c chunk) {
	if c.encoded == nil {
		c.encoded = erasure.EncodeForOne(c.bytes)
	}
	*l = sentCount{id: chunkID, chunk: c.encoded, k: c.encoded.NumSlices()}
}

// judge: a slice that was never sent cannot have arrived (RPX-3, RPX-4).
func (l *sentCount) judge(a *codec.Ack, said *Progress) uint8 {
	top, ok := latestWith(a.Top, l.sent, a.NumSlices)
	said.Have, said.Top = a.Have, top
	switch {
	case !ok || a.Have > top:
		return ackForeign
	case a.Have == a.NumSlices:
		return ackAll
	case a.Have > l.have || top > l.top:
		return ackNews
	case a.Have == 0 && top == 0 && l.have == 0 && l.top == 0 && l.sent > 0:
		return ackHold
	}
	return ackNothingNew
}

// note: acks can be lost, doubled and late, so each count is kept at its maximum (RPX-6).
func (l *sentCount) note(said *Progress) (newly int) {
	before := l.have
	l.have, l.top = max(l.have, said.Have), max(l.top, said.Top)
	said.Have, said.Top = l.have, l.top
	return l.have - before
}

// slice: RPS-4.
func (l *sentCount) slice(id int) codec.Slice {
	return codec.Slice{ChunkID: l.id, SliceID: id, NumSlices: l.k, LastBytes: l.chunk.LastBytes(), Data: l.chunk.Slice(id)}
}

// send sends the next number, whatever the scheduler names. That an id comes again after
// 8,191 does not make the slice a resent one.
func (l *sentCount) send(_ int, out *codec.Slice) (again bool) {
	*out = l.slice(idOf(l.sent, l.k))
	l.sent++
	return false
}

// told: ids begin anew when there are no more (RPN-2).
func (l *sentCount) told(s *codec.Slice, why string) (times int, reason string) {
	times = 1
	if number := l.sent - 1; number >= erasure.MaxIDs {
		times += (number - l.k) / (erasure.MaxIDs - l.k)
	}
	switch {
	case why != "":
	case s.Source():
		why = eventlog.First
	default:
		why = eventlog.Repair
	}
	return times, why
}

// drop also forgets the counts (RPX-8).
func (l *sentCount) drop() { *l = sentCount{} }

func (l *sentCount) count(a codec.Ack) int { return a.Have }

func (l *sentCount) unacked() (n int, unsent bool) { return l.sent - l.top, l.sent < l.k }

func (l *sentCount) vars(v SenderVars) SenderVars {
	v.Transmissions, v.Have, v.Top = l.sent, l.have, l.top
	return v
}
