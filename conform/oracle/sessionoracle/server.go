package sessionoracle

import (
	"bytes"
	"slices"
)

// The constants of a server, in microseconds.
const (
	CookieLife = 5_000_000
	HalfOpen   = 5_000_000
	Remember   = 10_000_000
)

// The states of an entry, beside StateFree for none.
const (
	StateFree        = "FREE"
	StateUnconfirmed = "UNCONFIRMED"
	StateConfirmed   = "CONFIRMED"
	StateEnded       = "ENDED"
)

// Why a PROOF is met by silence before the table.
const (
	CountCookie = "cookie"
	CountStale  = "stale_cookie"
	CountShare  = "share"
)

// ServerConfig sets up a server.
type ServerConfig struct {
	Offer          Message // what it agrees to: protocol, mode, lanes, variants, extensions, timeout, format
	Keys           map[string][]byte
	Anonymous      bool
	MaxConnections int64
	MaxPerAddress  int64
	Private        []byte // of the server's own key; nil if it has none
	Random         *Random
}

// Entry is an entry: table J.
type Entry struct {
	State    string
	Link     int64
	Address  []byte
	Keys     Keys
	identity string
	prefix   string  // at which it was made
	first    []byte  // the hello of its first PROOF
	madeAt   []byte  // the address at which it was made
	hello    []byte  // of the last PROOF that was taken
	linked   Message // without nonce and proof
	answer   []byte  // the key of LINKED
	newest   int64
	reason   int64
	takenAt  int64
	endedAt  int64
}

// Server is a server.
type Server struct {
	cfg     ServerConfig
	now     int64
	secret  []byte
	stamp   int64 // the last one
	entries []*Entry
}

// Step is what a server did at an event.
type Step struct {
	Rows    []string
	Answer  []byte
	Counted string
	Entry   *Entry
	Made    bool
}

// NewServer returns a server without entries.
func NewServer(cfg ServerConfig) *Server {
	return &Server{cfg: cfg, secret: cfg.Random.draw(32), stamp: -1}
}

// anonymous is identity 0.
var anonymous = string(make([]byte, 8))

// prefixOf is what the entries of one address have in common: an IPv4 address, or the first 64
// bits of another one.
func prefixOf(address []byte) string {
	if bytes.Equal(address[:12], []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255}) {
		return string(address[:16])
	}
	return string(address[:8])
}

func (s *Server) begin(now int64) { s.now = max(s.now, now) }

// Entries are all that the server has, and Identity and Reason what one of them does not show.
func (s *Server) Entries() []*Entry { return s.entries }
func (e *Entry) Identity() []byte   { return []byte(e.identity) }
func (e *Entry) Reason() int64      { return e.reason }

// Find returns the entry of a link, or nil.
func (s *Server) Find(link int64) *Entry {
	for _, e := range s.entries {
		if e.Link == link {
			return e
		}
	}
	return nil
}

// Living is how many entries are UNCONFIRMED or CONFIRMED, and EndedEntries how many are ENDED.
func (s *Server) Living() int64 { return int64(len(s.entries)) - s.EndedEntries() }
func (s *Server) EndedEntries() int64 {
	return s.count(func(e *Entry) bool { return e.State == StateEnded })
}

func (s *Server) count(is func(*Entry) bool) (n int64) {
	for _, e := range s.entries {
		if is(e) {
			n++
		}
	}
	return n
}

// hasRoom is room for an entry of a prefix.
func (s *Server) hasRoom(prefix string) bool {
	living := s.count(func(e *Entry) bool { return e.State != StateEnded && e.prefix == prefix })
	ended := s.count(func(e *Entry) bool { return e.State == StateEnded && e.prefix == prefix })
	return s.Living() < s.cfg.MaxConnections && living < s.cfg.MaxPerAddress &&
		s.EndedEntries() < 4*s.cfg.MaxConnections && ended < 4*s.cfg.MaxPerAddress
}

// proof is a PROOF that arrived.
type proof struct {
	Message
	address []byte
	private []byte // of the share of a connection that is made
	derived Derived
	entry   *Entry // nil: FREE
}

// Receive takes a datagram of the handshake.
func (s *Server) Receive(now int64, from string, datagram []byte) (step Step, err error) {
	s.begin(now)
	m, err := Decode(datagram)
	if e, isError := err.(*Error); isError {
		if e.Code == badVersion && datagram[0] == 0x48 && len(datagram) >= 64 {
			step.Answer = encode(Message{Type: TypeRefused, Nonce: datagram[2:18], Version: Version, Reason: ReasonVersion, Proof: make([]byte, 16)})
		}
		return step, err
	}
	address := Address(from)
	switch {
	case m.Type == TypeLink && chosen(m.Versions, listedVersions(m.Nonce)) != Version:
		step.Answer = encode(Message{Type: TypeRefused, Nonce: m.Nonce, Version: Version, Reason: ReasonVersion, Proof: zeros(16)})
	case m.Type == TypeLink:
		s.stamp = max(s.now, s.stamp+1)
		step.Answer = encode(ChallengeOf(m.Nonce, s.stamp, Cookie(s.secret, s.stamp, address, DigestOf(m))))
	case m.Type == TypeProof:
		s.proof(&step, &proof{Message: m, address: address})
	}
	return step, nil
}

