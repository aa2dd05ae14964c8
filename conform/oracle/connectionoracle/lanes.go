package connectionoracle

import (
	"cmp"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
)

// sender is the sender of a lane. One of repair slices has a rule, which takes over, before its chunk
// begins, what that of the chunk before knows, and which says what the path holds and what is under way
// (LAN-9, LAN-10).
type sender struct {
	*chunkoracle.Sender
	rule *repairoracle.Rule // nil: of named slices
	at   *int64             // of its latest slice
}

// turnAfter is LANE_TURN.
const turnAfter = 1_000_000

// forgetPath is step 4 of CXL-10.
func (l *lanes) forgetPath(now int64) {
	for _, s := range l.senders {
		if first := l.senders[0].rule; s.rule == first && first != nil {
			s.rule.Use(first.Path().Anew(now))
		} else if first != nil {
			s.rule.Use(first.Path())
		}
		s.Moved()
	}
}

// silentSince is since when it has neither sent nor heard anything (LAN-13).
func (s sender) silentSince() int64 { return max(*s.at, s.HeardAt()) }

func (s sender) idle() bool { return s.State() == chunkoracle.StateIdle }

// allSent reports whether each slice of its chunk was sent once.
func (s sender) allSent() bool {
	if s.rule != nil {
		return s.rule.Enough()
	}
	return s.Transmissions() == s.NumSlices()
}

// mostChunks is how many may wait behind those in flight.
const mostChunks = 8

// mostChunk is the largest chunk.
const mostChunk = 262144

// lanes is the lanes of one end: appendix D of PROTOCOL.md.
type lanes struct {
	senders   []sender
	receivers []*chunkoracle.Receiver
	queue     [][]byte
	out, in   int   // the lanes of the next chunk to begin, and to read
	heldUntil int64 // no slice is sent before, but a sender gives up
	giveUp    int64
}

func newLanes(cfg *Config) *lanes {
	l := &lanes{giveUp: GiveUp(cfg.Timeout)}
	for range cfg.Lanes {
		s, rule := cfg.Sender()
		l.senders, l.receivers = append(l.senders, sender{s, rule, new(int64)}), append(l.receivers, cfg.Receiver())
	}
	return l
}

// submit puts a chunk in line.
func (l *lanes) submit(now int64, chunk []byte) (refused string) {
	switch {
	case len(chunk) < 1 || len(chunk) > mostChunk:
		return "chunk_size"
	case len(l.queue) == mostChunks:
		return "busy"
	}
	l.queue = append(l.queue, chunk)
	l.begin(now)
	return ""
}

// begin begins the chunks that may (LAN-4, LAN-7, LAN-9, LAN-10).
func (l *lanes) begin(now int64) {
	for len(l.queue) > 0 && l.senders[l.out].idle() {
		before := l.senders[(l.out+len(l.senders)-1)%len(l.senders)]
		if !before.idle() && (!before.allSent() || l.pathIsFull(before)) {
			return
		}
		if to := l.senders[l.out]; to.rule != nil && len(l.senders) > 1 {
			to.rule.Adopt(before.rule)
		}
		l.senders[l.out].Submit(now, l.queue[0])
		l.queue = l.queue[1:]
		l.out = (l.out + 1) % len(l.senders)
	}
}

// pathIsFull is LAN-10, by what the sender of the chunk before knows.
func (l *lanes) pathIsFull(before sender) bool {
	if before.rule == nil {
		return false
	}
	inFlight := int64(0)
	for _, s := range l.senders {
		if !s.idle() {
			inFlight += s.rule.InFlight()
		}
	}
	return inFlight >= before.rule.PathSlices()
}

// yield says whether messages go.
func (l *lanes) yield(yields bool) {
	for _, s := range l.senders {
		if s.rule != nil {
			s.rule.Yield(yields)
		}
	}
}

// marked tells the scheduler of the lane whose chunk began last of marks, if it answers them.
func (l *lanes) marked(n int64) {
	if latest := l.senders[(l.out+len(l.senders)-1)%len(l.senders)]; latest.rule != nil {
		latest.rule.Marked(n)
	}
}

