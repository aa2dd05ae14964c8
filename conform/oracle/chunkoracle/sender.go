package chunkoracle

import "github.com/chunkwire/chunkwire/conform/oracle/repairoracle"

// Scheduler decides which slice of the chunk in flight is sent next, and when (section 9 of
// PROTOCOL.md; of REPAIR.md only when).
type Scheduler interface {
	Begin(now int64, chunk []byte)
	Acked(now int64, p Progress)
	Held(now int64)
	Next(now int64) (slice int64, some bool)
	Deadline() int64
	Moved() // CXL-10 of CONNECTION.md
}

// Progress is what an ack said that was new, and all that acks have said.
type Progress struct {
	News      []int64 // named slices
	Have, Top int64
}

// The codes of a submit that is refused.
const (
	ChunkSize = "chunk_size"
	Busy      = "busy"
	GaveUp    = "gave_up"
)

// Sender is tables S and T.
type Sender struct {
	machine
	scheduler Scheduler

	chunk       []byte
	sent, acked []bool // named slices
	made        int64  // transmissions of repair slices
	have, top   int64
	heardAt     int64
	Counted     Sent
}

// Sent is what a sender counts.
type Sent struct {
	Chunks, ChunkBytes, Slices, Resent, Repair, Acked, Bytes, Acks, AcksIgnored, LastChunkTime int64
}

// NewSender returns a sender.
func NewSender(kind Kind, firstID, giveUp int64, s Scheduler) *Sender {
	return &Sender{machine: machine{kind: kind, giveUp: giveUp, state: StateIdle, chunkID: firstID}, scheduler: s}
}

// Moved says that what is in flight was sent on another path.
func (s *Sender) Moved() { s.scheduler.Moved() }

// HeardAt, Have and Top are what is known of the peer.
func (s *Sender) HeardAt() int64 { return s.heardAt }
func (s *Sender) Have() int64    { return s.have }
func (s *Sender) Top() int64     { return s.top }

// Transmissions are how many slices went out: of named ones each counts once.
func (s *Sender) Transmissions() int64 {
	if s.kind == Repair {
		return s.made
	}
	return count(s.sent)
}

// SentOnce and Acked are sets of named slices.
func (s *Sender) SentOnce() []bool { return s.sent }
func (s *Sender) Acked() []bool    { return s.acked }

// in returns the row of the present state.
func (s *Sender) in(idle, sending, failed int) string {
	return s.row(map[string]int{StateIdle: idle, StateSending: sending, StateFailed: failed}[s.state])
}

// row is a row of table S, and so of table T.
func (s *Sender) row(n int) string { return row([]string{"S", "T"}[s.kind], n) }

// Submit is the event submit.
func (s *Sender) Submit(now int64, chunk []byte) (row, refused string) {
	s.begin(now)
	switch {
	case s.state == StateFailed:
		return s.row(4), GaveUp
	case s.state == StateSending:
		return s.row(3), Busy
	case len(chunk) < 1 || len(chunk) > MaxChunk: // LIM-1
		return s.row(2), ChunkSize
	}
	s.state, s.chunk, s.numSlices = StateSending, chunk, repairoracle.NumSlices(len(chunk)) // SND-10
	s.sent, s.acked = make([]bool, s.numSlices), make([]bool, s.numSlices)
	s.made, s.have, s.top = 0, 0, 0
	s.heardAt, s.startedAt = s.now, s.now
	s.scheduler.Begin(s.now, chunk)
	return s.row(1), ""
}

// Ack is the event ack.
func (s *Sender) Ack(now int64, a Ack) (row string) {
	s.begin(now)
	s.Counted.Acks++
	said, genuine := s.read(a)
	switch s.ours = genuine; {
	case s.state == StateIdle:
		s.ours = s.Counted.Chunks > 0 && a.ChunkID == s.before()
		row = s.row(5)
	case s.state == StateFailed:
		row = s.row(11)
	case !genuine:
		row = s.row(6)
	case said.Have == s.numSlices:
		s.note(said)
		s.complete()
		return s.row(10)
	case said.Have > s.have || said.Top > s.top:
		s.note(said)
		return s.row(9)
	case s.have == 0 && s.top == 0 && count(a.Acked) == 0 && a.Have == 0 && said.Top == 0 && s.Transmissions() > 0:
		s.heardAt = s.now
		s.scheduler.Held(s.now)
		return s.row(8)
	default:
		row = s.row(7)
	}
	s.Counted.AcksIgnored++
	return row
}

