package session

import (
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"io"
)

// Keys are what both ends have of a connection (CXK-2, SEC-6).
type Keys struct {
	C2S    Key // seals what the client sends
	S2C    Key // seals what the server sends
	Resume Key // proves that a client had this connection
}

// expand is HKDF-Expand, 32 bytes by a label and a context (CXN-6).
func expand(k *Key, label string, context []byte) Key {
	spend(macs)
	info := string([]byte{byte(len(label))}) + label + string(context)
	out, err := hkdf.Expand(sha256.New, k[:], info, len(k))
	if err != nil {
		panic(err) // only a length that is too large is refused
	}
	return Key(out)
}

// extract is HKDF-Extract.
func extract(salt, in *Key) Key {
	spend(macs)
	out, err := hkdf.Extract(sha256.New, in[:], salt[:])
	if err != nil {
		panic(err) // only a policy for short keys could refuse it
	}
	return Key(out)
}

// digest is the hash of a label and of what is joined behind it (CXN-6).
func digest(label string, parts ...[]byte) (out Key) {
	spend(hashes)
	label = "chunkwire 2 " + label
	h := sha256.New()
	h.Write([]byte{byte(len(label))})
	h.Write([]byte(label))
	for _, p := range parts {
		h.Write(p)
	}
	return Key(h.Sum(out[:0]))
}

// proofBy is 16 bytes that only who has the key can make of a hash.
func proofBy(k *Key, label string, of *Key) [16]byte {
	out := expand(k, label, of[:])
	return [16]byte(out[:])
}

// greeting is what a hello and the key of its identity give (CXK-1): before the shares meet.
type greeting struct {
	hello, given, secret Key
	proof, refused, next Key
}

// greet makes the greeting of an offer. An anonymous client has no key; zeros are the key of a server
// that has none.
func greet(offer *Offer, key *Key, server *Share) (g greeting) {
	hello := offer.append([]byte{byte(KindProof)})
	if *server != (Share{}) {
		hello = append(hello, server[:]...)
	}
	g.hello = digest("hello", hello)
	if offer.Identity != 0 {
		g.given = expand(key, "chunkwire 2 key", nil)
	}
	g.secret = extract(&g.hello, &g.given)
	g.proof, g.refused, g.next = expand(&g.secret, "proof", nil), expand(&g.secret, "refused", nil), expand(&g.secret, "next", nil)
	return g
}

// know adds what the client's share and the key of the server have in common (CXK-14).
func (g *greeting) know(static *Key) {
	k := extract(&g.next, static)
	g.next = expand(&k, "known", nil)
}

// meeting is what it gives once the shares have met (CXK-1).
type meeting struct {
	secret, answer Key
}

func (g *greeting) meet(shared *Key) (m meeting) {
	m.secret = extract(&g.next, shared)
	m.answer = expand(&m.secret, "answer", nil)
	return m
}

// keys makes the keys of a connection of its LINKED (CXK-2).
func (g *greeting) keys(m *meeting, linked *Message) Keys {
	of := g.connection(linked)
	return Keys{expand(&m.secret, "c2s", of[:]), expand(&m.secret, "s2c", of[:]), expand(&m.secret, "resume", of[:])}
}

func (g *greeting) connection(linked *Message) Key {
	return digest("connection", g.hello[:], linked.appendAgreed(nil))
}

// seen is the transcript up to a CHALLENGE (CXK-11).
func (g *greeting) seen(challenge *Message) Key {
	return digest("challenge", g.hello[:], challenge.append(nil))
}

// moveBy proves that a PROOF comes from who had the connection that it resumes (CXK-3).
func moveBy(resume, seen *Key) [16]byte { return proofBy(resume, "move", seen) }

// prove returns the proof of a PROOF, and the transcript with it (CXK-6).
func (g *greeting) prove(seen *Key, move *[16]byte) (proof [16]byte, whole Key) {
	moved := digest("move", seen[:], move[:])
	proof = proofBy(&g.proof, "proof", &moved)
	return proof, digest("proof", moved[:], proof[:])
}

// answerBy returns the proof of a LINKED or REFUSED, which covers the PROOF that it answers, and so
// all before (CXK-7, CXK-8).
func answerBy(k, whole *Key, m *Message) [16]byte {
	b := m.append(nil)
	of := digest("answer", whole[:], b[:len(b)-tagSize])
	return proofBy(k, "answer", &of)
}

// ownShare is what an end gives to the keys of one connection (CXK-12).
type ownShare struct {
	mode    Mode
	private *ecdh.PrivateKey // with CRC there is none
	share   Share
}

// newShare makes a share of a private one. Where nothing is protected it is these bytes themselves.
func newShare(mode Mode, private *Key) ownShare {
	if mode == CRC {
		return ownShare{mode: mode, share: Share(*private)}
	}
	spend(exchanges)
	k, err := ecdh.X25519().NewPrivateKey(private[:]) // this makes the share, too
	if err != nil {
		panic(err) // only a key of another size is refused
	}
	return ownShare{mode, k, Share(k.PublicKey().Bytes())}
}

// ServerKey returns the key of a server that clients have, of its private one (CXK-14).
func ServerKey(private Key) Share {
	own := newShare(AEAD, &private)
	return own.share
}

