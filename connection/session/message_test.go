package session

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

func nonce(first byte) (n Nonce) {
	for i := range n {
		n[i] = first + byte(i)
	}
	return n
}

// firstLink is a LINK.
var firstLink = Message{Kind: KindLink, Offer: Offer{Nonce: nonce(0xa0)}, Versions: Versions{0xaa, 2}}

// sample is the offer of the document's examples (section 4.1), but for the share.
var sample = Offer{
	Nonce: nonce(0xa0), Protocol: 7, Mode: AEAD, Lanes: 4, Variants: 1, Timeout: 10 * second,
	Format: [8]byte(unhex("10db000611675ff9")), Identity: 0x1122334455667788,
	Digest: nonce(0x10), Share: Share(sequence(0x20)),
}

// offerBytes is the same by hand.
const offerBytes = "02 a0a1a2a3a4a5a6a7a8a9aaabacadaeaf 07000000 42 04 01 0000 6400 10db000611675ff9 8877665544332211 00000000" +
	"101112131415161718191a1b1c1d1e1f" + shareBytes

const (
	nonceBytes  = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf"
	stampBytes  = "40420f0000000000"
	cookieBytes = "c0c1c2c3c4c5c6c7c8c9cacbcccdcecf"
	proofBytes  = "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
	shareBytes  = "202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
	moveBytes   = "e0e1e2e3e4e5e6e7e8e9eaebecedeeef"
	listBytes   = "aa02000000000000"
	zeros       = "0000000000000000000000000000000000000000000000000000000000000000000000000000"
)

// messages are one of each kind, with their bytes by hand (CXE-1, CXH-1 to CXH-7).
var messages = []struct {
	Message
	hex string
}{
	{firstLink, "4802" + nonceBytes + listBytes + zeros},
	{Message{Kind: KindChallenge, Offer: Offer{Nonce: nonce(0xa0)}, Stamp: 1_000_000, Cookie: nonce(0xc0), Version: 2, Versions: Versions{0xaa, 2}}, "49" + nonceBytes + stampBytes + cookieBytes + "02" + listBytes},
	{Message{Kind: KindProof, Offer: sample, Stamp: 1_000_000, Cookie: nonce(0xc0), Move: nonce(0xe0), Proof: nonce(0xd0)}, "4a" + offerBytes + stampBytes + cookieBytes + moveBytes + proofBytes},
	{
		Message{Kind: KindLinked, Offer: Offer{Nonce: nonce(0xa0), Share: Share(sequence(0x20))}, Proof: nonce(0xd0), Agreed: Agreed{Link: 0x5eed1234, Lanes: 2, Variant: 1, Extensions: 0x8001, Timeout: 3600 * second}},
		"4b" + nonceBytes + "3412ed5e" + shareBytes + "02 01 0180 a08c" + proofBytes,
	},
	{Message{Kind: KindRefused, Offer: Offer{Nonce: nonce(0xa0)}, Version: 9, Reason: Full, Proof: nonce(0xd0)}, "4c" + nonceBytes + "09 01" + proofBytes},
	{Message{Kind: KindCRC, Agreed: Agreed{Link: 0x5eed1234}, Counter: 0x01020304, Body: []byte("x"), Tag: []byte("1234")}, "40 3412ed5e 04030201 78 31323334"},
	{Message{Kind: KindMAC, Agreed: Agreed{Link: 1}, Counter: 0xffffffff, Body: []byte("xy"), Tag: []byte("12345678")}, "41 01000000 ffffffff 7879 3132333435363738"},
	{Message{Kind: KindAEAD, Body: []byte("x"), Tag: []byte("1234567890123456")}, "42 00000000 00000000 78 31323334353637383930313233343536"},
}

func TestMessagesByHand(t *testing.T) {
	for _, c := range messages {
		want := unhex(c.hex)
		got, err := c.Append([]byte("<"))
		check.Same(t, "error", err, nil)
		check.Equal(t, c.Kind.String(), got, append([]byte("<"), want...))
		m, err := Decode(want)
		check.Same(t, "error", err, nil)
		check.Equal(t, "decoded", m, c.Message)
	}
}

// set returns the bytes of a message with some of them changed.
func set(message int, at int, hex string) []byte {
	b := unhex(messages[message].hex)
	copy(b[at:], unhex(hex))
	return b
}

// bad are datagrams that a decoder refuses, each by another rule (CXH-20 to CXH-27, CXH-29 to CXH-36).
var bad = [][]byte{
	nil, unhex("3f"), set(0, 1, "01"), unhex("48"), append(unhex(messages[0].hex), 1), set(2, 22, "3f"), set(2, 23, "11"), set(2, 27, "0900"),
	set(2, 22, "40"), set(1, 17, "0000000000000040"), set(3, 17, "00000000"), set(3, 53, "11"), set(3, 54, "00"), set(3, 57, "0900"), set(4, 18, "00"),
	append(unhex("42 01000000"), make([]byte, 1221)...),
}

