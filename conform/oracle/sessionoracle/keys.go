package sessionoracle

import (
	"crypto/sha256"
	"net/netip"
	"slices"
)

// mac16 is the first 16 bytes of an HMAC.
func mac16(key []byte, parts ...[]byte) []byte { return HMAC(key, parts...)[:16] }

// Keys are what both ends derive of a connection.
type Keys struct{ C2S, S2C, Resume []byte }

// Derive returns the keys of a connection: offer is that of its first PROOF, l its LINKED.
func Derive(key, offer []byte, l Message) Keys {
	base := HMAC(key, []byte("chunkwire 1 keys"), offer, number(l.Link, 4), l.ServerNonce,
		number(l.Lanes, 1), number(l.Variant, 1), number(l.Extensions, 2), number(l.Timeout, 2))
	return Keys{HMAC(base, []byte("c2s")), HMAC(base, []byte("s2c")), HMAC(base, []byte("resume"))}
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

// OfferOf is the 48 bytes of the offer of a LINK or a PROOF.
func OfferOf(m Message) []byte {
	if m.Proof == nil {
		m.Proof, m.Cookie = make([]byte, 16), make([]byte, 16) // an offer is the same in both
	}
	b, err := Encode(m)
	if err != nil {
		panic(err) // it was decoded, or made by this package
	}
	return b[1:49]
}

// Cookie is the cookie of a challenge.
func Cookie(secret []byte, stamp int64, address, offer []byte) []byte {
	return mac16(secret, number(stamp, 8), address, offer)
}

// ProofOf is the proof of a PROOF, a LINKED or a REFUSED. The last two answer a PROOF, whose
// stamp and cookie they cover; a REFUSED also covers its offer.
func ProofOf(key []byte, m Message, offer []byte, stamp int64, cookie []byte) []byte {
	m.Proof = make([]byte, 16)
	b, err := Encode(m)
	if err != nil {
		panic(err)
	}
	without := b[:len(b)-16]
	switch m.Type {
	case TypeProof:
		return mac16(key, []byte("client"), without)
	case TypeLinked:
		return mac16(key, []byte("server"), without, number(stamp, 8), cookie)
	default:
		return mac16(key, []byte("refused"), without, offer, number(stamp, 8), cookie)
	}
}
