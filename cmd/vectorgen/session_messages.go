package main

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// The messages of each type, with values in whose bytes a shift or another order shows.

// bytesFrom is n bytes that ascend from one.
func bytesFrom(first byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = first + byte(i)
	}
	return b
}

func linkMessage() sessionoracle.Message {
	return sessionoracle.Message{
		Type: sessionoracle.TypeLink, Nonce: bytesFrom(0x10, 16), Protocol: 0x11223344, Mode: sessionoracle.AEAD, Lanes: 2, Variants: 1,
		Extensions: 0x0102, Timeout: 100, Format: bytesFrom(0xa0, 8), Identity: bytesFrom(0xb0, 8), Resume: 0x55667788,
	}
}

func challengeMessage() sessionoracle.Message {
	return sessionoracle.Message{Type: sessionoracle.TypeChallenge, Nonce: bytesFrom(0x10, 16), Stamp: 0x0102030405060708, Cookie: bytesFrom(0x30, 16)}
}

func proofMessage() sessionoracle.Message {
	m := linkMessage()
	m.Type, m.Stamp, m.Cookie, m.Proof = sessionoracle.TypeProof, 0x0102030405060708, bytesFrom(0x30, 16), bytesFrom(0x50, 16)
	return m
}

func linkedMessage() sessionoracle.Message {
	return sessionoracle.Message{
		Type: sessionoracle.TypeLinked, Nonce: bytesFrom(0x10, 16), Link: 0x55667788, ServerNonce: bytesFrom(0x70, 16), Lanes: 2, Variant: 1,
		Extensions: 0x0102, Timeout: 100, Proof: bytesFrom(0x50, 16),
	}
}

func refusedMessage() sessionoracle.Message {
	return sessionoracle.Message{Type: sessionoracle.TypeRefused, Nonce: bytesFrom(0x10, 16), Version: 1, Reason: sessionoracle.ReasonIdentity, Proof: bytesFrom(0x50, 16)}
}

// messages are one of each type, with the sentence that lays it out.
func messages() []struct {
	message  sessionoracle.Message
	sentence string
} {
	return []struct {
		message  sessionoracle.Message
		sentence string
	}{
		{linkMessage(), "CXH-3"}, {challengeMessage(), "CXH-4"}, {proofMessage(), "CXH-5"}, {linkedMessage(), "CXH-6"}, {refusedMessage(), "CXH-7"},
	}
}

// changed is a message with something else in it.
func changed(m sessionoracle.Message, change func(*sessionoracle.Message)) sessionoracle.Message {
	change(&m)
	return m
}

// sessionMessages is the messages of the handshake, encoded and decoded.
func sessionMessages(g *group) {
	for _, m := range messages() {
		g.messageBothWays(m.message.Type, about{"Catches a port that has a field at another place, in another width, or big-endian.", "byte-order field-width", "CXN-4 CXH-1 " + m.sentence}, m.message)
	}
	g.offers()
	g.stampsAndLinks()
	g.linkedValues()
	for reason := int64(1); reason <= 9; reason++ {
		if reason == refusedMessage().Reason {
			continue
		}
		g.messageBothWays(fmt.Sprintf("refused-reason-%d", reason), about{fmt.Sprintf("Catches a port that does not know the reason %d.", reason), "message-value", "CXH-7 CXH-8"},
			changed(refusedMessage(), func(m *sessionoracle.Message) { m.Reason = reason }))
	}
	for _, version := range []int64{0, 2, 255} {
		g.messageBothWays(fmt.Sprintf("refused-version-%d", version), about{fmt.Sprintf("Catches a port that cannot be told that a server has version %d.", version), "message-value", "CXH-7"},
			changed(refusedMessage(), func(m *sessionoracle.Message) { m.Version, m.Reason = version, sessionoracle.ReasonVersion }))
	}
	g.messageBothWays("refused-unproven", about{"Catches a port that takes zeros for a proof that is missing.", "message-value", "CXH-7 CXK-8"},
		changed(refusedMessage(), func(m *sessionoracle.Message) { m.Proof = make([]byte, 16) }))
	g.dataHeads()
}

