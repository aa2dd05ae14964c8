package session

import (
	"crypto/hmac"
	"crypto/sha256"
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

// literal is HMAC-SHA-256 of all these, in a row.
func literal(key []byte, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(slices.Concat(parts...))
	return h.Sum(nil)
}

// The parts of the schedule of keys are what RFC 5869 and CXN-6 say, whatever goes in.
func TestExpandExtractAndDigest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := sequence(rapid.Byte().Draw(t, "key"))
		label := rapid.StringN(0, 20, 40).Draw(t, "label")
		text := rapid.SliceOfN(rapid.Byte(), 0, 80).Draw(t, "text")
		check.Equal(t, "expand", expand(&key, label, text), Key(literal(key[:], []byte{byte(len(label))}, []byte(label), text, []byte{1})))
		in := sequence(rapid.Byte().Draw(t, "in"))
		check.Equal(t, "extract", extract(&key, &in), Key(literal(key[:], in[:])))
		sum := sha256.Sum256(slices.Concat([]byte{byte(12 + len(label))}, []byte("chunkwire 2 "+label), text))
		check.Equal(t, "digest", digest(label, text[:len(text)/2], text[len(text)/2:]), Key(sum))
	})
}

// The digest of a LINK is that of its label, though it is made without one (CXH-3).
func TestTheDigestOfALink(t *testing.T) {
	want := digest("link", firstLink.append(nil))
	check.Equal(t, "digest", DigestOf(&firstLink), [16]byte(want[:]))
}

// An input of one use of a key is none of another: with all that a handshake makes, and with what the same
// given key was used for in version 1 (CXK-13).
func TestNoInputHasTwoUses(t *testing.T) {
	labels := []string{"chunkwire 2 key", "proof", "refused", "next", "known", "answer", "c2s", "s2c", "resume", "move", "cookie", "decoy", "key"}
	for i, a := range labels {
		for _, b := range labels[:i] {
			check.That(t, a != b, a)
		}
	}
	// The info of an expansion begins with the length of its label: none is the beginning of another, and
	// none begins as what version 1 gave to HMAC does, with a letter.
	for _, label := range labels {
		check.That(t, len(label) < ' ', label)
	}
}

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