// ack is an ack that came by a lane.
func (l *lanes) ack(now int64, r Record) {
	p := r.Packet
	l.senders[r.Lane].Ack(now, chunkoracle.Ack{ChunkID: p.ChunkID, NumSlices: p.NumSlices, Acked: p.Acked, Have: p.Have, Top: p.Top})
	l.begin(now)
}

// slice is a slice that came by a lane.
func (l *lanes) slice(now int64, r Record) {
	p := r.Packet
	l.receivers[r.Lane].Slice(now, chunkoracle.Slice{ChunkID: p.ChunkID, SliceID: p.SliceID, NumSlices: p.NumSlices, LastBytes: p.LastBytes, Data: p.Data})
}

// pollAck gives an ack that is due, the lowest lane first.
func (l *lanes) pollAck(now int64) (r Record, ok bool) {
	for k, receiver := range l.receivers {
		if _, a := receiver.Poll(now); a != nil {
			p := oracle.Packet{ChunkID: a.ChunkID, NumSlices: a.NumSlices, Acked: a.Acked, Have: a.Have, Top: a.Top}
			return Record{Type: ChunkAck, Lane: int64(k), Packet: p}, true
		}
	}
	return r, false
}

// turns are the lanes in the order in which they are polled: those that wait, the longest silent first
// (LAN-13), and then by submission (LAN-8).
func (l *lanes) turns(now int64) []int {
	var waiting, others []int
	for i := range l.senders {
		k := (l.out + i) % len(l.senders)
		if s := l.senders[k]; !s.idle() && now-s.silentSince() >= turnAfter {
			waiting = append(waiting, k)
		} else {
			others = append(others, k)
		}
	}
	slices.SortStableFunc(waiting, func(a, b int) int {
		return cmp.Compare(l.senders[a].silentSince(), l.senders[b].silentSince())
	})
	return append(waiting, others...)
}

// pollSlice gives a slice that is due, and none from when a machine gives up (LAN-6).
func (l *lanes) pollSlice(now int64) (r Record, ok bool) {
	l.begin(now)
	for _, k := range l.turns(now) {
		if l.failed() {
			break
		}
		if now < l.heldUntil && now < l.givesUpAt(k) {
			continue
		}
		if _, s := l.senders[k].Poll(now); s != nil {
			*l.senders[k].at = now
			l.begin(now)
			p := oracle.Packet{ChunkID: s.ChunkID, SliceID: s.SliceID, NumSlices: s.NumSlices, LastBytes: s.LastBytes, Data: s.Data}
			return Record{Type: Slice, Lane: int64(k), Packet: p}, true
		}
	}
	return r, false
}

// read gives the next chunk (LAN-5).
func (l *lanes) read(now int64) (chunk []byte, ok bool) {
	if len(l.receivers) == 0 {
		return nil, false
	}
	if _, chunk = l.receivers[l.in].Read(now); chunk != nil {
		l.in = (l.in + 1) % len(l.receivers)
	}
	return chunk, chunk != nil
}

// ackAt and sliceAt are the first deadlines of the receivers and of the senders.
func (l *lanes) ackAt() int64 {
	at := int64(never)
	for _, r := range l.receivers {
		at = min(at, orNever(r.Deadline()))
	}
	return at
}

func (l *lanes) sliceAt() int64 {
	at := int64(never)
	for k, s := range l.senders {
		due := orNever(s.Deadline())
		if due < l.heldUntil {
			due = min(l.heldUntil, l.givesUpAt(k))
		}
		at = min(at, due)
	}
	return at
}

// givesUpAt is when a sender gives up.
func (l *lanes) givesUpAt(k int) int64 {
	if l.senders[k].State() != chunkoracle.StateSending {
		return never
	}
	return l.senders[k].HeardAt() + l.giveUp
}

// resting reports whether no chunk is in flight or in line.
func (l *lanes) resting() bool {
	for _, s := range l.senders {
		if !s.idle() {
			return false
		}
	}
	return len(l.queue) == 0
}

// failed reports whether a machine gave up (LAN-6).
func (l *lanes) failed() bool {
	for k := range l.senders {
		if l.senders[k].State() == chunkoracle.StateFailed || l.receivers[k].State() == chunkoracle.StateFailed {
			return true
		}
	}
	return false
}

func orNever(at int64, some bool) int64 {
	if !some {
		return never
	}
	return at
}