// offers is the values of an offer at their boundaries.
func (g *group) offers() {
	for _, mode := range []string{sessionoracle.CRC, sessionoracle.MAC} {
		g.messageBothWays("link-"+mode, about{"Catches a port that writes another number for the mode " + mode + ".", "message-value", "CXH-2 CXP-1"},
			changed(linkMessage(), func(m *sessionoracle.Message) { m.Mode = mode }))
	}
	for _, n := range []int64{0, 1, 16} {
		g.messageBothWays(fmt.Sprintf("link-lanes-%d", n), about{fmt.Sprintf("Catches a port that refuses %d lanes.", n), "message-value", "CXH-2 CXP-1"},
			changed(linkMessage(), func(m *sessionoracle.Message) { m.Lanes = n }))
	}
	for _, n := range []int64{0, 2, 3, 128, 255} {
		g.messageBothWays(fmt.Sprintf("link-variants-%d", n), about{"Catches a port that refuses an offer for variants that it does not know: the server decides.", "message-value", "CXH-2 CXP-3"},
			changed(linkMessage(), func(m *sessionoracle.Message) { m.Variants = n }))
	}
	for _, n := range []int64{0, 1, 0x8000, 0xffff} {
		g.messageBothWays(fmt.Sprintf("link-extensions-%d", n), about{"Catches a port that refuses an offer for extensions that it does not know.", "message-value byte-order", "CXH-2 CXP-3"},
			changed(linkMessage(), func(m *sessionoracle.Message) { m.Extensions = n }))
	}
	for _, n := range []int64{10, 11, 255, 256, 36000} {
		g.messageBothWays(fmt.Sprintf("link-timeout-%d", n), about{fmt.Sprintf("Catches a port that refuses a timeout of %d tenths of a second, or has it in one byte.", n), "message-value byte-order", "CXH-2 CXP-1"},
			changed(linkMessage(), func(m *sessionoracle.Message) { m.Timeout = n }))
	}
	for _, n := range []int64{0, 1, 0x80000000, 0xffffffff} {
		g.messageBothWays(fmt.Sprintf("link-protocol-%d", n), about{"Catches a port that keeps the protocol id with a sign, or in fewer bits.", "field-width integer-wrap", "CXH-2"},
			changed(linkMessage(), func(m *sessionoracle.Message) { m.Protocol = n }))
		g.messageBothWays(fmt.Sprintf("proof-resume-%d", n), about{"Catches a port that keeps the link with a sign, or in fewer bits.", "field-width integer-wrap", "CXH-2 CXH-5"},
			changed(proofMessage(), func(m *sessionoracle.Message) { m.Resume = n }))
	}
	g.messageBothWays("link-anonymous", about{"Catches a port that has no identity 0.", "message-value", "CXH-2"},
		changed(linkMessage(), func(m *sessionoracle.Message) { m.Identity, m.Resume = make([]byte, 8), 0 }))
}

func (g *group) stampsAndLinks() {
	for _, stamp := range []int64{0, 1, 1 << 31, 1 << 32, 1<<53 + 1, 1<<62 - 1} {
		for _, m := range []sessionoracle.Message{challengeMessage(), proofMessage()} {
			m.Stamp = stamp
			g.messageBothWays(fmt.Sprintf("%s-stamp-%d", m.Type, stamp), about{fmt.Sprintf("Catches a port that keeps a stamp of %d in a float, with 32 bits, or with its halves swapped.", stamp), "field-width byte-order", "CXH-4 CXH-5 CXK-5"}, m)
		}
	}
	for _, link := range []int64{1, 255, 1 << 31, 1<<32 - 1} {
		g.messageBothWays(fmt.Sprintf("linked-link-%d", link), about{"Catches a port that keeps a link with a sign, or in fewer bits.", "field-width integer-wrap", "CXH-6"},
			changed(linkedMessage(), func(m *sessionoracle.Message) { m.Link = link }))
	}
}

// linkedValues is what two ends have agreed on.
func (g *group) linkedValues() {
	g.messageBothWays("linked-no-lanes", about{"Catches a port that asks for a variant where no chunks are sent.", "message-value", "CXH-6 CXP-3"},
		changed(linkedMessage(), func(m *sessionoracle.Message) { m.Lanes, m.Variant = 0, 0 }))
	for bit := 1; bit < 8; bit++ {
		g.messageBothWays(fmt.Sprintf("linked-variant-%d", 1<<bit), about{"Catches a port that takes one bit of VARIANTS only, or the number of the bit.", "message-value", "CXH-6 CXP-3"},
			changed(linkedMessage(), func(m *sessionoracle.Message) { m.Variant = 1 << bit }))
	}
	for _, n := range []int64{1, 16} {
		g.messageBothWays(fmt.Sprintf("linked-lanes-%d", n), about{fmt.Sprintf("Catches a port that refuses %d lanes.", n), "message-value", "CXH-6"},
			changed(linkedMessage(), func(m *sessionoracle.Message) { m.Lanes = n }))
	}
	for _, n := range []int64{10, 36000} {
		g.messageBothWays(fmt.Sprintf("linked-timeout-%d", n), about{fmt.Sprintf("Catches a port that refuses a timeout of %d tenths of a second.", n), "message-value", "CXH-6"},
			changed(linkedMessage(), func(m *sessionoracle.Message) { m.Timeout = n }))
	}
}

