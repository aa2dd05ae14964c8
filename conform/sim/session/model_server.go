package session

import (
	"encoding/binary"
	"io"

	protocol "github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// ServerModel is the server: it does what section 6 says, and keeps its entries in a list.
type ServerModel struct {
	cfg     protocol.ServerConfig
	now     core.Micros
	secret  protocol.Key
	stamp   uint64 // of the latest challenge
	stamped bool   // there was one
	entries []*modelEntry
}

type modelEntry struct {
	state       string
	first       protocol.Offer // of the PROOF that made it
	agreed      protocol.Agreed
	serverNonce protocol.Nonce
	keys        protocol.Keys
	address     protocol.Address
	prefix      protocol.Prefix
	nonce       protocol.Nonce
	newest      uint64
	placedAt    core.Micros
	endedAt     core.Micros
	reason      protocol.Reason
}

func (e *modelEntry) living() bool { return e.state == "UNCONFIRMED" || e.state == "CONFIRMED" }

// NewServerModel returns the model of a new server. Of the configuration no field may be missing
// that has a default.
func NewServerModel(cfg protocol.ServerConfig) *ServerModel {
	m := &ServerModel{cfg: cfg}
	m.draw(m.secret[:])
	return m
}

func (m *ServerModel) draw(b []byte) {
	if _, err := io.ReadFull(m.cfg.Random, b); err != nil {
		panic(err)
	}
}

// outcome is what came of a message at a server.
type outcome struct {
	row    core.Row
	answer *protocol.Message // nil: silence
}

// Receive takes a message (CXS-1, CXS-2).
func (m *ServerModel) Receive(now core.Micros, from protocol.Address, r *protocol.Message) outcome {
	m.now = max(m.now, now)
	switch r.Kind {
	case protocol.KindLink:
		if m.stamp++; !m.stamped {
			m.stamp, m.stamped = 0, true
		}
		m.stamp = max(m.stamp, uint64(m.now))
		c := &protocol.Message{Kind: protocol.KindChallenge, Stamp: m.stamp, Cookie: protocol.CookieOf(m.secret, m.stamp, from, &r.Offer)}
		c.Nonce = r.Nonce
		return outcome{answer: c}
	case protocol.KindProof:
		return m.proof(from, r)
	}
	return outcome{}
}

// Version answers a LINK of another version, of which only the nonce counts.
func (m *ServerModel) Version(now core.Micros, nonce protocol.Nonce) *protocol.Message {
	m.now = max(m.now, now)
	return unproven(nonce, protocol.OtherVersion)
}

func unproven(nonce protocol.Nonce, reason protocol.Reason) *protocol.Message {
	r := &protocol.Message{Kind: protocol.KindRefused, Version: 1, Reason: reason}
	r.Nonce = nonce
	return r
}

// refuse is a REFUSED that is proven.
func refuse(key protocol.Key, p *protocol.Message, reason protocol.Reason) *protocol.Message {
	r := unproven(p.Nonce, reason)
	r.Proof = protocol.ProofOf(key, r, p)
	return r
}

// find returns the entry of a PROOF; nil: it is in FREE (CXS-3).
func (m *ServerModel) find(p *protocol.Message) *modelEntry {
	for _, e := range m.entries {
		switch {
		case e.first.Identity != p.Identity:
		case p.Identity != 0, p.Resume != 0 && e.agreed.Link == p.Resume, p.Resume == 0 && e.first.Nonce == p.Nonce:
			return e
		}
	}
	return nil
}

// proof takes a PROOF.
func (m *ServerModel) proof(from protocol.Address, p *protocol.Message) outcome {
	if p.Cookie != protocol.CookieOf(m.secret, p.Stamp, from, &p.Offer) || m.now-core.Micros(p.Stamp) >= cookieLife {
		return outcome{}
	}
	key, known := protocol.Key{}, m.cfg.Anonymous
	if p.Identity != 0 {
		known = false
		if m.cfg.Keys != nil {
			key, known = m.cfg.Keys(p.Identity)
		}
	}
	if !known {
		return outcome{answer: unproven(p.Nonce, protocol.UnknownIdentity)}
	}
	e := m.find(p)
	proofKey, checked := key, p.Resume == 0
	if e != nil && p.Resume != 0 && p.Resume == e.agreed.Link {
		proofKey, checked = e.keys.Resume, true
	}
	if checked && protocol.ProofOf(proofKey, p, p) != p.Proof {
		return outcome{answer: unproven(p.Nonce, protocol.UnknownIdentity)}
	}
	agreed, reason := m.agree(p)
	if reason != 0 {
		return outcome{answer: refuse(key, p, reason)}
	}
	t := &taking{m, e, from, p, key, proofKey, agreed, checked}
	switch {
	case e == nil:
		return t.free()
	case e.state == "ENDED":
		return t.ended()
	}
	return t.living()
}

// agree is CXP-3.
func (m *ServerModel) agree(p *protocol.Message) (a protocol.Agreed, reason protocol.Reason) {
	c := &m.cfg
	a = protocol.Agreed{Lanes: min(p.Lanes, c.Lanes), Extensions: p.Extensions & c.Extensions, Timeout: min(p.Timeout, c.Timeout)}
	for bit := uint8(1); bit != 0 && a.Lanes > 0; bit <<= 1 {
		if p.Variants&c.Variants&bit != 0 {
			a.Variant = bit
		}
	}
	switch {
	case p.Protocol != c.Protocol:
		reason = protocol.OtherProtocol
	case p.Mode != c.Mode:
		reason = protocol.OtherMode
	case p.Format != c.Format:
		reason = protocol.OtherFormat
	case a.Lanes > 0 && a.Variant == 0:
		reason = protocol.NoCommonVariant
	}
	return a, reason
}

// taking is the event proof of an entry.
type taking struct {
	m             *ServerModel
	e             *modelEntry
	from          protocol.Address
	p             *protocol.Message
	key, proofKey protocol.Key
	agreed        protocol.Agreed
	checked       bool
}

func (t *taking) refuse(row core.Row, reason protocol.Reason) outcome {
	return outcome{row, refuse(t.key, t.p, reason)}
}

func (t *taking) free() outcome {
	switch {
	case t.p.Resume != 0:
		return t.refuse("J1", protocol.ConnectionClosed)
	case !t.room():
		return t.refuse("J2", protocol.Full)
	}
	t.e = &modelEntry{}
	t.m.entries = append(t.m.entries, t.e)
	return t.make("J3")
}

// old is the guard (CXS-6).
func (t *taking) old() bool {
	e, p := t.e, t.p
	other := p.Nonce != e.nonce
	if e.state == "ENDED" {
		return p.Stamp <= e.newest || p.Identity == 0 && p.Resume == 0 && other
	}
	return p.Stamp < e.newest || p.Stamp == e.newest && other || p.Identity == 0 && p.Resume == 0 && other
}

func (t *taking) living() outcome {
	e, p := t.e, t.p
	unconfirmed := e.state == "UNCONFIRMED"
	pick := func(a, b core.Row) core.Row {
		if unconfirmed {
			return a
		}
		return b
	}
	switch {
	case !t.checked:
		return t.refuse(pick("J8", "J17"), protocol.Replaced)
	case t.old():
		return outcome{row: pick("J4", "J13")}
	case p.Nonce == e.nonce:
		return t.place(pick("J5", "J14"))
	case p.Resume == e.agreed.Link:
		return t.place(pick("J6", "J15"))
	}
	return t.make(pick("J7", "J16"))
}

func (t *taking) ended() outcome {
	e, p := t.e, t.p
	refuse := func(row core.Row) outcome {
		if t.checked {
			e.endedAt = t.m.now
		}
		return t.refuse(row, e.reason)
	}
	switch {
	case p.Nonce == e.nonce:
		return refuse("J21")
	case t.old():
		return outcome{row: "J22"}
	case p.Resume != 0:
		return refuse("J23")
	case !t.room():
		return t.refuse("J24", protocol.Full)
	}
	return t.make("J25")
}

// room is CXS-7.
func (t *taking) room() bool {
	var living, livingHere, ended, endedHere int
	here := t.from.Prefix()
	for _, e := range t.m.entries {
		same := 0
		if e.prefix == here {
			same = 1
		}
		if e.living() {
			living, livingHere = living+1, livingHere+same
		} else {
			ended, endedHere = ended+1, endedHere+same
		}
	}
	c := &t.m.cfg
	return living < c.MaxConnections && livingHere < c.MaxPerAddress && ended < 4*c.MaxConnections && endedHere < 4*c.MaxPerAddress
}

// make is MAKE and ANSWER.
func (t *taking) make(row core.Row) outcome {
	e := t.e
	*e = modelEntry{first: t.p.Offer, agreed: t.agreed, prefix: t.from.Prefix()}
	for e.agreed.Link == 0 || t.m.taken(e) {
		var b [4]byte
		t.m.draw(b[:])
		e.agreed.Link = binary.LittleEndian.Uint32(b[:])
	}
	t.m.draw(e.serverNonce[:])
	e.keys = protocol.DeriveKeys(t.key, &e.first, &e.agreed, e.serverNonce)
	e.state = "UNCONFIRMED"
	return t.place(row)
}

// taken reports whether another entry has the link of one.
func (m *ServerModel) taken(e *modelEntry) bool {
	for _, o := range m.entries {
		if o != e && o.agreed.Link == e.agreed.Link {
			return true
		}
	}
	return false
}

// place is PLACE and ANSWER.
func (t *taking) place(row core.Row) outcome {
	e, p := t.e, t.p
	e.nonce, e.newest, e.placedAt, e.address = p.Nonce, p.Stamp, t.m.now, t.from
	l := &protocol.Message{Kind: protocol.KindLinked, Agreed: e.agreed, ServerNonce: e.serverNonce}
	l.Nonce = p.Nonce
	l.Proof = protocol.ProofOf(t.proofKey, l, p)
	return outcome{row, l}
}

// byLink returns an entry; nil: there is none.
func (m *ServerModel) byLink(link uint32) *modelEntry {
	for _, e := range m.entries {
		if e.agreed.Link == link {
			return e
		}
	}
	return nil
}

// Heard is the event data.
func (m *ServerModel) Heard(now core.Micros, link uint32) core.Row {
	m.now = max(m.now, now)
	e := m.byLink(link)
	switch e.state {
	case "UNCONFIRMED":
		e.state = "CONFIRMED"
		return "J9"
	case "CONFIRMED":
		return "J18"
	}
	return "J26"
}

// End is the event end.
func (m *ServerModel) End(now core.Micros, link uint32, reason protocol.Reason) core.Row {
	m.now = max(m.now, now)
	e := m.byLink(link)
	row := map[string]core.Row{"UNCONFIRMED": "J12", "CONFIRMED": "J20", "ENDED": "J29"}[e.state]
	if e.living() {
		e.state, e.reason, e.endedAt, e.newest = "ENDED", reason, m.now, m.stamp
	}
	return row
}

// Poll is the event poll of all entries. It returns how many of each kind are forgotten.
func (m *ServerModel) Poll(now core.Micros) (halfOpened, remembered int) {
	m.now = max(m.now, now)
	var left []*modelEntry
	for _, e := range m.entries {
		switch {
		case e.state == "UNCONFIRMED" && m.now-e.placedAt >= halfOpen:
			halfOpened++
		case e.state == "ENDED" && m.now-e.endedAt >= remember:
			remembered++
		default:
			left = append(left, e)
		}
	}
	m.entries = left
	return halfOpened, remembered
}

// Deadline is CXS-17.
func (m *ServerModel) Deadline() core.Micros {
	at := core.Never
	for _, e := range m.entries {
		switch e.state {
		case "UNCONFIRMED":
			at = min(at, e.placedAt+halfOpen)
		case "ENDED":
			at = min(at, e.endedAt+remember)
		}
	}
	return at
}
