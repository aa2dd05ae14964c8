package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"io"
)

// Keys are what both ends make of their key and the handshake (CXK-1 to CXK-3, SEC-6).
type Keys struct {
	C2S    Key // seals what the client sends
	S2C    Key // seals what the server sends
	Resume Key // proves that a client had this connection
}

// DeriveKeys returns the keys of a connection: key is that of the identity, offer that of the
// PROOF that made the connection.
func DeriveKeys(key Key, offer *Offer, agreed *Agreed, serverNonce Nonce) Keys {
	b := offer.append([]byte("chunkwire 1 keys"))
	b = binary.LittleEndian.AppendUint32(b, agreed.Link)
	b = agreed.append(append(b, serverNonce[:]...))
	base := mac32(key, b)
	return Keys{mac32(base, []byte("c2s")), mac32(base, []byte("s2c")), mac32(base, []byte("resume"))}
}

// mac32 is HMAC-SHA-256 (CXN-6).
func mac32(key Key, text []byte) (out Key) {
	h := hmac.New(sha256.New, key[:])
	h.Write(text)
	return Key(h.Sum(nil))
}

// tagger makes tags of 16 bytes by one key, and allocates nothing for it.
type tagger struct {
	mac hash.Hash
	in  []byte
	sum [sha256.Size]byte
}

func newTagger(key Key) tagger {
	return tagger{mac: hmac.New(sha256.New, key[:])}
}

// tag returns the tag of what is in t.in.
func (t *tagger) tag() [16]byte {
	t.mac.Reset()
	t.mac.Write(t.in)
	return [16]byte(t.mac.Sum(t.sum[:0]))
}

// cookie returns the cookie for an address, an offer and a stamp (CXK-4).
func (t *tagger) cookie(stamp uint64, from *Address, offer *Offer) [16]byte {
	t.in = binary.LittleEndian.AppendUint64(t.in[:0], stamp)
	t.in = offer.append(append(t.in, from[:]...))
	return t.tag()
}

// proof returns the proof of a PROOF (CXK-6).
func (t *tagger) proof(m *Message) [16]byte {
	t.begin("client", m)
	return t.tag()
}

// linked returns the proof of a LINKED, which covers the stamp and the cookie of the PROOF that
// it answers (CXK-7).
func (t *tagger) linked(m *Message, stamp uint64, cookie *[16]byte) [16]byte {
	t.begin("server", m)
	t.covers(stamp, cookie)
	return t.tag()
}

// refused returns the proof of a REFUSED, which covers the PROOF that it answers (CXK-8).
func (t *tagger) refused(m *Message, offer *Offer, stamp uint64, cookie *[16]byte) [16]byte {
	t.begin("refused", m)
	t.in = offer.append(t.in)
	t.covers(stamp, cookie)
	return t.tag()
}

// begin writes a label and a message without its proof.
func (t *tagger) begin(label string, m *Message) {
	t.in = m.append(append(t.in[:0], label...))
	t.in = t.in[:len(t.in)-tagSize]
}

func (t *tagger) covers(stamp uint64, cookie *[16]byte) {
	t.in = append(binary.LittleEndian.AppendUint64(t.in, stamp), cookie[:]...)
}

// CookieOf returns the cookie that a server with this secret gives to an address for an offer.
func CookieOf(secret Key, stamp uint64, from Address, offer *Offer) [16]byte {
	t := newTagger(secret)
	return t.cookie(stamp, &from, offer)
}

// ProofOf returns the proof of m, a PROOF, LINKED or REFUSED, by a key. The answers cover the
// PROOF that they answer, of which answered has the offer, stamp and cookie.
func ProofOf(key Key, m, answered *Message) [16]byte {
	t := newTagger(key)
	switch m.Kind {
	case KindLinked:
		return t.linked(m, answered.Stamp, &answered.Cookie)
	case KindRefused:
		return t.refused(m, &answered.Offer, answered.Stamp, &answered.Cookie)
	}
	return t.proof(m)
}

// equal compares tags in constant time (CXK-9).
func equal(a, b *[16]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// draw fills b with randomness (CXN-5). A source that fails is a mistake of the program.
func draw(random io.Reader, b []byte) {
	if _, err := io.ReadFull(random, b); err != nil {
		panic("session: no randomness: " + err.Error())
	}
}