// dataHeads is the heads of datagrams with data, which are read before any key is known.
func (g *group) dataHeads() {
	for _, mode := range []string{sessionoracle.CRC, sessionoracle.MAC, sessionoracle.AEAD} {
		d := sessionoracle.Direction{Mode: mode, Key: bytesFrom(1, 32), Link: 0x55667788}
		why := about{"Catches a port that finds link, counter or tag elsewhere than they are.", "byte-order field-width", "CXE-1"}
		g.decodeMessage("data-"+mode, why, accepted, d.Seal(0x0102030405060708&(1<<62-1), []byte("abc")))
		g.decodeMessage("data-"+mode+"-shortest", why, accepted, d.Seal(7, []byte{0}))
	}
}

// sessionRefuse is the messages that a decoder or an encoder refuses, one fault each, and some
// with two.
func sessionRefuse(g *group) {
	g.decodeMessage("empty", about{"Catches a decoder that reads a datagram without a byte.", "truncation", "CXH-9"}, "truncated@0", nil)
	for _, kind := range []byte{0x00, 0x01, 0x3f, 0x43, 0x47, 0x4d, 0x4f, 0x7f, 0x80, 0xc8, 0xff} {
		g.decodeMessage(fmt.Sprintf("kind-%d", kind), about{fmt.Sprintf("Catches a decoder that takes the kind %d, or looks at some of its bits only.", kind), "message-kind", "CXH-9"}, "unknown_kind@0", slices.Concat([]byte{kind}, make([]byte, 63)))
	}
	g.wrongSizes()
	g.wrongVersions()
	g.wrongFields()
	g.twoMessageFaults()
	g.refuseToEncodeMessages()
}

func (g *group) wrongSizes() {
	for _, each := range messages() {
		m := each.message
		whole := messageBytes(m)
		size := len(whole)
		for _, n := range slices.Compact([]int{1, 2, 17, size / 2, size - 1}) {
			g.decodeMessage(fmt.Sprintf("%s-cut-to-%d", m.Type, n), about{fmt.Sprintf("Catches a decoder that reads past the %d bytes that are there.", n), "truncation", "CXH-9 CXH-1 " + each.sentence}, fmt.Sprintf("truncated@%d", n), whole[:n])
		}
		for _, more := range [][]byte{{0}, make([]byte, 1000)} {
			g.decodeMessage(fmt.Sprintf("%s-with-%d-more", m.Type, len(more)), about{"Catches a decoder that takes what follows a message, so that one value has several encodings.", "trailing-data canonical", "CXH-9 CXH-10 " + each.sentence}, fmt.Sprintf("trailing_data@%d", size), joined(whole, more))
		}
	}
	for _, mode := range []string{sessionoracle.CRC, sessionoracle.MAC, sessionoracle.AEAD} {
		whole := sessionoracle.Direction{Mode: mode, Key: bytesFrom(1, 32), Link: 1}.Seal(7, []byte{0})
		for _, n := range []int{1, 8, 9, len(whole) - 1} {
			g.decodeMessage(fmt.Sprintf("data-%s-cut-to-%d", mode, n), about{"Catches a decoder that takes a datagram without a body, or reads a tag beyond its end.", "truncation", "CXE-1 CXH-9"}, fmt.Sprintf("truncated@%d", n), whole[:n])
		}
	}
}

func (g *group) wrongVersions() {
	for _, m := range []sessionoracle.Message{linkMessage(), proofMessage()} {
		for _, version := range []byte{0, 2, 129, 255} {
			g.decodeMessage(fmt.Sprintf("%s-version-%d", m.Type, version), about{fmt.Sprintf("Catches a decoder that takes the version %d.", version), "message-version", "CXH-9 CXH-2"}, "version@1", with(messageBytes(m), 1, version))
		}
		g.decodeMessage(m.Type+"-version-2-short", about{"Catches a decoder that asks another version for the size of its own.", "message-version check-order", "CXH-9"}, "version@1", with(messageBytes(m), 1, 2)[:20])
		g.decodeMessage(m.Type+"-version-2-long", about{"Catches a decoder that asks another version for the size of its own.", "message-version check-order", "CXH-9"}, "version@1", joined(with(messageBytes(m), 1, 2), make([]byte, 40)))
	}
}

