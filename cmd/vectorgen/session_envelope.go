package main

import (
	"encoding/hex"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// theModes are all modes.
var theModes = []string{sessionoracle.CRC, sessionoracle.MAC, sessionoracle.AEAD}

// modeSentence is the sentence on the tag of a mode.
var modeSentence = map[string]string{sessionoracle.CRC: "CXE-2", sessionoracle.MAC: "CXE-3", sessionoracle.AEAD: "CXE-4"}

// usualDirection is a direction of a link where neither matters.
func usualDirection(mode string) sessionoracle.Direction {
	return sessionoracle.Direction{Mode: mode, Key: bytesFrom(0xc0, 32), Link: 0x55667788}
}

// seal adds the sealing of a body.
func (g *group) seal(name string, why about, d sessionoracle.Direction, c int64, body []byte) {
	q := contract.SessionSealRequest{Op: contract.OpSessionSeal, Mode: d.Mode, Key: hex.EncodeToString(d.Key), Link: d.Link, Counter: c, Body: hex.EncodeToString(body)}
	g.addSession(name, why, accepted, q, sessionSealed(q))
}

// open adds the opening of a datagram. want is accepted, or CODE@PLACE.
func (g *group) open(name string, why about, want string, d sessionoracle.Direction, taken []int64, datagram []byte) {
	q := contract.SessionOpenRequest{Op: contract.OpSessionOpen, Mode: d.Mode, Key: hex.EncodeToString(d.Key), Link: d.Link, Taken: taken, Hex: hex.EncodeToString(datagram)}
	if taken == nil {
		q.Taken = []int64{}
	}
	g.addSession(name, why, want, q, sessionOpened(q))
}

// sessionEnvelope is the envelope of the three modes, sealed and opened.
func sessionEnvelope(g *group) {
	for _, mode := range theModes {
		g.sealed(mode)
		g.counters(mode)
		g.forged(mode)
	}
	g.replayed()
	g.heads()
}

func (g *group) sealed(mode string) {
	d := usualDirection(mode)
	for _, size := range []int{1, 2, 16, 63, 64, 65, 1160} {
		why := about{fmt.Sprintf("Catches a port that covers other bytes than the document says, with a body of %d.", size), "tag", "CXE-1 CXE-5 " + modeSentence[mode]}
		g.seal(fmt.Sprintf("%s-seal-%d-bytes", mode, size), why, d, 5, sample(size))
		g.open(fmt.Sprintf("%s-open-%d-bytes", mode, size), why, accepted, d, []int64{4}, d.Seal(5, sample(size)))
	}
	for _, link := range []int64{1, 1<<32 - 1} {
		other := d
		other.Link = link
		g.seal(fmt.Sprintf("%s-seal-link-%d", mode, link), about{"Catches a port that has the link elsewhere, or big-endian.", "tag byte-order", "CXE-1 " + modeSentence[mode]}, other, 0, []byte{0})
	}
	other := d
	other.Key = make([]byte, 32)
	g.seal(mode+"-seal-zero-key", about{"Catches a port that takes a key of zeros for none.", "tag", modeSentence[mode]}, other, 0, []byte{0})
	for at := range 32 {
		if mode != sessionoracle.CRC && at%8 != 0 {
			continue
		}
		other.Key = make([]byte, 32)
		other.Key[at] = 1
		g.seal(fmt.Sprintf("%s-seal-key-byte-%d", mode, at), about{fmt.Sprintf("Catches a port that uses byte %d of the key where it must not, or does not use it.", at), "tag", modeSentence[mode] + " CXK-2"}, other, 1, []byte{1, 2, 3})
	}
}

// counters is c, of which 32 bits are on the wire and 64 are covered.
func (g *group) counters(mode string) {
	d := usualDirection(mode)
	for _, c := range []int64{0, 1, 255, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 5, 1<<40 + 1, 1<<62 - 1} {
		g.seal(fmt.Sprintf("%s-seal-counter-%d", mode, c), about{fmt.Sprintf("Catches a port that covers the 32 bits on the wire, not the counter %d.", c), "counter", "CXE-5 " + modeSentence[mode]}, d, c, []byte("counter"))
	}
	for _, one := range []struct {
		name  string
		taken []int64
		c     int64
	}{
		{"first", nil, 0},
		{"first-is-late", nil, 7},
		{"largest-step", nil, 1<<31 - 1},
		{"next", []int64{0, 1, 2}, 3},
		{"one-between", []int64{0, 1, 3}, 2},
		{"oldest", []int64{1023}, 0},
		{"wraps", []int64{1<<31 - 1, 1<<32 - 2, 1<<32 - 1}, 1 << 32},
		{"after-a-wrap", []int64{1 << 30, 1<<31 + 1<<30, 1<<32 + 3}, 1<<32 + 4},
		{"before-a-wrap", []int64{1 << 30, 1<<31 + 1<<30, 1<<32 + 3}, 1<<32 - 3},
		{"half-ahead", []int64{1 << 30, 1<<31 + 1<<30}, 1<<32 + 1<<30},
	} {
		g.open(fmt.Sprintf("%s-open-%s", mode, one.name), about{"Catches a port that takes the 4 bytes of a counter for another c.", "counter wrap", "CXE-6 CXE-7 " + modeSentence[mode]}, accepted, d, one.taken, d.Seal(one.c, []byte("counter")))
	}
}

// forged is datagrams in which one bit is another, and one of another end.
func (g *group) forged(mode string) {
	d := usualDirection(mode)
	whole := d.Seal(9, []byte("genuine"))
	tagAt := len(whole) - map[string]int{sessionoracle.CRC: 4, sessionoracle.MAC: 8, sessionoracle.AEAD: 16}[mode]
	tagged := fmt.Sprintf("tag@%d", tagAt)
	why := about{"Catches a port that does not cover all bytes, or does not compare all of the tag.", "tag", "CXE-8 " + modeSentence[mode]}
	for _, at := range []int{9, tagAt - 1, tagAt, len(whole) - 1} {
		for _, bit := range []int{0, 7} {
			g.open(fmt.Sprintf("%s-flipped-%d.%d", mode, at, bit), why, tagged, d, nil, flipped(whole, 8*at+bit))
		}
	}
	g.open(mode+"-counter-changed", about{"Catches a port whose tag does not cover the counter on the wire.", "tag counter", "CXE-8 " + modeSentence[mode]}, tagged, d, nil, with(whole, 5, 10))
	g.open(mode+"-counter-of-another-turn", about{"Catches a port whose tag covers 32 bits of the counter: an old datagram comes back after 2^32.", "tag counter", "CXE-8 CXE-6 " + modeSentence[mode]}, tagged, d, []int64{1<<31 - 1, 1<<32 - 2, 1<<32 + 1}, whole)
	other := d
	other.Key = bytesFrom(0xc1, 32)
	g.open(mode+"-other-key", about{"Catches a port that opens with another key, or does not compare the tag.", "tag", "CXE-8 " + modeSentence[mode]}, tagged, other, nil, whole)
	g.open(mode+"-other-link", about{"Catches a port that opens a datagram of another link.", "tag", "CXE-8"}, "unknown_link@1", sessionoracle.Direction{Mode: mode, Key: d.Key, Link: d.Link + 1}, nil, whole)
}

// replayed is the window of counters.
func (g *group) replayed() {
	d := usualDirection(sessionoracle.MAC)
	body := []byte("again")
	why := about{"Catches a port that takes a datagram twice, or forgets what it took too early.", "replay", "CXE-7 CXE-8"}
	up := func(from, to int64) (list []int64) {
		for c := from; c <= to; c++ {
			list = append(list, c)
		}
		return list
	}
	for _, one := range []struct {
		name, want string
		taken      []int64
		c          int64
	}{
		{"duplicate-of-the-highest", "duplicate@5", []int64{3}, 3},
		{"duplicate-of-an-older-one", "duplicate@5", []int64{1, 2, 3}, 1},
		{"duplicate-at-the-edge", "duplicate@5", []int64{0, 1023}, 0},
		{"duplicate-of-0", "duplicate@5", []int64{0}, 0},
		{"duplicate-one-of-all", "duplicate@5", up(0, 99), 57},
		{"duplicate-behind-a-jump", "duplicate@5", []int64{5, 1000}, 5},
		{"slot-was-used", accepted, []int64{5, 1028}, 1029},
		{"slot-is-free-after-a-turn", accepted, []int64{5, 1030}, 1029},
		{"slot-is-free-after-a-jump", accepted, []int64{5, 5000}, 4997},
		{"stale-by-one", "stale@5", []int64{1024}, 0},
		{"stale-and-taken", "stale@5", []int64{0, 1024}, 0},
		{"stale-by-far", "stale@5", []int64{100_000}, 5},
		{"stale-below-0", "stale@5", []int64{10}, 1<<32 - 1},
		{"stale-before-anything", "stale@5", nil, 1<<32 - 1},
		{"stale-half-behind", "stale@5", []int64{1 << 30, 1<<31 + 1<<30}, 1<<30 + 1},
	} {
		g.open(one.name, why, one.want, d, one.taken, d.Seal(one.c, body))
	}
	broken := d.Seal(3, body)
	broken[len(broken)-1] ^= 1
	g.open("duplicate-before-tag", about{"Catches a port that reports, or computes, the tag of a duplicate.", "replay check-order", "CXE-8"}, "duplicate@5", d, []int64{3}, broken)
	stale := d.Seal(3, body)
	stale[len(stale)-1] ^= 1
	g.open("stale-before-tag", about{"Catches a port that reports, or computes, the tag of a stale datagram.", "replay check-order", "CXE-8"}, "stale@5", d, []int64{3000}, stale)
}

// heads is what is refused before a tag is looked at.
func (g *group) heads() {
	d := usualDirection(sessionoracle.MAC)
	whole := d.Seal(9, []byte("genuine"))
	g.open("no-byte", about{"Catches a port that reads a datagram without a byte.", "truncation", "CXE-8 CXH-9"}, "truncated@0", d, nil, nil)
	for _, n := range []int{1, 9, 17} {
		g.open(fmt.Sprintf("cut-to-%d", n), about{"Catches a port that reads a tag that is not there.", "truncation", "CXE-8 CXE-1"}, fmt.Sprintf("truncated@%d", n), d, nil, whole[:n])
	}
	g.open("largest", about{"Catches a port that refuses the largest datagram.", "size-limit", "CXE-8 CXH-9"}, accepted, usualDirection(sessionoracle.AEAD), nil, usualDirection(sessionoracle.AEAD).Seal(9, sample(1200)))
	for _, size := range []int{1201, 4000} {
		g.open(fmt.Sprintf("too-large-%d", size), about{"Catches a port that computes a tag over a datagram which no connection sends.", "size-limit", "CXE-8 CXH-9 CXT-BND-5"}, "trailing_data@1225", usualDirection(sessionoracle.AEAD), nil, usualDirection(sessionoracle.AEAD).Seal(9, sample(size)))
	}
	g.open("unknown-kind", about{"Catches a port that opens what is no datagram with data.", "message-kind", "CXE-8 CXH-9"}, "unknown_kind@0", d, nil, with(whole, 0, 0x43))
	for _, m := range messages() {
		g.open("message-"+m.message.Type, about{"Catches a port that opens a message of the handshake, or asks it for a link.", "message-kind", "CXE-8 CXH-9"}, "unknown_kind@0", d, nil, messageBytes(m.message))
	}
	for _, mode := range []string{sessionoracle.CRC, sessionoracle.AEAD} {
		other := sessionoracle.Direction{Mode: mode, Key: d.Key, Link: d.Link}
		g.open("mode-"+mode, about{"Catches a port that lets the sender of a datagram choose how it is protected.", "tag", "CXE-8"}, "mode@0", d, nil, other.Seal(9, []byte("genuine body")))
	}
	foreign := sessionoracle.Direction{Mode: sessionoracle.CRC, Key: d.Key, Link: 1}
	g.open("link-before-mode", about{"Catches a port that makes its checks in another order.", "check-order", "CXE-8"}, "unknown_link@1", d, nil, foreign.Seal(9, []byte("genuine body")))
	g.open("mode-before-stale", about{"Catches a port that makes its checks in another order.", "check-order", "CXE-8"}, "mode@0", d, []int64{5000}, with(whole, 0, 0x40))
}
