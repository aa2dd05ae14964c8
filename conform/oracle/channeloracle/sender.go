package channeloracle

import "cmp"

// The constants of a sender (section 2).
const (
	Overtaken = 2   // packets
	Fresh     = 128 // sequences that a packet carries for the first time

	ProbeSoon int64 = 20_000 // of an early probe

	HoldMargin     int64 = 10_000 // of HOLD
	HoldUnmeasured int64 = 250_000
	ProbeMargin    int64 = 20_000
)

// SenderConfig sets up a sender.
type SenderConfig struct {
	Format
	SendQueue int64
	First     int64
	GiveUp    int64
	Fresh     int64 // 0: the document's
}

// entry is a sequence that is kept.
type entry struct {
	number       int64
	data         []byte
	begin, count int64 // of its message; count 1: MESSAGE
	packet       int64
	at           int64
	due, gone    bool
	again        bool // it was sent more than once
	diesAt       int64
}

// Sender is the sender of a reliable channel (section 4).
type Sender struct {
	cfg   SenderConfig
	now   int64
	state string

	base, sent, next, limit int64
	resent                  int64 // 1 + the highest sequence that was sent more than once
	heard                   int64
	entries                 []*entry // base to next
	saidAt, heardAt         int64
	backoff                 int64
	path                    Path

	composing int64 // the number of the packet
	fresh     int64 // sequences that it carries for the first time

	Counted int64 // actions COUNT
	Unsent  int   // of a failure: how many were not released
}

// NewSender returns a sender.
func NewSender(cfg SenderConfig) *Sender {
	cfg.Fresh = cmp.Or(cfg.Fresh, Fresh)
	return &Sender{cfg: cfg, state: StateOpen, base: cfg.First, sent: cfg.First, next: cfg.First, resent: cfg.First, limit: cfg.First + cfg.Window, heard: -1, composing: -1}
}

// State returns the state.
func (s *Sender) State() string { return s.state }

// Base is the lowest sequence that is not released, and Limit is where the window ends.
func (s *Sender) Base() int64  { return s.base }
func (s *Sender) Limit() int64 { return s.limit }

// Near returns what those who make events aim at: the lowest sequence that was not sent, the
// newest packet with a report, and the one that is composed.
func (s *Sender) Near() (sent, heard, composing int64) { return s.sent, s.heard, s.composing }

// SetPath takes what the packet layer measured. It is no event.
func (s *Sender) SetPath(p Path) { s.path = p }

// begin begins an event: the time, and EXPIRE (CHX-1, CHX-2).
func (s *Sender) begin(now int64) {
	s.now = max(s.now, now)
	for _, e := range s.entries {
		if e.diesAt <= s.now && !e.gone {
			for _, other := range s.entries {
				if other.begin == e.begin {
					other.gone, other.data = true, nil
				}
			}
		}
	}
}

// Send is the event send. lifetime is 0 for none.
func (s *Sender) Send(now int64, message []byte, lifetime int64) (row, refused string) {
	s.begin(now)
	size := int64(len(message))
	count := (size + s.cfg.Data - 1) / s.cfg.Data
	switch {
	case s.state == StateFailed:
		return "D11", Failed
	case size < 1 || size > min(s.cfg.Group, s.cfg.Window)*s.cfg.Data:
		return "D1", MessageSize
	case int64(len(s.entries))+count > s.cfg.SendQueue:
		return "D2", QueueFull
	}
	if len(s.entries) == 0 {
		s.heardAt, s.saidAt = s.now, s.now
	}
	diesAt := int64(never)
	if lifetime > 0 {
		diesAt = s.now + lifetime
	}
	begin := s.next
	for i := range count {
		part := message[i*s.cfg.Data : min((i+1)*s.cfg.Data, size)]
		s.entries = append(s.entries, &entry{number: s.next, data: append([]byte{}, part...), begin: begin, count: count, due: true, diesAt: diesAt})
		s.next++
	}
	return "D3", ""
}

// Report is the event report: its packet's number, and the number that the header of the
// packet acks.
func (s *Sender) Report(now, number, ack int64, r Record) (row string) {
	s.begin(now)
	if s.state == StateFailed {
		return "D12"
	}
	if number <= s.heard {
		return "D4"
	}
	base := s.base + modulo(r.Sequence-s.base) // CHN-5
	implausible := base > s.sent
	named := map[int64]bool{}
	for _, d := range Named(&r) {
		named[base+d] = true
		implausible = implausible || base+d >= s.sent
	}
	if implausible {
		s.Counted++
		return "D5"
	}
	limit := max(s.limit, base+r.Room)
	if base != s.base || limit != s.limit || len(named) > 0 {
		s.backoff = 0
	}
	var kept []*entry
	for _, e := range s.entries {
		if e.number >= base {
			kept = append(kept, e)
		}
	}
	s.entries, s.base, s.limit = kept, base, limit
	s.heardAt, s.heard = s.now, number
	for _, e := range s.entries {
		if named[e.number] && e.number < s.sent && !e.due && s.mayResend(e, ack) {
			e.due = true
		}
	}
	return "D6"
}

// mayResend is the condition of MARK (CHS-3).
func (s *Sender) mayResend(e *entry, ack int64) bool {
	since, later := s.now-e.at, int64(Overtaken)
	if e.again {
		later = 1
	}
	return since >= max(s.path.Patience, s.path.SRTT/2) && (ack-e.packet >= later || since >= s.hold())
}

