package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
)

func sequence(first byte) (k Key) {
	for i := range k {
		k[i] = first + byte(i)
	}
	return k
}

func hexOf[B ~[16]byte | ~[18]byte | ~[32]byte](b B) string {
	text := ""
	for i := range len(b) {
		text += hex.EncodeToString([]byte{b[i]})
	}
	return text
}

// The values of the document's example (section 4.1; CXK-1 to CXK-8).
func TestTheDocumentsExample(t *testing.T) {
	key, secret := sequence(0), sequence(0x40)
	from := AddressOfText("192.0.2.1:40000")
	cookie := CookieOf(secret, 1_000_000, from, &sample)
	check.Equal(t, "address", hexOf(from), "00000000000000000000ffffc0000201409c")
	check.Equal(t, "cookie", hexOf(cookie), "d08894d57f4c40bb72b59603f759a495")

	proof := Message{Kind: KindProof, Offer: sample, Stamp: 1_000_000, Cookie: cookie}
	check.Equal(t, "proof of PROOF", hexOf(ProofOf(key, &proof, &Message{})), "fad19610455edfd5516e02e0c0d92702")
	linked := Message{Kind: KindLinked, Agreed: Agreed{Link: 0x5eed1234, Lanes: 2, Variant: 1, Timeout: 10 * second}, ServerNonce: nonce(0xc0)}
	linked.Nonce = sample.Nonce
	check.Equal(t, "proof of LINKED", hexOf(ProofOf(key, &linked, &proof)), "866b12c524d9eb5b6e2db9c75f137cc4")
	refused := Message{Kind: KindRefused, Version: 1, Reason: Full}
	refused.Nonce = sample.Nonce
	check.Equal(t, "proof of REFUSED", hexOf(ProofOf(key, &refused, &proof)), "25eb345491858038b9c37767836cd868")

	keys := DeriveKeys(key, &sample, &linked.Agreed, linked.ServerNonce)
	check.Equal(t, "keys", []string{hexOf(keys.C2S), hexOf(keys.S2C), hexOf(keys.Resume)}, []string{
		"7aa510d31665081ab8d0eaa35ef9128a7dd741aa1cf9288c9cebe11af6157077",
		"bdc0155aec01794298dc58d61426a210053bae6b9df9737abd3d9c9491a788ac",
		"b55c6da2cfa08aa6de48b4b0765df87276be258bce855ec76c3832240d6939a7",
	})
}

// literal is HMAC-SHA-256 of all these, in a row.
func literal(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(slices.Concat(parts...))
	return h.Sum(nil)
}

// Keys, cookies and proofs are what their sentences say, whatever the message (CXK-1 to CXK-8).
func TestKeysCookiesAndProofs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := sequence(rapid.Byte().Draw(t, "key"))
		m := drawMessage(t)
		answered := Message{Kind: KindProof, Offer: sample, Stamp: rapid.Uint64Range(0, 1<<62-1).Draw(t, "stamp"), Cookie: nonce(rapid.Byte().Draw(t, "cookie"))}
		stamp := binary.LittleEndian.AppendUint64(nil, answered.Stamp)
		b := check.Must(m.Append(nil))
		offer := check.Must(answered.Append(nil))[1:49]
		switch m.Kind {
		case KindProof:
			check.Bytes(t, "proof", ref(ProofOf(key, &m, &answered)), literal(key[:], []byte("client"), b[:73])[:16])
			from := AddressOfText("203.0.113.9:5")
			check.Bytes(t, "cookie", ref(CookieOf(key, m.Stamp, from, &m.Offer)), literal(key[:], b[49:57], from[:], b[1:49])[:16])
		case KindRefused:
			check.Bytes(t, "proof", ref(ProofOf(key, &m, &answered)), literal(key[:], []byte("refused"), b[:19], offer, stamp, answered.Cookie[:])[:16])
		case KindLinked:
			check.Bytes(t, "proof", ref(ProofOf(key, &m, &answered)), literal(key[:], []byte("server"), b[:43], stamp, answered.Cookie[:])[:16])
			base := literal(key[:], []byte("chunkwire 1 keys"), offer, b[17:43])
			got := DeriveKeys(key, &answered.Offer, &m.Agreed, m.ServerNonce)
			check.Bytes(t, "from the client", got.C2S[:], literal(base, []byte("c2s")))
			check.Bytes(t, "from the server", got.S2C[:], literal(base, []byte("s2c")))
			check.Bytes(t, "resume", got.Resume[:], literal(base, []byte("resume")))
		}
	})
}

func ref(b [16]byte) []byte { return b[:] }

// Addresses as cookies hold them, and the part that a peer can hold alone (CXN-7, CXN-8).
func TestAddresses(t *testing.T) {
	text := func(s string) []byte { sum := sha256.Sum256([]byte(s)); return sum[:18] }
	for name, want := range map[string][]byte{
		"192.0.2.1:258":          unhex("00000000000000000000ffffc0000201 0201"),
		"[::ffff:192.0.2.1]:258": unhex("00000000000000000000ffffc0000201 0201"),
		"[2001:db8::1]:65535":    unhex("20010db8000000000000000000000001 ffff"),
		"[fe80::1%eth0]:1":       text("[fe80::1%eth0]:1"),
		"a pipe":                 text("a pipe"),
		"":                       text(""),
	} {
		a := AddressOfText(name)
		check.Bytes(t, name, a[:], want)
	}
	check.Equal(t, "of an endpoint", AddressOf(netip.MustParseAddrPort("192.0.2.1:258")), AddressOfText("192.0.2.1:258"))
	check.Equal(t, "of no endpoint", AddressOf(netip.AddrPort{}), AddressOfText(netip.AddrPort{}.String()))

	same := func(a, b string) bool { return AddressOfText(a).Prefix() == AddressOfText(b).Prefix() }
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true}, {"192.0.2.1:1", "192.0.2.2:1", false},
		{"[2001:db8::1]:1", "[2001:db8::ffff:0:0:2]:9", true}, {"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"[2001:db8::1]:1", "[2001:db8:0:0:8000::1]:1", true}, {"a", "b", false},
	} {
		check.Equal(t, c.a+" and "+c.b, same(c.a, c.b), c.same)
	}
}