// What a decoder refuses an encoder does, at the same place (CXH-11); dst stays as it is.
func TestWhatAnEncoderRefuses(t *testing.T) {
	offer := func(kind Kind, change func(*Offer)) Message { return Message{Kind: kind, Offer: with(sample, change)} }
	agreed := func(a Agreed) Message { return Message{Kind: KindLinked, Agreed: a} }
	good := Agreed{Link: 1, Lanes: 1, Variant: 1, Timeout: second}
	for _, c := range []struct {
		Message
		code core.Code
		at   int
	}{
		{Message{}, CodeUnknownKind, 0},
		{Message{Kind: 0x47}, CodeUnknownKind, 0},
		{offer(KindProof, func(o *Offer) { o.Mode = 0x43 }), CodeMode, 22},
		{offer(KindProof, func(o *Offer) { o.Mode = 0x3f }), CodeMode, 22},
		{offer(KindProof, func(o *Offer) { o.Lanes = 17 }), CodeLanes, 23},
		{offer(KindProof, func(o *Offer) { o.Lanes = -1 }), CodeLanes, 23},
		{offer(KindProof, func(o *Offer) { o.Timeout = 900 * ms }), CodeTimeout, 27},
		{offer(KindProof, func(o *Offer) { o.Timeout = 3600*second + 100*ms }), CodeTimeout, 27},
		{offer(KindProof, func(o *Offer) { o.Timeout = second + 1 }), CodeTimeout, 27},
		{offer(KindProof, func(o *Offer) { o.Mode = CRC }), CodeMode, 22},
		{Message{Kind: KindChallenge, Stamp: 1 << 62}, CodeStamp, 17},
		{Message{Kind: KindProof, Offer: sample, Stamp: 1 << 62}, CodeStamp, 97},
		{agreed(with(good, func(a *Agreed) { a.Link = 0 })), CodeLink, 17},
		{agreed(with(good, func(a *Agreed) { a.Lanes = 17 })), CodeLanes, 53},
		{agreed(with(good, func(a *Agreed) { a.Lanes = -1 })), CodeLanes, 53},
		{agreed(with(good, func(a *Agreed) { a.Variant = 6 })), CodeVariant, 54},
		{agreed(with(good, func(a *Agreed) { a.Variant = 0 })), CodeVariant, 54},
		{agreed(with(good, func(a *Agreed) { a.Lanes = 0 })), CodeVariant, 54},
		{agreed(with(good, func(a *Agreed) { a.Timeout = second - 100*ms })), CodeTimeout, 57},
		{agreed(with(good, func(a *Agreed) { a.Timeout = second + 50*ms })), CodeTimeout, 57},
		{Message{Kind: KindRefused}, CodeReason, 18},
		{Message{Kind: KindCRC, Tag: make([]byte, 4)}, CodeTruncated, 13},
		{Message{Kind: KindMAC, Body: make([]byte, 9), Tag: make([]byte, 4)}, CodeTruncated, 22},
		{Message{Kind: KindAEAD, Body: make([]byte, 1201), Tag: make([]byte, 16)}, CodeTrailingData, 1225},
	} {
		var e *Error
		if err := c.Validate(); !errors.As(err, &e) || e.Code() != c.code || e.Place() != c.at {
			t.Errorf("%+v: %v, want %s at %d", c.Message, err, c.code, c.at)
		}
		out, err := c.Append([]byte("<"))
		check.Equal(t, "dst", string(out), "<")
		check.That(t, errors.Is(err, format.Sentinel(c.code)), "the same error")
	}
	check.Same(t, "a sound one", (&Message{Kind: KindProof, Offer: sample}).Validate(), nil)
	check.Same(t, "the largest datagram", (&Message{Kind: KindAEAD, Body: make([]byte, 1200), Tag: make([]byte, 16)}).Validate(), nil)
}