// wrongFields is a value in each field that has a check.
func (g *group) wrongFields() {
	for _, m := range []sessionoracle.Message{linkMessage(), proofMessage()} {
		b := messageBytes(m)
		for _, mode := range []byte{0, 1, 0x3f, 0x43, 0x48, 0xff} {
			g.decodeMessage(fmt.Sprintf("%s-mode-%d", m.Type, mode), about{fmt.Sprintf("Catches a decoder that takes the mode %d.", mode), "message-value", "CXH-9 CXH-2"}, "mode@22", with(b, 22, mode))
		}
		for _, lanes := range []byte{17, 128, 255} {
			g.decodeMessage(fmt.Sprintf("%s-lanes-%d", m.Type, lanes), about{fmt.Sprintf("Catches a decoder that takes %d lanes.", lanes), "message-value", "CXH-9 CXH-2"}, "lanes@23", with(b, 23, lanes))
		}
		for _, timeout := range []int{0, 9, 36001, 65535} {
			g.decodeMessage(fmt.Sprintf("%s-timeout-%d", m.Type, timeout), about{fmt.Sprintf("Catches a decoder that takes a timeout of %d tenths of a second.", timeout), "message-value", "CXH-9 CXH-2"}, "timeout@27", with(with(b, 27, byte(timeout)), 28, byte(timeout>>8)))
		}
	}
	for _, at := range []int{49, 50, 56, 63} {
		g.decodeMessage(fmt.Sprintf("link-padding-at-%d", at), about{"Catches a decoder that does not look at the zeros of a LINK.", "padding canonical", "CXH-9 CXH-3"}, fmt.Sprintf("padding@%d", at), with(messageBytes(linkMessage()), at, 1))
	}
	g.decodeMessage("link-padding-first", about{"Catches a decoder that reports another byte than the first that is not 0.", "padding check-order", "CXH-9 CXH-3"}, "padding@52", with(with(messageBytes(linkMessage()), 60, 9), 52, 128))
	for _, top := range []byte{0x40, 0x80, 0xff} {
		g.decodeMessage(fmt.Sprintf("challenge-stamp-top-%d", top), about{"Catches a decoder that takes a stamp of 2^62 or more, or reads it with a sign.", "integer-wrap message-value", "CXH-9 CXH-4"}, "stamp@17", with(messageBytes(challengeMessage()), 24, top))
		g.decodeMessage(fmt.Sprintf("proof-stamp-top-%d", top), about{"Catches a decoder that takes a stamp of 2^62 or more, or reads it with a sign.", "integer-wrap message-value", "CXH-9 CXH-5"}, "stamp@49", with(messageBytes(proofMessage()), 56, top))
	}
	linked := messageBytes(linkedMessage())
	none := linked
	for at := 17; at < 21; at++ {
		none = with(none, at, 0)
	}
	g.decodeMessage("linked-link-0", about{"Catches a decoder that takes the link 0, which no connection has.", "message-value", "CXH-9 CXH-6"}, "link@17", none)
	g.decodeMessage("linked-lanes-17", about{"Catches a decoder that takes 17 lanes.", "message-value", "CXH-9 CXH-6"}, "lanes@37", with(linked, 37, 17))
	for _, v := range []byte{0, 3, 5, 0x81, 255} {
		g.decodeMessage(fmt.Sprintf("linked-variant-%d", v), about{"Catches a decoder that takes a set of variants, or none, for one.", "message-value", "CXH-9 CXH-6"}, "variant@38", with(linked, 38, v))
	}
	g.decodeMessage("linked-variant-without-lanes", about{"Catches a decoder that takes a variant where no chunks are sent: two encodings of one agreement.", "canonical message-value", "CXH-9 CXH-6"}, "variant@38", with(linked, 37, 0))
	for _, timeout := range []int{0, 9, 36001, 65535} {
		g.decodeMessage(fmt.Sprintf("linked-timeout-%d", timeout), about{fmt.Sprintf("Catches a decoder that takes a timeout of %d tenths of a second.", timeout), "message-value", "CXH-9 CXH-6"}, "timeout@41", with(with(linked, 41, byte(timeout)), 42, byte(timeout>>8)))
	}
	for _, reason := range []byte{0, 10, 128, 255} {
		g.decodeMessage(fmt.Sprintf("refused-reason-%d", reason), about{fmt.Sprintf("Catches a decoder that takes the reason %d.", reason), "message-value", "CXH-9 CXH-7 CXH-8"}, "reason@18", with(messageBytes(refusedMessage()), 18, reason))
	}
}