func (s *Sender) hold() int64 {
	if !s.path.Measured {
		return HoldUnmeasured
	}
	return s.path.SRTT + max(s.path.SRTT/4, HoldMargin)
}

// due returns the lowest entry below limit that is due, or nil.
func (s *Sender) due() *entry {
	for _, e := range s.entries {
		if e.due && e.number < s.limit {
			return e
		}
	}
	return nil
}

// early reports whether the next probe is an early one (CHS-4).
func (s *Sender) early() bool { return s.backoff == 0 && s.resent > s.base }

// probeAt is when it is probe time, if nothing is due below limit: PROBE_WAIT after the
// latest record.
func (s *Sender) probeAt() int64 {
	if s.early() {
		return s.saidAt + ProbeSoon
	}
	if !s.path.Measured {
		return s.saidAt + LeastCap
	}
	return s.saidAt + min((s.hold()+ProbeMargin)<<(max(s.backoff, 1)-1), max(2*s.path.SRTT, LeastCap))
}

// Poll is one event poll, with the number of the packet and the space left in it.
func (s *Sender) Poll(now, number int64, space int) (row string, record *Record) {
	s.begin(now)
	if s.state == StateFailed {
		return "D13", nil
	}
	if number != s.composing {
		s.composing, s.fresh = number, 0
	}
	if len(s.entries) > 0 && s.now-s.heardAt >= s.cfg.GiveUp {
		s.state, s.Unsent = StateFailed, len(s.entries)
		return "D7", nil
	}
	first := s.due()
	if first != nil {
		if record = s.send(first, space); record != nil {
			return "D8", record
		}
		return "D10", nil
	}
	if len(s.entries) > 0 && s.now >= s.probeAt() && space >= 4 {
		return "D9", s.probe(space - 4)
	}
	return "D10", nil
}

// size is how many bytes a record of an entry takes that is not gone.
func (e *entry) size() int {
	if e.count == 1 {
		return 6 + len(e.data)
	}
	return 8 + len(e.data)
}

// send is SEND. It is nil if the record does not fit.
func (s *Sender) send(first *entry, space int) *Record {
	goes := []*entry{first}
	r := &Record{Sequence: modulo(first.number), Data: first.data}
	size := first.size()
	switch {
	case first.gone:
		goes = s.skipped(first)
		r.Type, r.Count, r.Data, size = Skip, int64(len(goes)), nil, 5
	case first.count == 1:
		r.Type = Message
	default:
		r.Type, r.Index, r.Count = Fragment, first.number-first.begin, first.count
	}
	fresh := int64(0)
	for _, e := range goes {
		if e.number >= s.sent {
			fresh++
		}
	}
	if size > space || len(goes) == 0 || s.fresh+fresh > s.cfg.Fresh {
		return nil
	}
	s.fresh += fresh
	for _, e := range goes {
		if e.number < s.sent {
			e.again = true
			s.resent = max(s.resent, e.number+1)
		}
	}
	for _, e := range goes {
		e.packet, e.at, e.due = s.composing, s.now, false
		s.sent = max(s.sent, e.number+1)
	}
	s.saidAt = s.now
	return r
}

// skipped returns what one SKIP names: an entry and all directly following that are due,
// gone and below limit, as long as there is room under FRESH.
func (s *Sender) skipped(first *entry) (list []*entry) {
	fresh := s.fresh
	for n := first.number; n < s.limit && n < s.next && len(list) < MostSkip; n++ {
		e := s.entries[n-s.base]
		if !e.due || !e.gone {
			break
		}
		if e.number >= s.sent {
			if fresh++; fresh > s.cfg.Fresh {
				break
			}
		}
		list = append(list, e)
	}
	return list
}

// probe is PROBE, with the space that STATUS leaves.
func (s *Sender) probe(space int) *Record {
	run := 0 // of gone entries that one SKIP names
	for _, e := range s.entries {
		if e.number >= s.sent || s.early() {
			break
		}
		size := e.size()
		switch {
		case e.gone && run > 0 && run < MostSkip:
			size, run = 0, run+1
		case e.gone:
			size, run = 5, 1
		default:
			run = 0
		}
		if size > space {
			break
		}
		space -= size
		e.due = true
	}
	s.saidAt = s.now
	s.backoff = min(s.backoff+1, BackoffMost)
	return &Record{Type: Status, Sequence: modulo(s.sent)}
}

// Deadline returns when the sender must be polled, or never.
func (s *Sender) Deadline() (at int64, ok bool) {
	if s.state == StateFailed || len(s.entries) == 0 {
		return 0, false
	}
	if s.due() != nil {
		return s.now, true
	}
	at = min(s.probeAt(), s.heardAt+s.cfg.GiveUp)
	for _, e := range s.entries {
		if !e.gone {
			at = min(at, e.diesAt)
		}
	}
	return at, true
}

// Pending reports whether something below limit was never sent.
func (s *Sender) Pending() bool {
	return s.state == StateOpen && s.sent < min(s.limit, s.next)
}

// Prompt returns the prompt deadline of the sender (CHC-10), or never.
func (s *Sender) Prompt() int64 {
	if s.state == StateFailed || len(s.entries) == 0 {
		return never
	}
	at := s.heardAt + s.cfg.GiveUp
	for _, e := range s.entries {
		if e.due && e.number < s.limit && e.number < s.sent {
			return s.now
		}
		if !e.gone {
			at = min(at, e.diesAt)
		}
	}
	if s.due() == nil {
		at = min(at, s.probeAt())
	}
	return at
}
