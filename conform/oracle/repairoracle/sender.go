package repairoracle

// Scheduler says when the next id of the chunk in flight goes out.
type Scheduler interface {
	Begin(now int64, chunk []byte)
	Acked(now, have, top int64) // numbers
	Held(now int64)
	Next(now int64) bool // true: an id goes out
	Deadline() int64
}

// The codes of a submit that is refused.
const (
	ChunkSize = "chunk_size"
	Busy      = "busy"
	GaveUp    = "gave_up"
)

// Sender is table T.
type Sender struct {
	scheduler   Scheduler
	giveUp, now int64
	state       string

	chunkID         int64
	chunk           []byte
	numSlices       int64
	sent, have, top int64
	heardAt         int64
}

// NewSender returns a sender.
func NewSender(firstID, giveUp int64, s Scheduler) *Sender {
	return &Sender{scheduler: s, giveUp: giveUp, state: StateIdle, chunkID: firstID}
}

// State and ChunkID are what a trace shows, and so are Sent, Have and Top of a chunk in flight.
func (s *Sender) State() string  { return s.state }
func (s *Sender) ChunkID() int64 { return s.chunkID }
func (s *Sender) Sent() int64    { return s.ofFlight(s.sent) }
func (s *Sender) Have() int64    { return s.ofFlight(s.have) }
func (s *Sender) Top() int64     { return s.ofFlight(s.top) }

func (s *Sender) ofFlight(n int64) int64 {
	if s.state != StateSending {
		return 0
	}
	return n
}

func (s *Sender) begin(now int64) { s.now = max(s.now, now) }

// in returns the row of the present state.
func (s *Sender) in(idle, sending, failed string) string {
	return map[string]string{StateIdle: idle, StateSending: sending, StateFailed: failed}[s.state]
}

// Submit is the event submit.
func (s *Sender) Submit(now int64, chunk []byte) (row, refused string) {
	s.begin(now)
	switch {
	case s.state != StateIdle:
		return s.in("", "T3", "T4"), s.in("", Busy, GaveUp)
	case len(chunk) < 1 || len(chunk) > MaxChunk:
		return "T2", ChunkSize
	}
	s.state, s.chunk, s.numSlices = StateSending, chunk, NumSlices(len(chunk))
	s.sent, s.have, s.top, s.heardAt = 0, 0, 0, s.now
	s.scheduler.Begin(s.now, chunk)
	return "T1", ""
}

// Ack is the event ack.
func (s *Sender) Ack(now int64, a Packet) (row string) {
	s.begin(now)
	if s.state != StateSending {
		return s.in("T5", "", "T11")
	}
	top, some := Field(s.numSlices, s.sent, a.Top)
	switch {
	case a.ChunkID != s.chunkID || a.NumSlices != s.numSlices || !some || a.Have > min(s.numSlices, top):
		return "T6"
	case a.Have == s.numSlices:
		s.note(a.Have, top)
		s.state, s.chunk, s.numSlices = StateIdle, nil, 0
		s.chunkID = (s.chunkID + 1) % 65536
		return "T10"
	case a.Have > s.have || top > s.top:
		s.note(a.Have, top)
		return "T9"
	case a.Have == 0 && top == 0 && s.have == 0 && s.top == 0:
		s.heardAt = s.now
		s.scheduler.Held(s.now)
		return "T8"
	}
	return "T7"
}

// note is NOTE.
func (s *Sender) note(have, top int64) {
	s.heardAt = s.now
	s.have, s.top = max(s.have, have), max(s.top, top)
	s.scheduler.Acked(s.now, s.have, s.top)
}

// Poll is one event poll: the slice that goes out, if there is one.
func (s *Sender) Poll(now int64) (row string, slice *Packet) {
	s.begin(now)
	switch {
	case s.state != StateSending:
		return s.in("T12", "", "T16"), nil
	case s.now-s.heardAt >= s.giveUp:
		s.state, s.chunk = StateFailed, nil
		return "T15", nil
	case !s.scheduler.Next(s.now):
		return "T14", nil
	}
	id := ID(s.numSlices, s.sent)
	s.sent++
	return "T13", &Packet{
		Type: TypeSlice, ChunkID: s.chunkID, NumSlices: s.numSlices, SliceID: id,
		LastBytes: LastBytes(len(s.chunk)), Data: Slice(s.chunk, id),
	}
}

// Deadline returns when the sender must be polled, or never.
func (s *Sender) Deadline() (at int64, ok bool) {
	if s.state != StateSending {
		return 0, false
	}
	return min(s.scheduler.Deadline(), s.heardAt+s.giveUp), true
}

// Script is the scripted scheduler of a trace: as many ids go out as it says.
type Script struct{ Due int64 }

// Begin, Acked and Held change nothing.
func (*Script) Begin(int64, []byte)       {}
func (*Script) Acked(int64, int64, int64) {}
func (*Script) Held(int64)                {}

// Next takes one of those that are due.
func (s *Script) Next(int64) bool {
	if s.Due == 0 {
		return false
	}
	s.Due--
	return true
}

// Deadline is never.
func (*Script) Deadline() int64 { return never }