func encode(m Message) []byte {
	b, err := Encode(m)
	if err != nil {
		panic(err)
	}
	return b
}

// proof is the checks of a PROOF before the table, and the table.
func (s *Server) proof(step *Step, p *proof) {
	switch {
	case s.now-p.Stamp >= CookieLife:
		step.Counted = CountStale
		return
	case !bytes.Equal(p.Cookie, Cookie(s.secret, p.Stamp, p.address, p.Digest)):
		step.Counted = CountCookie
		return
	}
	key, known := s.cfg.Keys[string(p.Identity)]
	if string(p.Identity) == anonymous {
		known = s.cfg.Anonymous
	}
	if !known {
		key = zeros(32) // the answer is the same, whatever the key
	}
	var own []byte
	if s.cfg.Private != nil {
		own = ShareOf(p.Mode, s.cfg.Private)
	}
	p.derived = Greet(p.Message, key, own)
	p.derived.Prove(ChallengeOf(p.Nonce, p.Stamp, p.Cookie), nil, p.Move)
	if !known || !bytes.Equal(p.Proof, p.derived.Proof) {
		step.Answer = s.refuse(p, ReasonIdentity, false)
		return
	}
	p.entry = s.entryOf(p)
	if p.entry != nil && p.Resume == p.entry.Link && !bytes.Equal(p.Move, expand(p.entry.Keys.Resume, "move", p.derived.Seen)[:16]) {
		step.Answer = s.refuse(p, ReasonIdentity, false)
		return
	}
	if reason := s.differs(p); reason != 0 {
		step.Answer = s.refuse(p, reason, true)
		return
	}
	s.table(step, p)
}

// entryOf is the entry that a PROOF is for, or nil.
func (s *Server) entryOf(p *proof) *Entry {
	for _, e := range s.entries {
		switch {
		case e.identity != string(p.Identity):
		case e.identity != anonymous:
			return e
		case p.Resume != 0 && e.Link == p.Resume:
			return e
		case p.Resume == 0 && bytes.Equal(e.first, p.derived.Hello) && bytes.Equal(e.madeAt, p.address):
			return e
		}
	}
	return nil
}

// differs is why two ends cannot agree, or 0.
func (s *Server) differs(p *proof) int64 {
	o := s.cfg.Offer
	switch {
	case p.Protocol != o.Protocol:
		return ReasonProtocol
	case p.Mode != o.Mode:
		return ReasonMode
	case !bytes.Equal(p.Format, o.Format):
		return ReasonFormat
	case p.Variants&o.Variants == 0 && min(p.Lanes, o.Lanes) > 0:
		return ReasonVariant
	}
	return 0
}

// refuse is REFUSE.
func (s *Server) refuse(p *proof, reason int64, proven bool) []byte {
	m := Message{Type: TypeRefused, Nonce: p.Nonce, Version: Version, Reason: reason, Proof: make([]byte, 16)}
	if proven {
		m.Proof = p.derived.Answer(p.derived.RefusedKey, m)
	}
	return encode(m)
}

// table is what an entry does with a PROOF.
func (s *Server) table(step *Step, p *proof) {
	e := p.entry
	prefix := prefixOf(p.address)
	refuse := func(reason int64) { step.Answer = s.refuse(p, reason, true) }
	row := func(row string) {
		step.Rows = append(step.Rows, row)
	}
	if e == nil {
		switch {
		case p.Resume != 0:
			row("J1")
			refuse(ReasonClosed)
		case !s.hasRoom(prefix):
			row("J2")
			refuse(ReasonFull)
		case s.meets(step, p):
			e = &Entry{identity: string(p.Identity)}
			s.entries = append(s.entries, e)
			row("J3")
			s.make(step, e, p, prefix)
		}
		return
	}
	isItsHello := bytes.Equal(p.derived.Hello, e.hello)
	isDead := e.identity == anonymous && p.Resume == 0 && !isItsHello // its first hello; it went on with another
	if e.State == StateEnded {
		renew := func() {
			if p.Resume == 0 || p.Resume == e.Link { // it is of this connection
				e.endedAt = s.now
			}
		}
		switch {
		case isItsHello:
			row("J21")
			refuse(e.reason)
			renew()
		case p.Stamp <= e.newest || isDead:
			row("J22")
		case p.Resume != 0:
			row("J23")
			refuse(e.reason)
			renew()
		case !s.hasRoom(prefix):
			row("J24")
			refuse(ReasonFull)
		case s.meets(step, p):
			row("J25")
			s.make(step, e, p, prefix)
		}
		return
	}
	rows := []string{"J4", "J5", "J6", "J7", "J8"}
	if e.State == StateConfirmed {
		rows = []string{"J13", "J14", "J15", "J16", "J17"}
	}
	switch {
	case p.Resume != 0 && p.Resume != e.Link: // it is of another connection
		row(rows[4])
		refuse(ReasonReplaced)
	case p.Stamp < e.newest || p.Stamp == e.newest && !isItsHello || isDead:
		row(rows[0])
	case isItsHello:
		row(rows[1])
		s.take(step, e, p)
	case p.Resume != 0:
		row(rows[2])
		s.take(step, e, p)
	case s.meets(step, p):
		row(rows[3])
		s.make(step, e, p, prefix)
	}
}

