package port

import (
	"bytes"
	"encoding/hex"
	"math"

	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// sessionOperations are those of sessions (CXO-1).
var sessionOperations = map[string]operation{
	contract.OpSessionSeal: sessionSeal, contract.OpSessionOpen: sessionOpen,
	contract.OpSessionKeys: sessionKeys, contract.OpSessionCookie: sessionCookie, contract.OpSessionProof: sessionProof,
	contract.OpSessionClient: machine(sessions.Client), contract.OpSessionServer: machine(sessions.Server),
}

// exactly returns a field of lower-case hex of so many bytes, also if there are not (CXO-2, CXO-14).
func (o *object) exactly(name string, size int) []byte {
	b := o.hex(name)
	if len(b) != size {
		o.bad()
		return make([]byte, size)
	}
	return b
}

func (o *object) key(name string) session.Key  { return session.Key(o.exactly(name, 32)) }
func (o *object) bytes16(name string) [16]byte { return [16]byte(o.exactly(name, 16)) }
func (o *object) unsigned(name string, bits int) uint64 {
	return uint64(o.within(name, 0, 1<<bits-1))
}

// tenth is the unit of timeouts.
const tenth = 100 * core.Millisecond

// tenths returns a number of 100 ms.
func (o *object) tenths(name string) core.Micros {
	return core.Micros(o.unsigned(name, 16)) * tenth
}

// mode returns a mode by its name; an unknown one is none.
func (o *object) mode(name string) session.Mode {
	text := o.text(name)
	for _, m := range []session.Mode{session.CRC, session.MAC, session.AEAD} {
		if m.String() == text {
			return m
		}
	}
	return 0
}

// knownMode is mode where it must be one of the three.
func (o *object) knownMode(name string) session.Mode {
	m := o.mode(name)
	if m == 0 {
		o.bad()
	}
	return m
}

// agreed reads what a server made of an offer.
func (o *object) agreed() session.Agreed {
	return session.Agreed{
		Link: uint32(o.unsigned("link", 32)), Lanes: int(o.unsigned("lanes", 8)), Variant: uint8(o.unsigned("variant", 8)),
		Extensions: uint16(o.unsigned("extensions", 16)), Timeout: o.tenths("timeout"),
	}
}

// text is how bytes are written.
func text(b []byte) *string { return pointerTo(hex.EncodeToString(b)) }

// mostBody is the longest body of a request.
const mostBody = 1200

// direction reads what both ends know of a direction of a link.
func (o *object) direction(counter uint64) session.LinkConfig {
	key := o.key("key")
	return session.LinkConfig{
		Mode: o.knownMode("mode"), Agreed: session.Agreed{Link: uint32(o.within("link", 1, math.MaxUint32))}, Seal: key, Open: key, Next: counter,
	}
}

// sessionSeal seals a body (CXO-4).
func sessionSeal(q *object) (any, error) {
	cfg, body := q.direction(uint64(q.within("counter", 0, 1<<62-1))), q.hex("body")
	if len(body) < 1 || len(body) > mostBody {
		q.bad()
	}
	if *q.err != nil {
		return nil, *q.err
	}
	return encoded(session.NewLink(cfg).Seal(nil, body), nil)
}

// sessionOpen opens a datagram. The counters that came before come again.
func sessionOpen(q *object) (any, error) {
	cfg, datagram := q.direction(0), q.hex("hex")
	taken := takenCounters(q)
	if *q.err != nil {
		return nil, *q.err
	}
	l := session.NewLink(cfg)
	for _, c := range taken {
		cfg.Next = uint64(c)
		if _, err := l.Open(nil, session.NewLink(cfg).Seal(nil, []byte{0})); err != nil {
			return nil, errBadRequest
		}
	}
	body, err := l.Open(nil, datagram)
	if err != nil {
		return nil, err
	}
	return contract.SessionOpenResponse{Answer: contract.Answer{OK: true}, Counter: counterOf(cfg, taken, body, datagram), Body: hex.EncodeToString(body)}, nil
}

// counterOf returns the counter with which a body is sealed to a datagram, which was opened.
func counterOf(cfg session.LinkConfig, taken []int64, body, datagram []byte) int64 {
	m, _ := session.Decode(datagram)
	c := int64(m.Counter)
	if len(taken) > 0 {
		c += max(0, taken[len(taken)-1]>>32-1) << 32
	}
	for ; ; c += 1 << 32 {
		cfg.Next = uint64(c)
		if bytes.Equal(session.NewLink(cfg).Seal(nil, body), datagram) {
			return c
		}
	}
}

// takenCounters reads counters that ascend, by 2^31 at most.
func takenCounters(q *object) (taken []int64) {
	highest := int64(-1)
	for _, raw := range q.list("taken") {
		c, err := integer(raw)
		if err != nil || c <= highest || c > highest+1<<31 {
			q.bad()
		}
		taken, highest = append(taken, c), c
	}
	return taken
}

// readOffer reads the 48 bytes of an offer.
func (o *object) readOffer(name string) session.Offer {
	link := append([]byte{byte(session.KindLink)}, o.exactly(name, 48)...)
	m, err := session.Decode(append(link, make([]byte, 15)...))
	if err != nil {
		o.bad()
	}
	return m.Offer
}

// sessionKeys derives the keys of a connection.
func sessionKeys(q *object) (any, error) {
	key, offer, agreed, nonce := q.key("key"), q.readOffer("offer"), q.agreed(), q.bytes16("server_nonce")
	if *q.err != nil {
		return nil, *q.err
	}
	k := session.DeriveKeys(key, &offer, &agreed, nonce)
	return contract.SessionKeysResponse{Answer: contract.Answer{OK: true}, C2S: *text(k.C2S[:]), S2C: *text(k.S2C[:]), Resume: *text(k.Resume[:])}, nil
}

// sessionCookie makes a cookie (CXO-5).
func sessionCookie(q *object) (any, error) {
	secret, stamp, address, offer := q.key("secret"), q.unsigned("stamp", 62), session.AddressOfText(q.text("address")), q.readOffer("offer")
	if *q.err != nil {
		return nil, *q.err
	}
	cookie := session.CookieOf(secret, stamp, address, &offer)
	return contract.SessionCookieResponse{Answer: contract.Answer{OK: true}, Address: *text(address[:]), Cookie: *text(cookie[:])}, nil
}

// sessionProof makes the proof of a message (CXO-6).
func sessionProof(q *object) (any, error) {
	key, answered := q.key("key"), session.Message{Kind: session.KindProof, Stamp: q.unsigned("stamp", 62), Cookie: q.bytes16("cookie")}
	m, err := session.Decode(q.hex("hex"))
	switch {
	case err != nil || m.Kind != session.KindProof && m.Kind != session.KindLinked && m.Kind != session.KindRefused:
		q.bad()
	case m.Kind == session.KindRefused:
		answered.Offer = q.readOffer("offer")
	default:
		q.exactly("offer", 48)
	}
	if *q.err != nil {
		return nil, *q.err
	}
	proof := session.ProofOf(key, &m, &answered)
	return contract.SessionProofResponse{Answer: contract.Answer{OK: true}, Proof: *text(proof[:])}, nil
}