// read is what an ack says, unless it is foreign (SND-5): of named slices nothing of those that
// were never sent.
func (s *Sender) read(a Ack) (p Progress, genuine bool) {
	if a.ChunkID != s.chunkID || a.NumSlices != s.numSlices {
		return p, false
	}
	if s.kind == Repair {
		top, some := repairoracle.Field(s.numSlices, s.made, a.Top)
		return Progress{Have: a.Have, Top: top}, some && a.Have <= min(s.numSlices, top)
	}
	p.Have = s.have
	for k, acked := range a.Acked {
		if acked && s.sent[k] && !s.acked[k] {
			p.News, p.Have = append(p.News, int64(k)), p.Have+1
		}
	}
	return p, true
}

// note is NOTE with HEAR (SND-11, SND-12).
func (s *Sender) note(p Progress) {
	s.heardAt = s.now
	s.Counted.Acked += max(p.Have-s.have, 0)
	s.have, s.top = max(s.have, p.Have), max(s.top, p.Top)
	for _, k := range p.News {
		s.acked[k] = true
	}
	s.scheduler.Acked(s.now, Progress{p.News, s.have, s.top})
}

// complete is COMPLETE (SND-13).
func (s *Sender) complete() {
	s.Counted.Chunks++
	s.Counted.ChunkBytes += int64(len(s.chunk))
	s.Counted.LastChunkTime = s.now - s.startedAt
	s.state, s.numSlices = StateIdle, 0
	s.advance()
	s.forget()
}

// forget leaves nothing of the chunk in flight; of named slices what is known of them.
func (s *Sender) forget() {
	s.chunk = nil
	if s.kind == Repair {
		s.made, s.have, s.top = 0, 0, 0
	}
}

// Poll is one event poll: the slice that is sent, if one is due (SND-9).
func (s *Sender) Poll(now int64) (row string, slice *Slice) {
	s.begin(now)
	switch {
	case s.state != StateSending:
		return s.in(12, 0, 16), nil
	case s.now-s.heardAt >= s.giveUp:
		s.state = StateFailed
		s.forget()
		return s.row(15), nil
	}
	id, some := s.scheduler.Next(s.now)
	if !some {
		return s.row(14), nil
	}
	return s.row(13), s.send(id)
}

// send is SEND (SND-14). With repair slices each id follows from the one before.
func (s *Sender) send(id int64) *Slice {
	p := &Slice{ChunkID: s.chunkID, SliceID: id, NumSlices: s.numSlices}
	last := repairoracle.LastBytes(len(s.chunk))
	header := int64(13) // of a datagram (section 5); the last one has a byte more
	if s.kind == Repair {
		p.SliceID, p.LastBytes, header = repairoracle.ID(s.numSlices, s.made), last, 14
		s.made++
	} else if id == s.numSlices-1 {
		header = 14
	}
	p.Data = repairoracle.Slice(s.chunk, p.SliceID)
	s.Counted.Slices++
	s.Counted.Bytes += header + repairoracle.DataSize(s.numSlices, last, p.SliceID)
	switch {
	case p.SliceID >= s.numSlices:
		s.Counted.Repair++
	case s.kind == Named && s.sent[id]:
		s.Counted.Resent++
	}
	if s.kind == Named {
		s.sent[id] = true
	}
	return p
}

// Deadline returns when the sender must be polled, or never (SND-16).
func (s *Sender) Deadline() (at int64, ok bool) {
	if s.state != StateSending {
		return 0, false
	}
	return min(s.scheduler.Deadline(), s.heardAt+s.giveUp), true
}
