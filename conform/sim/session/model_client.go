package session

import (
	"io"

	protocol "github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// Figures of the specification (CXP-5).
const (
	linkInterval = 250 * core.Millisecond
	linkFast     = 2 * core.Second
	linkSlow     = core.Second
	proofSpacing = 10 * core.Millisecond
	kept         = 32
	cookieUse    = 4 * core.Second
	cookieLife   = 5 * core.Second
	refuseWait   = core.Second
	halfOpen     = 5 * core.Second
	remember     = 10 * core.Second
)

// ClientModel is the client: it does what section 5 says. It leaves bytes and cryptography to
// package session.
type ClientModel struct {
	cfg protocol.ClientConfig
	now core.Micros

	state                    string
	offer                    protocol.Offer
	firstAt, beganAt, linkAt core.Micros
	challenges               []modelChallenge
	proved                   bool // there is a proofAt
	proofAt                  core.Micros
	hint                     protocol.Reason // 0: none
	hintAt                   core.Micros
	agreed                   protocol.Agreed
	serverNonce              protocol.Nonce
	keys                     protocol.Keys
	heardAt                  core.Micros
	spoke, confirmed, proven bool
	reason                   protocol.Reason // why it ended; 0: a time-out, or it was closed
	timedOut                 bool
}

type modelChallenge struct {
	stamp   uint64
	cookie  [16]byte
	takenAt core.Micros
	proved  bool
}

// NewClientModel returns the model of a new client. Of the configuration no field may be missing
// that has a default.
func NewClientModel(now core.Micros, cfg protocol.ClientConfig) *ClientModel {
	m := &ClientModel{cfg: cfg, now: max(now, 0), state: "LINKING", offer: protocol.Offer{
		Protocol: cfg.Protocol, Mode: cfg.Mode, Lanes: cfg.Lanes, Variants: cfg.Variants, Extensions: cfg.Extensions,
		Timeout: cfg.Timeout, Format: cfg.Format, Identity: cfg.Identity,
	}}
	m.firstAt = m.now
	m.renew(0)
	return m
}

// renew is RENEW (CXC-9).
func (m *ClientModel) renew(resume uint32) {
	if _, err := io.ReadFull(m.cfg.Random, m.offer.Nonce[:]); err != nil {
		panic(err)
	}
	m.offer.Resume = resume
	m.challenges, m.hint = nil, 0
	m.beganAt, m.linkAt = m.now, m.now
}

func (m *ClientModel) linking() bool { return m.state == "LINKING" || m.state == "RELINKING" }

// pick returns the row of this state: one for each of LINKING, OPEN, RELINKING and CLOSED.
func (m *ClientModel) pick(linking, open, relinking, closed core.Row) core.Row {
	return map[string]core.Row{"LINKING": linking, "OPEN": open, "RELINKING": relinking, "CLOSED": closed}[m.state]
}

// interval is INTERVAL.
func (m *ClientModel) interval(at core.Micros) core.Micros {
	if at-m.beganAt < linkFast {
		return linkInterval
	}
	return linkSlow
}

// toProve is the challenge to prove at a time (CXC-6).
func (m *ClientModel) toProve(at core.Micros) *modelChallenge {
	for i := range m.challenges {
		k := &m.challenges[i]
		if !k.proved && at-k.takenAt < cookieUse {
			if !m.proved || at-m.proofAt >= proofSpacing {
				return k
			}
			break
		}
	}
	if len(m.challenges) == 0 {
		return nil
	}
	if k := &m.challenges[len(m.challenges)-1]; k.proved && at-k.takenAt < cookieUse && at-m.proofAt >= m.interval(at) {
		return k
	}
	return nil
}

// timeout is when the client times out (CXC-3).
func (m *ClientModel) timeout() core.Micros {
	if m.state == "LINKING" {
		return m.firstAt + m.cfg.Timeout
	}
	return m.heardAt + m.agreed.Timeout
}

func (m *ClientModel) silence() core.Micros { return m.heardAt + m.agreed.Timeout*3/10 }

// Poll is the event of rows I1 to I5, I15 to I17, I24 to I27 and I38.
func (m *ClientModel) Poll(now core.Micros) (row core.Row, datagram *protocol.Message) {
	m.now = max(m.now, now)
	switch {
	case m.state == "CLOSED":
		return "I38", nil
	case m.now >= m.timeout():
		row = m.pick("I1", "I15", "I24", "")
		m.state, m.timedOut, m.reason = "CLOSED", true, m.hint
		return row, nil
	case m.state == "OPEN" && m.spoke && m.now >= m.silence():
		m.state = "RELINKING"
		m.renew(m.agreed.Link)
		return "I16", nil
	case m.state == "OPEN":
		return "I17", nil
	case m.state == "LINKING" && m.hint != 0 && m.now-m.hintAt >= refuseWait:
		m.state, m.reason = "CLOSED", m.hint
		return "I2", nil
	}
	if k := m.toProve(m.now); k != nil {
		k.proved, m.proved, m.proofAt = true, true, m.now
		return m.pick("I3", "", "I25", ""), m.proof(k)
	}
	if m.now >= m.linkAt {
		m.linkAt = m.now + m.interval(m.now)
		return m.pick("I4", "", "I26", ""), &protocol.Message{Kind: protocol.KindLink, Offer: m.offer}
	}
	return m.pick("I5", "", "I27", ""), nil
}

// proof is the PROOF of a challenge.
func (m *ClientModel) proof(k *modelChallenge) *protocol.Message {
	p := &protocol.Message{Kind: protocol.KindProof, Offer: m.offer, Stamp: k.stamp, Cookie: k.cookie}
	p.Proof = protocol.ProofOf(m.proofKey(), p, p)
	return p
}

func (m *ClientModel) proofKey() protocol.Key {
	if m.offer.Resume != 0 {
		return m.keys.Resume
	}
	return m.cfg.Key
}

// answers reports whether an answer's proof by a key is right for a challenge that counts.
func (m *ClientModel) answers(r *protocol.Message, key protocol.Key) bool {
	for i := range m.challenges {
		if k := &m.challenges[i]; k.proved && m.now-k.takenAt < cookieLife && protocol.ProofOf(key, r, m.proof(k)) == r.Proof {
			return true
		}
	}
	return false
}

// Receive is the event of a message: challenge, linked or refused. An empty row: it is none of
// these, and no event.
func (m *ClientModel) Receive(now core.Micros, r *protocol.Message) (row core.Row) {
	m.now = max(m.now, now)
	switch r.Kind {
	case protocol.KindChallenge:
		return m.challenge(r)
	case protocol.KindLinked:
		return m.linked(r)
	case protocol.KindRefused:
		return m.refused(r)
	}
	return ""
}

func (m *ClientModel) challenge(r *protocol.Message) core.Row {
	isNew := r.Nonce == m.offer.Nonce
	for _, k := range m.challenges {
		isNew = isNew && (k.stamp != r.Stamp || k.cookie != r.Cookie)
	}
	if !m.linking() || !isNew {
		return m.pick("I7", "I18", "I29", "I39")
	}
	if len(m.challenges) == 0 {
		m.hint = 0
	}
	m.challenges = append(m.challenges, modelChallenge{stamp: r.Stamp, cookie: r.Cookie, takenAt: m.now})
	if len(m.challenges) > kept {
		drop := 0
		for i := kept - 1; i >= 0; i-- {
			if !m.challenges[i].proved {
				drop = i
			}
		}
		m.challenges = append(append([]modelChallenge(nil), m.challenges[:drop]...), m.challenges[drop+1:]...)
	}
	return m.pick("I6", "", "I28", "")
}

func (m *ClientModel) linked(r *protocol.Message) core.Row {
	if !m.linking() || r.Nonce != m.offer.Nonce || !m.answers(r, m.proofKey()) || !m.agrees(r) {
		return m.pick("I9", "I19", "I31", "I40")
	}
	row := m.pick("I8", "", "I30", "")
	if m.state == "LINKING" {
		m.agreed, m.serverNonce = r.Agreed, r.ServerNonce
		m.keys = protocol.DeriveKeys(m.cfg.Key, &m.offer, &m.agreed, m.serverNonce)
	}
	m.state, m.heardAt, m.spoke, m.challenges, m.hint = "OPEN", m.now, false, nil, 0
	return row
}

// agrees is CXC-17.
func (m *ClientModel) agrees(r *protocol.Message) bool {
	a := r.Agreed
	if m.state == "RELINKING" {
		return a == m.agreed && r.ServerNonce == m.serverNonce
	}
	return a.Lanes <= m.offer.Lanes && a.Variant&^m.offer.Variants == 0 && a.Extensions&^m.offer.Extensions == 0 && a.Timeout <= m.offer.Timeout
}

func (m *ClientModel) refused(r *protocol.Message) core.Row {
	provedOne := false
	for _, k := range m.challenges {
		provedOne = provedOne || k.proved
	}
	unproven := r.Proof == [16]byte{}
	switch {
	case !m.linking() || r.Nonce != m.offer.Nonce:
	case m.answers(r, m.cfg.Key):
		row := m.pick("I10", "", "I32", "")
		m.state, m.reason, m.proven = "CLOSED", r.Reason, true
		return row
	case unproven && (r.Reason == protocol.OtherVersion && len(m.challenges) == 0 || r.Reason == protocol.UnknownIdentity && provedOne):
		if m.hint == 0 {
			m.hint, m.hintAt = r.Reason, m.now
		}
		return m.pick("I11", "", "I33", "")
	}
	return m.pick("I12", "I20", "I34", "I41")
}

// Heard is the event data; in LINKING there is none.
func (m *ClientModel) Heard(now core.Micros) core.Row {
	if m.agreed.Link == 0 {
		return ""
	}
	m.now = max(m.now, now)
	if m.state != "CLOSED" {
		m.heardAt, m.spoke, m.confirmed = m.now, false, true
	}
	return m.pick("", "I21", "I35", "I42")
}

// Spoke says that a datagram of the connection was sent.
func (m *ClientModel) Spoke(now core.Micros) {
	m.now = max(m.now, now)
	m.spoke = m.agreed.Link != 0
}

// Move is the event move.
func (m *ClientModel) Move(now core.Micros) core.Row {
	m.now = max(m.now, now)
	row := m.pick("I13", "I22", "I36", "I43")
	if m.state == "OPEN" {
		m.state = "RELINKING"
	}
	if m.state != "CLOSED" {
		m.renew(m.agreed.Link)
	}
	return row
}

// Close is the event close.
func (m *ClientModel) Close(now core.Micros) core.Row {
	m.now = max(m.now, now)
	row := m.pick("I14", "I23", "I37", "I44")
	m.state = "CLOSED"
	return row
}

// Deadline is the first time at which a poll takes a row that does something: by trial of the
// times at which that can be (CXC-13).
func (m *ClientModel) Deadline() core.Micros {
	switch m.state {
	case "CLOSED":
		return core.Never
	case "OPEN":
		if m.spoke {
			return min(m.timeout(), m.silence())
		}
		return m.timeout()
	}
	at := min(m.timeout(), m.linkAt)
	if m.state == "LINKING" && m.hint != 0 {
		at = min(at, m.hintAt+refuseWait)
	}
	for _, wait := range []core.Micros{0, proofSpacing, linkInterval, linkSlow} {
		if t := max(m.now, m.proofAt+wait); t < at && m.toProve(t) != nil {
			at = t
		}
	}
	if m.toProve(m.now) != nil {
		at = min(at, m.now)
	}
	return at
}
