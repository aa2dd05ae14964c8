package session

import (
	"encoding/binary"
	"math/bits"

	"github.com/chunkwire/chunkwire/core"
)

// arrival is a message that is being taken, and its result so far.
type arrival struct {
	message  Message
	from     Address
	key      Key // of its identity
	greeting greeting
	whole    Key      // the transcript
	checked  bool     // it begins, or resumes the connection of its entry
	ours     ownShare // for a connection that is made
	meeting  meeting
	agreed   Agreed

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

// challenging is the CHALLENGE with a nonce, without stamp and cookie.
func challenging(nonce Nonce) Message {
	m := Message{Kind: KindChallenge, Version: Version, Versions: nonce.listed()}
	m.Nonce = nonce
	return m
}

// challenge answers a LINK, with a stamp that no other has (CXK-5, CXH-4). It keeps nothing (CXS-1).
func (s *Server) challenge(in *arrival) {
	m := challenging(in.message.Nonce)
	if choose(&in.message.Versions, &m.Versions) != Version {
		s.refuseUnproven(in, OtherVersion)
		return
	}
	m.Stamp = s.challenges.stamp(s.now)
	of := s.cookies.digest(&in.message)
	m.Cookie = s.cookies.cookie(m.Stamp, &in.from, &of, Version)
	in.out = m.append(in.out)
	in.event.Kind = EventChallenged
	s.stats.Challenges++
}

// prove checks what needs no entry, then gives a PROOF to its entry (CXS-2).
func (s *Server) prove(in *arrival) {
	m := &in.message
	if in.err = s.checkCookie(m, &in.from); in.err != nil {
		return
	}
	known := s.greet(in)
	challenge := challenging(m.Nonce)
	challenge.Stamp, challenge.Cookie = m.Stamp, m.Cookie
	seen := in.greeting.seen(&challenge)
	var proof [16]byte
	proof, in.whole = in.greeting.prove(&seen, &m.Move)
	if right := equal(&proof, &m.Proof); !right || !known {
		s.refuseUnproven(in, UnknownIdentity)
		return
	}
	e := s.find(in)
	in.checked = m.Resume == 0 || e != nil && e.ID() == m.Resume
	if in.checked && m.Resume != 0 && !e.mayMove(&seen, &m.Move) {
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
	guard := e.proofGuard(in)
	if e.makes(guard) && !s.meet(in) {
		in.err = shareIsWeak.NotAt()
		return
	}
	s.take(e, guard)
}

// checkCookie returns why the cookie of a PROOF is not one for its address now; nil if it is.
func (s *Server) checkCookie(m *Message, from *Address) *Error {
	if s.now-core.Micros(m.Stamp) >= CookieLife {
		return cookieTooOld.NotAt()
	}
	if cookie := s.cookies.cookie(m.Stamp, from, &m.Digest, Version); !equal(&cookie, &m.Cookie) {
		return cookieWrong.NotAt()
	}
	return nil
}

// NeedsKey returns the identity for which Receive would ask Keys, if it were given this datagram now: so a driver can
// ask before, however long that takes, and give the datagram then. It is not ok for any datagram but a PROOF of an
// identity, with a cookie for its address, that resumes no living connection (CXS-20). It changes nothing.
func (s *Server) NeedsKey(now core.Micros, from Address, datagram []byte) (identity uint64, ok bool) {
	if len(datagram) != proofSize || Kind(datagram[0]) != KindProof {
		return 0, false
	}
	s.begin(now)
	m := &s.in.message
	if m.decode(datagram) != nil || m.Identity == 0 || s.resumed(m) != nil {
		return 0, false
	}
	return m.Identity, s.checkCookie(m, &from) == nil
}

// resumed returns the living connection of an identity that a PROOF resumes, or nil.
func (s *Server) resumed(m *Message) *Entry {
	if e := s.identities[m.Identity]; e != nil && m.Resume != 0 && e.ID() == m.Resume && e.living() {
		return e
	}
	return nil
}

// greet makes the greeting of a PROOF, and reports whether its identity is known. One that is not has a
// key that nobody has: the answer takes as long (CXK-9).
func (s *Server) greet(in *arrival) (known bool) {
	o := &in.message.Offer
	in.key = expand(&s.decoy, "key", binary.LittleEndian.AppendUint64(nil, o.Identity))
	if o.Identity == 0 {
		known = s.anonymous
	} else if e := s.resumed(&in.message); e != nil {
		in.key, known = e.made.key, true
	} else if s.keys != nil {
		var its Key
		if its, known = s.keys(o.Identity); known {
			in.key = its
		}
	}
	in.greeting = greet(o, &in.key, &s.static.share)
	return known
}

// meet draws a share for a connection that is to be made. It is the first computation with the client's
// share, whose address and key are proven by now (CXS-19).
func (s *Server) meet(in *arrival) (ok bool) {
	in.ours = drawShare(s.terms.Mode, s.random)
	shared, ok := in.ours.meet(&in.message.Share)
	if ok && s.static.private != nil {
		static, _ := s.static.meet(&in.message.Share) // as good as the other
		in.greeting.know(&static)
	}
	in.meeting = in.greeting.meet(&shared)
	return ok
}

// find returns the entry of a PROOF; nil if there is none (CXS-3).
func (s *Server) find(in *arrival) *Entry {
	m := &in.message
	switch {
	case m.Identity != 0:
		return s.identities[m.Identity]
	case m.Resume == 0:
		return s.hellos[helloAt{in.greeting.hello, in.from}]
	}
	if e := s.links[m.Resume]; e != nil && e.identity == 0 {
		return e
	}
	return nil
}

// disagrees returns why an offer fits no terms of the server; 0 if it does (CXP-3).
func (s *Server) disagrees(in *arrival) Reason {
	o, t := &in.message.Offer, &s.terms
	in.agreed = Agreed{Lanes: min(o.Lanes, t.Lanes), Extensions: o.Extensions & t.Extensions &^ unknownExtensions, Timeout: min(o.Timeout, t.Timeout)}
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
	m.Proof = answerBy(&in.greeting.refused, &in.whole, &m)
	in.out = m.append(in.out)
}

// refuseUnproven appends a REFUSED to who cannot know the key.
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
