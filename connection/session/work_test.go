package session

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
)

// spentBy returns what is computed while something is done.
func spentBy(do func()) [operations]int {
	spent = new([operations]int)
	defer func() { spent = nil }()
	do()
	return *spent
}

// What a datagram costs a server is what CXT-BND-5 says: nothing with a share for who has not proved an
// address and, where there is one, a key; and the same for an identity that is not known.
func TestTheWorkOfAServer(t *testing.T) {
	h := newHost(t, with(keyed, func(c *ServerConfig) { c.MaxConnections, c.MaxPerAddress = 2, 2 }))
	c := confirmed(h, here, 7)
	c.Move(h.now)
	resuming := append([]byte(nil), c.challenged()...)
	data := c.data("x")
	h.hears(here, data)
	second := newCaller(h, there, 8)
	begins := second.again(there, keyOf(8))
	third := newCaller(h, there, 9)
	full := third.again(there, keyOf(9))
	for _, x := range []struct {
		what     string
		from     Address
		datagram []byte
		want     [operations]int
		says     string
	}{
		{"nonsense", there, []byte("nonsense"), [...]int{0, 0, 0, 0}, ""},
		{"LINK", there, newLink(second), [...]int{1, 1, 0, 0}, "CHALLENGE"},
		{"PROOF with a stamp of long ago", there, altered(begins, 8*100), [...]int{0, 0, 0, 0}, ""},
		{"PROOF with another cookie", there, altered(begins, 8*105), [...]int{0, 1, 0, 0}, ""},
		{"PROOF from elsewhere", elsewhere, begins, [...]int{0, 1, 0, 0}, ""},
		{"PROOF by another key", there, second.again(there, keyOf(9)), [...]int{4, 8, 0, 0}, "REFUSED identity unproven"},
		{"PROOF of nobody", there, newCaller(h, there, 1000).again(there, keyOf(9)), [...]int{4, 8, 0, 0}, "REFUSED identity unproven"},
		{"PROOF that begins", there, begins, [...]int{6, 14, 2, 0}, "J3 LINKED"},
		{"the same again", there, begins, [...]int{5, 9, 0, 0}, "J5 LINKED"},
		{"PROOF that resumes", here, resuming, [...]int{5, 10, 0, 0}, "J15 LINKED"},
		{"PROOF for which there is no room", there, full, [...]int{5, 9, 0, 0}, "J2 REFUSED full"},
		{"data of no link", there, altered(data, 9), [...]int{0, 0, 0, 0}, "unknown_link"},
		{"data from elsewhere", there, data, [...]int{0, 0, 0, 0}, "address"},
		{"data again", here, data, [...]int{0, 0, 0, 0}, "duplicate"},
		{"data with a wrong tag", here, altered(c.data("y"), 8*9), [...]int{0, 0, 0, 1}, "tag"},
	} {
		var says string
		got := spentBy(func() {
			if Kind(x.datagram[0]).isData() {
				says = h.hears(x.from, x.datagram)
			} else {
				says = h.says(x.from, x.datagram)
			}
		})
		t.Logf("%-34s %2d hashes, %2d HMACs, %d X25519, %d tags: %s", x.what, got[hashes], got[macs], got[exchanges], got[tags], says)
		check.Equal(t, x.what, []any{got, says}, []any{x.want, x.says})
		check.That(t, h.in.ours == ownShare{} && h.in.meeting == meeting{} && h.in.greeting == greeting{}, x.what+": it has forgotten")
	}
}

// With a key of its own a server computes one X25519 more for a connection that it makes, and for nothing
// else; and a client one for each attempt.
func TestTheWorkOfAServerWithAKey(t *testing.T) {
	for identity, says := range map[uint64]string{7: "J3 LINKED", 1000: "REFUSED identity unproven"} {
		h := newHost(t, with(keyed, func(c *ServerConfig) { c.PrivateKey = Key{1} }))
		var c *caller
		key := ServerKey(Key{1})
		check.Equal(t, "a client", spentBy(func() {
			c = newCaller(h, here, identity, func(cfg *ClientConfig) { cfg.ServerKey = key })
		})[exchanges], 4) // two are the check of its configuration
		proof := c.challenged()
		want := [operations]int{6, 16, 3, 0}
		if identity == 1000 {
			want = [operations]int{4, 8, 0, 0}
		}
		check.Equal(t, says, spentBy(func() { check.Equal(t, "it says", h.says(here, proof), says) }), want)
	}
}

// What a message costs a client, forged by who knows its nonce.
func TestTheWorkOfAClient(t *testing.T) {
	h := newHost(t, keyed)
	c := newCaller(h, here, 7)
	proof := check.Must(Decode(c.challenged()))
	linked := h.takes(here, c.last)
	another := challenging(proof.Nonce)
	refused := Message{Kind: KindRefused, Version: Version, Reason: Full, Proof: [16]byte{1}}
	refused.Nonce = proof.Nonce
	for len(c.challenges) < KeptChallenges-1 {
		another.Stamp++
		c.gets(another.append(nil))
		h.now += ProofSpacing
		c.polls()
	}
	another.Stamp++
	for _, x := range []struct {
		what     string
		datagram []byte
		want     [operations]int
		row      string
	}{
		{"LINKED of another nonce", altered(linked, 8), [...]int{0, 0, 0, 0}, "I9"},
		{"CHALLENGE", another.append(nil), [...]int{2, 0, 0, 0}, "I6"},
		{"LINKED", altered(linked, 8*60), [...]int{31, 33, 1, 0}, "I9"},
		{"REFUSED", refused.append(nil), [...]int{31, 31, 0, 0}, "I12"},
		{"the true LINKED", linked, [...]int{2, 6, 1, 0}, "I8"},
	} {
		var row string
		got := spentBy(func() { row = c.gets(x.datagram) })
		t.Logf("%-34s %2d hashes, %2d HMACs, %d X25519, %d tags: %s", x.what, got[hashes], got[macs], got[exchanges], got[tags], row)
		check.Equal(t, x.what, []any{got, row}, []any{x.want, x.row})
	}
	check.That(t, c.ours.private == nil && c.meeting == meeting{} && c.greeting == greeting{}, "it has forgotten")
	c.Close(h.now)
	check.Equal(t, "of one that is closed", c.keys, Keys{})
}