// twoMessageFaults is messages with two faults: the first in the order of the checks counts.
func (g *group) twoMessageFaults() {
	link, proof, linked := messageBytes(linkMessage()), messageBytes(proofMessage()), messageBytes(linkedMessage())
	for _, two := range []struct {
		name, want string
		b          []byte
	}{
		{"version-before-mode", "version@1", with(with(link, 1, 3), 22, 0)},
		{"size-before-mode", "truncated@63", with(link, 22, 0)[:63]},
		{"more-before-mode", "trailing_data@64", joined(with(link, 22, 0), []byte{0})},
		{"mode-before-lanes", "mode@22", with(with(link, 22, 0), 23, 99)},
		{"lanes-before-timeout", "lanes@23", with(with(with(link, 23, 99), 27, 0), 28, 0)},
		{"timeout-before-padding", "timeout@27", with(with(with(link, 63, 1), 27, 0), 28, 0)},
		{"lanes-before-stamp", "lanes@23", with(with(proof, 23, 99), 56, 255)},
		{"lanes-before-variant", "lanes@37", with(with(linked, 37, 99), 38, 3)},
		{"variant-before-timeout", "variant@38", with(with(with(linked, 38, 3), 41, 0), 42, 0)},
	} {
		g.decodeMessage(two.name, about{"Catches a decoder that makes its checks in another order.", "check-order", "CXH-9"}, two.want, two.b)
	}
}

func (g *group) refuseToEncodeMessages() {
	why := about{"Catches an encoder that writes what its own decoder would refuse.", "encoder", "CXH-11"}
	for _, one := range []struct {
		name, want string
		m          sessionoracle.Message
	}{
		{"encode-link-mode", "mode@22", changed(linkMessage(), func(m *sessionoracle.Message) { m.Mode = "none" })},
		{"encode-link-lanes", "lanes@23", changed(linkMessage(), func(m *sessionoracle.Message) { m.Lanes = 17 })},
		{"encode-link-timeout-9", "timeout@27", changed(linkMessage(), func(m *sessionoracle.Message) { m.Timeout = 9 })},
		{"encode-link-timeout-36001", "timeout@27", changed(linkMessage(), func(m *sessionoracle.Message) { m.Timeout = 36001 })},
		{"encode-link-two-faults", "mode@22", changed(linkMessage(), func(m *sessionoracle.Message) { m.Mode, m.Timeout = "CRC", 0 })},
		{"encode-proof-lanes", "lanes@23", changed(proofMessage(), func(m *sessionoracle.Message) { m.Lanes = 255 })},
		{"encode-proof-stamp", "stamp@49", changed(proofMessage(), func(m *sessionoracle.Message) { m.Stamp = 1 << 62 })},
		{"encode-challenge-stamp", "stamp@17", changed(challengeMessage(), func(m *sessionoracle.Message) { m.Stamp = 1<<63 - 1 })},
		{"encode-linked-link", "link@17", changed(linkedMessage(), func(m *sessionoracle.Message) { m.Link = 0 })},
		{"encode-linked-lanes", "lanes@37", changed(linkedMessage(), func(m *sessionoracle.Message) { m.Lanes = 17 })},
		{"encode-linked-variant-0", "variant@38", changed(linkedMessage(), func(m *sessionoracle.Message) { m.Variant = 0 })},
		{"encode-linked-variant-3", "variant@38", changed(linkedMessage(), func(m *sessionoracle.Message) { m.Variant = 3 })},
		{"encode-linked-variant-without-lanes", "variant@38", changed(linkedMessage(), func(m *sessionoracle.Message) { m.Lanes = 0 })},
		{"encode-linked-timeout", "timeout@41", changed(linkedMessage(), func(m *sessionoracle.Message) { m.Timeout = 0 })},
		{"encode-refused-reason-0", "reason@18", changed(refusedMessage(), func(m *sessionoracle.Message) { m.Reason = 0 })},
		{"encode-refused-reason-10", "reason@18", changed(refusedMessage(), func(m *sessionoracle.Message) { m.Reason = 10 })},
	} {
		g.encodeMessage(one.name, why, one.want, one.m)
	}
	q := contract.SessionEncodeRequest{Op: contract.OpSessionEncode, Message: messageOf(challengeMessage())}
	q.Message.Type = "hello"
	g.addSession("encode-unknown-type", about{"Catches an encoder that writes a message whose type it does not know.", "encoder", "CXH-11"}, "unknown_kind@0", q, sessionEncoded(q))
}