// drawMessage draws any message that is sound.
func drawMessage(t *rapid.T) (m Message) {
	bytesOf := func(n int, name string) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, name) }
	timeout := func() core.Micros {
		return core.Micros(rapid.IntRange(10, 36_000).Draw(t, "timeout")) * timeoutUnit
	}
	m.Kind = rapid.SampledFrom([]Kind{KindLink, KindChallenge, KindProof, KindLinked, KindRefused, KindCRC, KindMAC, KindAEAD}).Draw(t, "kind")
	if m.Kind.isData() {
		m.Agreed.Link, m.Counter = rapid.Uint32().Draw(t, "link"), rapid.Uint32().Draw(t, "counter")
		m.Body = bytesOf(rapid.IntRange(1, 40).Draw(t, "size"), "body")
		m.Tag = bytesOf(Mode(m.Kind).tagSize(), "tag")
		return m
	}
	m.Nonce = Nonce(bytesOf(16, "nonce"))
	if m.Kind == KindLink || m.Kind == KindChallenge {
		m.Versions = Versions(bytesOf(8, "versions"))
	}
	if m.Kind == KindProof {
		m.Offer = Offer{
			Nonce: m.Nonce, Protocol: rapid.Uint32().Draw(t, "protocol"), Mode: Mode(rapid.IntRange(0x40, 0x42).Draw(t, "mode")), Lanes: rapid.IntRange(0, 16).Draw(t, "lanes"),
			Variants: rapid.Uint8().Draw(t, "variants"), Extensions: rapid.Uint16().Draw(t, "extensions"), Timeout: timeout(),
			Format: [8]byte(bytesOf(8, "format")), Identity: rapid.Uint64().Draw(t, "identity"), Resume: rapid.Uint32().Draw(t, "resume"),
			Digest: [16]byte(bytesOf(16, "digest")), Share: Share(bytesOf(32, "share")),
		}
		m.Move = [16]byte(bytesOf(16, "move"))
		if m.Mode == CRC {
			m.Identity = 0
		}
	}
	if m.Kind == KindChallenge || m.Kind == KindProof {
		m.Stamp, m.Cookie = rapid.Uint64Range(0, 1<<62-1).Draw(t, "stamp"), [16]byte(bytesOf(16, "cookie"))
	}
	if m.Kind >= KindProof {
		m.Proof = [16]byte(bytesOf(16, "proof"))
	}
	switch m.Kind {
	case KindLink:
		m.Reserved = [reservedSize]byte(bytesOf(reservedSize, "reserved"))
	case KindChallenge:
		m.Version = rapid.Uint8().Draw(t, "version")
	case KindLinked:
		m.Agreed = Agreed{Link: rapid.Uint32Range(1, 1<<32-1).Draw(t, "link"), Lanes: rapid.IntRange(0, 16).Draw(t, "lanes"), Extensions: rapid.Uint16().Draw(t, "extensions"), Timeout: timeout()}
		if m.Agreed.Lanes > 0 {
			m.Agreed.Variant = 1 << rapid.IntRange(0, 7).Draw(t, "variant")
		}
		m.Share = Share(bytesOf(32, "share"))
	case KindRefused:
		m.Version, m.Reason = rapid.Uint8().Draw(t, "version"), Reason(rapid.IntRange(1, 255).Draw(t, "reason"))
	}
	return m
}

// A message has one encoding, and bytes that a decoder takes are it (CXH-10): also when a few of
// them are changed, or the end is.
func TestOneEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMessage(t)
		b := check.Must(m.Append(nil))
		back, err := Decode(b)
		check.Same(t, "error", err, nil)
		check.Equal(t, "decoded", back, m)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		b = slices.Concat(b[:rapid.IntRange(len(b)-1, len(b)).Draw(t, "cut")], bytes.Repeat([]byte{0}, rapid.IntRange(0, 1).Draw(t, "more")))
		if back, err = Decode(b); err == nil {
			check.Equal(t, "encoded again", check.Must(back.Append(nil)), b)
		}
	})
}

// Any bytes are refused or taken, and cost nothing (CXH-12, CXT-SAFE-7).
func TestAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 160).Draw(t, "bytes")
		if len(b) > 0 && rapid.Bool().Draw(t, "a kind") {
			b[0] = byte(rapid.IntRange(0x3f, 0x4d).Draw(t, "kind"))
		}
		if m, err := Decode(b[:len(b):len(b)]); err == nil {
			check.Equal(t, "encoded again", check.Must(m.Append(nil)), b)
		}
	})
}

// What data have point into the datagram, and have no room behind them.
func TestBodyAndTagAreTheDatagrams(t *testing.T) {
	b := append(unhex(messages[5].hex), 0xaa)[:14]
	m := check.Must(Decode(b))
	_ = append(m.Body, 1)
	_ = append(m.Tag, 2)
	check.Equal(t, "untouched", b[:15:15], append(unhex(messages[5].hex), 0xaa))
	check.That(t, &m.Body[0] == &b[9] && &m.Tag[0] == &b[10], "they are the datagram's")
}

func TestDecodingAllocatesNothing(t *testing.T) {
	var all [][]byte
	for _, c := range messages {
		all = append(all, unhex(c.hex))
	}
	all = append(all, bad...)
	check.Equal(t, "allocations", testing.AllocsPerRun(100, func() {
		for _, b := range all {
			_, sinkErr = Decode(b)
		}
	}), 0)
}

var sinkErr error
