package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// sentSet is the ledger of a sender of named slices: each is acked by itself.
type sentSet struct {
	id    uint16   // of the chunk
	chunk []byte   // the caller's; nil unless one is in flight
	k     int      // its slices
	sent  core.Set // sent at least once
	acked core.Set // subset of sent; a bit is never cleared within a chunk (SAFE-3)

	times *[codec.MaxSlices]int // with a log: transmissions of each slice
}

func (l *sentSet) start(chunkID uint16, c chunk) {
	l.id, l.chunk, l.k = chunkID, c.bytes, codec.NumSlices(len(c.bytes))
	l.sent, l.acked = core.Set{}, core.Set{}
	if l.times != nil {
		*l.times = [codec.MaxSlices]int{}
	}
}

// judge: a slice that was never sent cannot have arrived (SND-7).
func (l *sentSet) judge(a *codec.Ack, said *Progress) uint8 {
	said.News = a.Acked.Intersect(l.sent).Minus(l.acked)
	switch {
	case l.acked.Count()+said.News.Count() == a.NumSlices:
		return ackAll
	case !said.News.Empty():
		return ackNews
	case l.acked.Empty() && a.Acked.Empty() && !l.sent.Empty():
		return ackHold
	}
	return ackNothingNew
}

func (l *sentSet) note(said *Progress) (newly int) {
	l.acked = l.acked.Union(said.News)
	said.Have = l.acked.Count()
	return said.News.Count()
}

// slice: SLC-4, LIM-2.
func (l *sentSet) slice(id int) codec.Slice {
	from := id * codec.SliceSize
	to := min(from+codec.SliceSize, len(l.chunk))
	return codec.Slice{ChunkID: l.id, SliceID: id, NumSlices: l.k, Data: l.chunk[from:to:to]}
}

func (l *sentSet) send(id int, out *codec.Slice) (again bool) {
	again = l.sent.Has(id)
	l.sent.Add(id)
	if l.times != nil {
		l.times[id]++
	}
	*out = l.slice(id)
	return again
}

func (l *sentSet) told(s *codec.Slice, why string) (times int, reason string) {
	switch times = l.times[s.SliceID]; {
	case times == 1:
		why = eventlog.First
	case why == "":
		why = eventlog.Lost
	}
	return times, why
}

func (l *sentSet) drop() { l.chunk = nil }

func (l *sentSet) count(a codec.Ack) int { return a.Acked.Count() }

func (l *sentSet) unacked() (n int, unsent bool) {
	return l.sent.Minus(l.acked).Count(), l.sent.Count() < l.k
}

func (l *sentSet) vars(v SenderVars) SenderVars {
	v.Sent, v.Acked, v.Have = l.sent, l.acked, l.acked.Count()
	v.Transmissions = l.sent.Count()
	return v
}
