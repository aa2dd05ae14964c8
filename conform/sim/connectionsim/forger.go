package connectionsim

import (
	"math"

	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/connection/session"
)

// Forger sees every datagram and has no key. He sends what he saw again, whole or changed, and
// messages of his own, from any address. He drops nothing, and does not send on to a client
// what the server answered to another address (what a relay can do is not excluded).
type Forger struct {
	sim.Draw
	seen   sim.Seen[Letter]
	nonces []seenOffer
	places int // addresses that he sends from
}

// seenOffer is an offer that he saw, and who made it.
type seenOffer struct {
	from  session.Address
	offer session.Offer
}

// See shows him a datagram.
func (f *Forger) See(l Letter) {
	f.seen.See(f.Draw, l)
	if m, err := session.Decode(l.Data); err == nil && (m.Kind == session.KindLink || m.Kind == session.KindProof) && l.To == ServerAddress {
		f.nonces = append(f.nonces, seenOffer{l.From, m.Offer})
	}
}

// Forge returns a datagram that he sends now.
func (f *Forger) Forge() (l Letter, ok bool) {
	if len(f.seen) == 0 {
		return l, false
	}
	switch f.IntN(5) {
	case 0:
		return f.message()
	case 1, 2:
		return f.changed(), true
	}
	return f.replayed(), true
}

// replayed is a datagram that he saw; to the server it comes from anywhere.
func (f *Forger) replayed() Letter {
	l := f.seen[f.IntN(len(f.seen))]
	l.Data = append([]byte(nil), l.Data...)
	if l.To == ServerAddress && f.OneIn(3) {
		l.From = Address(f.IntN(f.places))
	}
	return l
}

// changed is one that is changed, cut, or longer.
func (f *Forger) changed() Letter {
	l := f.replayed()
	l.Data, _ = f.Changed(l.Data)
	return l
}

// message is one of the handshake that he makes himself.
func (f *Forger) message() (l Letter, ok bool) {
	if len(f.nonces) == 0 {
		return l, false
	}
	// Mostly the latest: that of a client that waits.
	o := f.nonces[max(0, len(f.nonces)-1-f.IntN(min(len(f.nonces), 4)))]
	l = Letter{From: ServerAddress, To: o.from}
	m := session.Message{Kind: sim.Among(f.Draw, session.KindChallenge, session.KindLinked, session.KindRefused, session.KindLink, session.KindProof)}
	m.Offer = o.offer
	m.Stamp = sim.Among(f.Draw, 0, uint64(f.Uint32()), math.MaxInt64>>1)
	m.Cookie[0], m.Proof[1] = byte(f.Uint32()), byte(f.IntN(2))
	m.Version, m.Reason, m.Versions = session.Version, session.Reason(1+f.IntN(9)), session.Versions{session.Version}
	if m.Mode == 0 { // he has seen its LINK alone
		m.Mode, m.Timeout = session.AEAD, session.DefaultTimeout
	}
	m.Agreed = session.Agreed{Link: 1 + f.Uint32()>>1, Lanes: o.offer.Lanes, Timeout: m.Timeout}
	if m.Agreed.Lanes > 0 {
		m.Agreed.Variant = 1
	}
	if m.Kind == session.KindLink || m.Kind == session.KindProof {
		l.From, l.To = Address(f.IntN(f.places)), ServerAddress
		m.Resume = sim.Among(f.Draw, 0, o.offer.Resume, f.Uint32())
	}
	data, err := m.Append(nil)
	l.Data = data
	return l, err == nil
}