// usable reports whether a share gives more than zeros (CXK-12): that is so for all private ones, or for none.
func (s *Share) usable() bool {
	any := newShare(AEAD, &Key{})
	_, ok := any.meet(s)
	return ok
}

// drawShare makes a share that nobody had before.
func drawShare(mode Mode, random io.Reader) ownShare {
	var private Key
	draw(random, private[:])
	return newShare(mode, &private)
}

// meet returns what a share and the share of the other end have in common, zeros where nothing is protected. It
// is not ok if the other share is one of the few that give the same to everybody (CXK-12).
func (o *ownShare) meet(other *Share) (shared Key, ok bool) {
	if o.mode == CRC {
		return shared, true
	}
	spend(exchanges)
	public, err := ecdh.X25519().NewPublicKey(other[:])
	if err != nil {
		panic(err) // only a key of another size is refused
	}
	b, err := o.private.ECDH(public)
	if err != nil {
		return shared, false
	}
	return Key(b), true
}

// tagger makes digests of LINKs and cookies, and allocates nothing for it.
type tagger struct {
	mac hash.Hash
	in  []byte
	sum [sha256.Size]byte
}

const linkLabel = "\x10chunkwire 2 link"

// digest returns the digest of a LINK (CXH-3).
func (t *tagger) digest(link *Message) [16]byte {
	spend(hashes)
	t.in = link.append(append(t.in[:0], linkLabel...))
	sum := sha256.Sum256(t.in)
	return [16]byte(sum[:])
}

func newTagger(key Key) tagger {
	return tagger{mac: hmac.New(sha256.New, key[:])}
}

// cookie returns the cookie for an address, a LINK's digest, a version and a stamp (CXK-4).
func (t *tagger) cookie(stamp uint64, from *Address, of *[16]byte, version uint8) [16]byte {
	t.in = binary.LittleEndian.AppendUint64(t.in[:0], stamp)
	t.in = append(append(append(t.in, from[:]...), of[:]...), version)
	spend(macs)
	t.mac.Reset()
	t.mac.Write(t.in)
	return [16]byte(t.mac.Sum(t.sum[:0]))
}

// DigestOf returns the digest of a LINK (CXH-3).
func DigestOf(link *Message) [16]byte {
	var t tagger
	return t.digest(link)
}

// CookieOf returns the cookie that a server with this secret gives to an address for the digest of a LINK.
func CookieOf(secret Key, stamp uint64, from Address, of [16]byte) [16]byte {
	t := newTagger(expand(&secret, "cookie", nil))
	return t.cookie(stamp, &from, &of, Version)
}

// Worked is a handshake with everything that is made on the way to its keys (section 4): what vectors ask for.
type Worked struct {
	Hello, Given, First, ProofKey, RefusedKey, Next Key
	Static, Known                                   Key // zeros if the server has no key
	Seen                                            Key
	Move, Proof                                     [16]byte
	Whole, Shared, Second, AnswerKey                Key
	Linked, Refused                                 [16]byte
	Connection                                      Key
	Keys                                            Keys
}

// Work makes everything of the messages of a handshake, whatever proofs they have: key is the key of the
// identity, private the client's private share, resume the key of the connection that the PROOF resumes, and
// server the key of the server, zeros if it has none. It fails with ErrShare (CXK-12), and then returns what is
// made before the shares meet.
func Work(key, private, resume Key, server Share, challenge, proof, linked, refused *Message) (w Worked, err error) {
	g := greet(&proof.Offer, &key, &server)
	w.Hello, w.Given, w.First, w.ProofKey, w.RefusedKey, w.Next = g.hello, g.given, g.secret, g.proof, g.refused, g.next
	w.Seen = g.seen(challenge)
	if proof.Resume != 0 {
		w.Move = moveBy(&resume, &w.Seen)
	}
	w.Proof, w.Whole = g.prove(&w.Seen, &w.Move)
	w.Refused = answerBy(&g.refused, &w.Whole, refused)
	ok, own := true, newShare(proof.Mode, &private)
	if server != (Share{}) {
		if w.Static, ok = own.meet(&server); !ok {
			return w, shareIsWeak.NotAt()
		}
		g.know(&w.Static)
		w.Known = g.next
	}
	if w.Shared, ok = own.meet(&linked.Share); !ok {
		return w, shareIsWeak.NotAt()
	}
	m := g.meet(&w.Shared)
	w.Second, w.AnswerKey = m.secret, m.answer
	by := &m.answer
	if proof.Resume != 0 {
		by = &resume
	}
	w.Linked = answerBy(by, &w.Whole, linked)
	w.Connection, w.Keys = g.connection(linked), g.keys(&m, linked)
	return w, nil
}

// equal compares tags in constant time (CXK-9).
func equal(a, b *[16]byte) bool { return subtle.ConstantTimeCompare(a[:], b[:]) == 1 }

// draw fills b with randomness (CXN-5). A source that fails is a mistake of the program.
func draw(random io.Reader, b []byte) {
	if _, err := io.ReadFull(random, b); err != nil {
		panic("session: no randomness: " + err.Error())
	}
}
