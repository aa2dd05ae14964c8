package session

import (
	"math/bits"

	"github.com/chunkwire/chunkwire/core"
)

// arrival is a message that is being taken, and what was found out about it.
type arrival struct {
	message Message
	from    Address
	key     Key  // of its identity
	checked bool // its proof was checked, and is right
	by      tagger
	agreed  Agreed

	out   []byte
	event Event
	err   *Error // why it draws no answer
}

// undecodable answers a LINK of another version, of which it knows what all have in common
// (CXH-13), if the answer is smaller (CXS-1, CXS-18).
func (s *Server) undecodable(in *arrival, datagram []byte, err *Error) {
	if in.message.Kind != KindLink || err.Code() != CodeVersion || len(datagram) < linkSize {
		in.err = err
		return
	}
	in.message.Nonce = Nonce(datagram[nonceAt:])
	s.refuseUnproven(in, OtherVersion)
}

// challenge answers a LINK, with a stamp that no other has (CXK-5, CXH-4). It keeps nothing (CXS-1).
func (s *Server) challenge(in *arrival) {
	stamp := max(uint64(s.now), s.nextStamp)
	s.nextStamp = stamp + 1
	m := Message{Kind: KindChallenge, Stamp: stamp, Cookie: s.secret.cookie(stamp, &in.from, &in.message.Offer)}
	m.Nonce = in.message.Nonce
	in.out = m.append(in.out)
	in.event.Kind = EventChallenged
	s.stats.Challenges++
}

// prove checks what needs no entry, then gives a PROOF to its entry (CXS-2).
func (s *Server) prove(in *arrival) {
	m := &in.message
	cookie := s.secret.cookie(m.Stamp, &in.from, &m.Offer)
	switch {
	case !equal(&cookie, &m.Cookie):
		in.err = cookieWrong.NotAt()
		return
	case s.now-core.Micros(m.Stamp) >= CookieLife:
		in.err = cookieTooOld.NotAt()
		return
	case !s.known(in):
		s.refuseUnproven(in, UnknownIdentity)
		return
	}
	e := s.find(m)
	in.checked = m.Resume == 0 || e != nil && e.ID() == m.Resume
	if in.checked && !s.right(in, e) {
		s.refuseUnproven(in, UnknownIdentity)
		return
	}
	if reason := s.disagrees(in); reason != 0 {
		s.refuse(in, reason)
		return
	}
	if e == nil {
		e = &Entry{server: s, identity: m.Identity}
	}
	s.take(e, e.proofGuard(in))
}

// known finds the key of a PROOF's identity.
func (s *Server) known(in *arrival) (ok bool) {
	switch {
	case in.message.Identity == 0:
		return s.anonymous
	case s.keys == nil:
		return false
	}
	in.key, ok = s.keys(in.message.Identity)
	return ok
}

// find returns the entry of a PROOF; nil if there is none (CXS-3).
func (s *Server) find(m *Message) *Entry {
	switch {
	case m.Identity != 0:
		return s.identities[m.Identity]
	case m.Resume == 0:
		return s.nonces[m.Nonce]
	}
	if e := s.links[m.Resume]; e != nil && e.identity == 0 {
		return e
	}
	return nil
}

// right reports whether the proof of a PROOF is (CXK-6).
func (s *Server) right(in *arrival, e *Entry) bool {
	key := in.key
	if in.message.Resume != 0 {
		key = e.resume
	}
	in.by = newTagger(key)
	want := in.by.proof(&in.message)
	return equal(&want, &in.message.Proof)
}

// disagrees returns why an offer fits no terms of the server; 0 if it does (CXP-3).
func (s *Server) disagrees(in *arrival) Reason {
	o, t := &in.message.Offer, &s.terms
	in.agreed = Agreed{Lanes: min(o.Lanes, t.Lanes), Extensions: o.Extensions & t.Extensions, Timeout: min(o.Timeout, t.Timeout)}
	if in.agreed.Lanes > 0 {
		in.agreed.Variant = highest(o.Variants & t.Variants)
	}
	switch {
	case o.Protocol != t.Protocol:
		return OtherProtocol
	case o.Mode != t.Mode:
		return OtherMode
	case o.Format != t.Format:
		return OtherFormat
	case in.agreed.Lanes > 0 && in.agreed.Variant == 0:
		return NoCommonVariant
	}
	return 0
}

// highest returns the highest bit of a set alone.
func highest(set uint8) uint8 { return 0x80 >> bits.LeadingZeros8(set) }

// refuse appends a REFUSED that is proven by the key (CXK-8).
func (s *Server) refuse(in *arrival, reason Reason) {
	m := s.refusal(in, reason)
	by := newTagger(in.key)
	m.Proof = by.refused(&m, &in.message.Offer, in.message.Stamp, &in.message.Cookie)
	in.out = m.append(in.out)
}

// refuseUnproven appends a REFUSED to who may not know the key.
func (s *Server) refuseUnproven(in *arrival, reason Reason) {
	m := s.refusal(in, reason)
	in.out = m.append(in.out)
}

func (s *Server) refusal(in *arrival, reason Reason) Message {
	m := Message{Kind: KindRefused, Version: Version, Reason: reason}
	m.Nonce = in.message.Nonce
	in.event.Kind, in.event.Reason = EventRefused, reason
	s.stats.refused[reason]++
	return m
}