// meets makes the share of a connection, and reports whether both shares give anything.
func (s *Server) meets(step *Step, p *proof) bool {
	p.private = s.cfg.Random.draw(32)
	known := s.cfg.Private == nil || p.derived.Know(s.cfg.Private, p.Share)
	if known && p.derived.Meet(p.Mode, p.private, p.Share) {
		return true
	}
	step.Counted = CountShare
	return false
}

// make is MAKE and ANSWER.
func (s *Server) make(step *Step, e *Entry, p *proof, prefix string) {
	link := int64(0)
	for link == 0 || s.Find(link) != nil {
		b := s.cfg.Random.draw(4)
		link = int64(b[0]) | int64(b[1])<<8 | int64(b[2])<<16 | int64(b[3])<<24
	}
	o := s.cfg.Offer
	m := Message{
		Type: TypeLinked, Nonce: p.Nonce, Link: link, Share: ShareOf(p.Mode, p.private), Lanes: min(o.Lanes, p.Lanes),
		Extensions: o.Extensions & p.Extensions &^ noExtension, Timeout: min(o.Timeout, p.Timeout),
	}
	for bit := int64(128); bit > 0 && m.Lanes > 0 && m.Variant == 0; bit /= 2 {
		m.Variant = bit & o.Variants & p.Variants
	}
	p.derived.Connect(m)
	e.State, e.Link, e.linked, e.Keys, e.answer = StateUnconfirmed, link, m, p.derived.Keys, p.derived.AnswerKey
	e.first, e.madeAt = p.derived.Hello, p.address
	step.Made = true
	e.prefix = prefix
	s.take(step, e, p)
}

// take is PLACE and ANSWER.
func (s *Server) take(step *Step, e *Entry, p *proof) {
	e.hello, e.newest, e.takenAt = p.derived.Hello, p.Stamp, s.now
	e.Address = p.address
	m := e.linked
	m.Nonce = p.Nonce
	key := e.answer
	if p.Resume != 0 {
		key = e.Keys.Resume
	}
	m.Proof = p.derived.Answer(key, m)
	step.Answer, step.Entry = encode(m), e
}

func (s *Server) forget(e *Entry) {
	s.entries = slices.DeleteFunc(s.entries, func(other *Entry) bool { return other == e })
}

// Data says that a valid datagram of an entry came from its address.
func (s *Server) Data(now int64, e *Entry) Step {
	s.begin(now)
	row := map[string]string{StateUnconfirmed: "J9", StateConfirmed: "J18", StateEnded: "J26"}[e.State]
	if e.State == StateUnconfirmed {
		e.State = StateConfirmed
	}
	return Step{Rows: []string{row}, Entry: e}
}

// End is the event end.
func (s *Server) End(now int64, e *Entry, reason int64) Step {
	s.begin(now)
	row := map[string]string{StateUnconfirmed: "J12", StateConfirmed: "J20", StateEnded: "J29"}[e.State]
	if e.State != StateEnded {
		e.State, e.reason, e.endedAt, e.newest = StateEnded, reason, s.now, s.stamp
	}
	return Step{Rows: []string{row}, Entry: e}
}

// until is when the server forgets an entry, or never.
func (e *Entry) until() int64 {
	switch e.State {
	case StateUnconfirmed:
		return e.takenAt + HalfOpen
	case StateEnded:
		return e.endedAt + Remember
	}
	return never
}

// Poll is the event poll of all entries.
func (s *Server) Poll(now int64) (step Step) {
	s.begin(now)
	for _, e := range slices.Clone(s.entries) {
		if s.now >= e.until() {
			step.Rows = append(step.Rows, map[string]string{StateUnconfirmed: "J10", StateEnded: "J27"}[e.State])
			s.forget(e)
		}
	}
	slices.Sort(step.Rows)
	return step
}

// Deadline returns when the server must be polled, or never.
func (s *Server) Deadline() (at int64, ok bool) {
	at = never
	for _, e := range s.entries {
		at = min(at, e.until())
	}
	return at, at != never
}
