package sessionoracle

import (
	"bytes"
	"crypto/ecdh"
	"crypto/sha256"
	"net/netip"
	"slices"
)

// expand is HKDF-Expand: 32 bytes by a label and a context, which one block of it gives.
func expand(key []byte, label string, context []byte) []byte {
	return HMAC(key, number(int64(len(label)), 1), []byte(label), context, []byte{1})
}

// extract is HKDF-Extract.
func extract(salt, in []byte) []byte { return HMAC(salt, in) }

// hash is the hash of a label and what is behind it.
func hash(label string, parts ...[]byte) []byte {
	label = "chunkwire 2 " + label
	sum := sha256.Sum256(slices.Concat(number(int64(len(label)), 1), []byte(label), slices.Concat(parts...)))
	return sum[:]
}

// zeros are bytes of 0.
func zeros(n int) []byte { return make([]byte, n) }

// Keys are what both ends derive of a connection.
type Keys struct{ C2S, S2C, Resume []byte }

// Derived is everything that is made of a handshake, in the order of section 4.
type Derived struct {
	Hello, Given, First, ProofKey, RefusedKey, Next []byte // of the PROOF and the key
	Seen, Move, Proof, Whole                        []byte // and of a CHALLENGE
	Static, Known                                   []byte // and of the server's key, if it has one
	Shared, Second, AnswerKey                       []byte // and of both shares
	Connection                                      []byte // and of the LINKED
	Keys
}

// Greet derives what a hello and a key give. server is the key of the server; it has none if it is nil.
func Greet(proof Message, key, server []byte) (d Derived) {
	d.Hello = hash("hello", bytesOf(proof)[:97], server)
	d.Given = zeros(32)
	if string(proof.Identity) != anonymous {
		d.Given = expand(key, "chunkwire 2 key", nil)
	}
	d.First = extract(d.Hello, d.Given)
	d.ProofKey, d.RefusedKey, d.Next = expand(d.First, "proof", nil), expand(d.First, "refused", nil), expand(d.First, "next", nil)
	return d
}

// Prove derives the proof of a PROOF that answers a CHALLENGE; resume is nil if it resumes nothing. A move
// that is given is taken as it is.
func (d *Derived) Prove(challenge Message, resume, move []byte) {
	d.Seen = hash("challenge", d.Hello, bytesOf(challenge))
	d.Move = zeros(16)
	if resume != nil {
		d.Move = expand(resume, "move", d.Seen)[:16]
	}
	if move == nil {
		move = d.Move
	}
	moved := hash("move", d.Seen, move)
	d.Proof = expand(d.ProofKey, "proof", moved)[:16]
	d.Whole = hash("proof", moved, d.Proof)
}

// Know derives what the key of the server gives: one end has the private part of it, the other that of the
// client's share. It reports whether that is anything.
func (d *Derived) Know(private, public []byte) bool {
	var err error
	if d.Static, err = keyOf(private).ECDH(publicOf(public)); err != nil {
		return false
	}
	d.Known = expand(extract(d.Next, d.Static), "known", nil)
	return true
}

// Meet derives what both shares give; it reports whether they give anything.
func (d *Derived) Meet(mode string, private, share []byte) bool {
	d.Shared = zeros(32)
	if mode != CRC {
		var err error
		if d.Shared, err = keyOf(private).ECDH(publicOf(share)); err != nil {
			return false
		}
	}
	next := d.Next
	if d.Known != nil {
		next = d.Known
	}
	d.Second = extract(next, d.Shared)
	d.AnswerKey = expand(d.Second, "answer", nil)
	return true
}

// Connect derives the keys of a connection.
func (d *Derived) Connect(linked Message) {
	d.Connection = hash("connection", d.Hello, bytesOf(linked)[17:59])
	d.Keys = Keys{expand(d.Second, "c2s", d.Connection), expand(d.Second, "s2c", d.Connection), expand(d.Second, "resume", d.Connection)}
}

// Answer is the proof of a LINKED or a REFUSED.
func (d *Derived) Answer(key []byte, m Message) []byte {
	b := bytesOf(m)
	return expand(key, "answer", hash("answer", d.Whole, b[:len(b)-16]))[:16]
}

func keyOf(private []byte) *ecdh.PrivateKey {
	k, err := ecdh.X25519().NewPrivateKey(private)
	if err != nil {
		panic(err) // it has 32 bytes
	}
	return k
}

func publicOf(share []byte) *ecdh.PublicKey {
	k, err := ecdh.X25519().NewPublicKey(share)
	if err != nil {
		panic(err) // it has 32 bytes
	}
	return k
}

// ShareOf is the share of a private one.
func ShareOf(mode string, private []byte) []byte {
	if mode == CRC {
		return private
	}
	return keyOf(private).PublicKey().Bytes()
}

// bytesOf are the bytes of a message, with zeros for what it does not have yet.
func bytesOf(m Message) []byte {
	for _, field := range []*[]byte{&m.Cookie, &m.Move, &m.Proof} {
		if *field == nil {
			*field = zeros(16)
		}
	}
	b, err := Encode(m)
	if err != nil {
		panic(err) // it was decoded, or made by this package
	}
	return b
}

// Address is the 18 bytes of an address: IP and port, or of any other text, and of one with a
// zone, a hash.
func Address(text string) []byte {
	if a, err := netip.ParseAddrPort(text); err == nil && a.Addr().Zone() == "" {
		ip := a.Addr().As16()
		return slices.Concat(ip[:], number(int64(a.Port()), 2))
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:18]
}

// DigestOf is the digest of a LINK.
func DigestOf(link Message) []byte { return hash("link", bytesOf(link))[:16] }

// Cookie is the cookie of a challenge.
func Cookie(secret []byte, stamp int64, address, digest []byte) []byte {
	return HMAC(expand(secret, "cookie", nil), number(stamp, 8), address, digest, number(Version, 1))[:16]
}

// The lists of versions: what LINK and CHALLENGE have for a nonce, one of them a version that never is.
func offeredVersions(nonce []byte) []byte { return versions(nonce[0], nonce[1]) }
func listedVersions(nonce []byte) []byte  { return versions(nonce[15], nonce[14]) }

func versions(value, place byte) []byte {
	list := zeros(8)
	list[0], list[1] = Version, value/16*16+10
	if place%2 == 1 {
		list[0], list[1] = list[1], list[0]
	}
	return list
}

// chosen is the version that a server chooses: 0 if there is none.
func chosen(client, server []byte) byte {
	for _, v := range client {
		if v != 0 && v%16 != 10 && bytes.IndexByte(server, v) >= 0 {
			return v
		}
	}
	return 0
}

// noExtension are the bits of extensions that never have a meaning.
const noExtension = 0x3000

// LinkOf is the LINK of a nonce.
func LinkOf(nonce []byte) Message {
	m := Message{Type: TypeLink, Nonce: nonce, Versions: offeredVersions(nonce), Reserved: zeros(38)}
	if nonce[2] < 16 {
		m.Reserved = slices.Concat(nonce, nonce, nonce[:6])
	}
	return m
}

// ChallengeOf is a CHALLENGE of this server.
func ChallengeOf(nonce []byte, stamp int64, cookie []byte) Message {
	return Message{Type: TypeChallenge, Nonce: nonce, Stamp: stamp, Cookie: cookie, Version: Version, Versions: listedVersions(nonce)}
}
