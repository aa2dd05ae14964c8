package main

import (
	"encoding/hex"
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/sessionoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// sessionKeysGroup is the keys, cookies and proofs.
func sessionKeysGroup(g *group) {
	g.derivedKeys()
	g.cookies()
	g.proofs()
}

// keysRequest is a request for keys in which every value has its own bytes.
func keysRequest() contract.SessionKeysRequest {
	return contract.SessionKeysRequest{
		Op: contract.OpSessionKeys, Key: hex.EncodeToString(bytesFrom(0xc0, 32)), Offer: hex.EncodeToString(sessionoracle.OfferOf(linkMessage())),
		Link: 0x55667788, ServerNonce: hex.EncodeToString(bytesFrom(0x70, 16)), Lanes: 2, Variant: 1, Extensions: 0x0102, Timeout: 100,
	}
}

// derivedKeys changes each input of the keys by itself.
func (g *group) derivedKeys() {
	for _, one := range []struct {
		name   string
		change func(*contract.SessionKeysRequest)
	}{
		{"usual", func(*contract.SessionKeysRequest) {}},
		{"anonymous", func(q *contract.SessionKeysRequest) { q.Key = hex.EncodeToString(make([]byte, 32)) }},
		{"other-key", func(q *contract.SessionKeysRequest) { q.Key = hex.EncodeToString(bytesFrom(0xc1, 32)) }},
		{"other-offer", func(q *contract.SessionKeysRequest) {
			q.Offer = hex.EncodeToString(sessionoracle.OfferOf(changed(linkMessage(), func(m *sessionoracle.Message) { m.Extensions = 0 })))
		}},
		{"other-nonce", func(q *contract.SessionKeysRequest) {
			q.Offer = hex.EncodeToString(sessionoracle.OfferOf(changed(linkMessage(), func(m *sessionoracle.Message) { m.Nonce = bytesFrom(0x11, 16) })))
		}},
		{"link", func(q *contract.SessionKeysRequest) { q.Link = 0x88776655 }},
		{"largest-link", func(q *contract.SessionKeysRequest) { q.Link = 1<<32 - 1 }},
		{"server-nonce", func(q *contract.SessionKeysRequest) { q.ServerNonce = hex.EncodeToString(bytesFrom(0x71, 16)) }},
		{"lanes", func(q *contract.SessionKeysRequest) { q.Lanes = 16 }},
		{"no-lanes", func(q *contract.SessionKeysRequest) { q.Lanes, q.Variant = 0, 0 }},
		{"variant", func(q *contract.SessionKeysRequest) { q.Variant = 128 }},
		{"extensions", func(q *contract.SessionKeysRequest) { q.Extensions = 0x0201 }},
		{"timeout", func(q *contract.SessionKeysRequest) { q.Timeout = 36000 }},
	} {
		q := keysRequest()
		one.change(&q)
		g.addSession("keys-"+one.name, about{"Catches a port that leaves something out of the keys, or has it in another order or width.", "key-derivation", "CXK-1 CXK-2 CXK-3 CXN-6"}, accepted, q, sessionKeys(q))
	}
}

func (g *group) cookies() {
	offer := hex.EncodeToString(sessionoracle.OfferOf(linkMessage()))
	secret := hex.EncodeToString(bytesFrom(0xd0, 32))
	cookie := func(name, address, sentences string, stamp int64, secret, offer string) {
		q := contract.SessionCookieRequest{Op: contract.OpSessionCookie, Secret: secret, Stamp: stamp, Address: address, Offer: offer}
		g.addSession("cookie-"+name, about{"Catches a port that leaves something out of a cookie, or writes an address in another way.", "cookie", sentences}, accepted, q, sessionCookie(q))
	}
	for _, a := range []struct{ name, text string }{
		{"ipv4", "192.0.2.1:40000"}, {"ipv4-port-0", "192.0.2.1:0"}, {"ipv4-port-65535", "192.0.2.1:65535"}, {"ipv4-other", "1.2.3.4:5"},
		{"ipv4-mapped", "[::ffff:192.0.2.1]:40000"}, {"ipv6", "[2001:db8::1]:40000"}, {"ipv6-long", "[2001:db8:1:2:3:4:5:6]:443"},
		{"ipv6-loopback", "[::1]:1"}, {"no-ip", "pipe-7"}, {"no-ip-with-port", "example:40000"}, {"ipv6-zone", "[fe80::1%eth0]:40000"}, {"ipv6-other-zone", "[fe80::1%eth1]:40000"}, {"no-port", "192.0.2.1"}, {"empty-text", ""},
	} {
		cookie(a.name, a.text, "CXK-4 CXN-7", 1_000_000, secret, offer)
	}
	for _, stamp := range []int64{0, 1, 1 << 32, 1<<62 - 1} {
		cookie(fmt.Sprintf("stamp-%d", stamp), "192.0.2.1:40000", "CXK-4 CXK-5", stamp, secret, offer)
	}
	cookie("other-secret", "192.0.2.1:40000", "CXK-4 CXK-10", 1_000_000, hex.EncodeToString(make([]byte, 32)), offer)
	cookie("other-offer", "192.0.2.1:40000", "CXK-4", 1_000_000, secret, hex.EncodeToString(sessionoracle.OfferOf(changed(linkMessage(), func(m *sessionoracle.Message) { m.Resume = 0 }))))
}

func (g *group) proofs() {
	cookie, key := hex.EncodeToString(bytesFrom(0x30, 16)), hex.EncodeToString(bytesFrom(0xc0, 32))
	offer := hex.EncodeToString(sessionoracle.OfferOf(linkMessage()))
	proof := func(name, sentences, key string, m sessionoracle.Message, stamp int64, cookie string) {
		q := contract.SessionProofRequest{Op: contract.OpSessionProof, Key: key, Hex: hex.EncodeToString(messageBytes(m)), Offer: offer, Stamp: stamp, Cookie: cookie}
		g.addSession("proof-"+name, about{"Catches a port that leaves something out of a proof, or has it in another order.", "proof", sentences}, accepted, q, sessionProof(q))
	}
	sentences := map[string]string{sessionoracle.TypeProof: "CXK-6 CXN-6", sessionoracle.TypeLinked: "CXK-7 CXN-6", sessionoracle.TypeRefused: "CXK-8 CXN-6"}
	for _, m := range []sessionoracle.Message{proofMessage(), linkedMessage(), refusedMessage()} {
		s := sentences[m.Type]
		proof("of-"+m.Type, s, key, m, 0x0102030405060708, cookie)
		proof("of-"+m.Type+"-other-proof", s, key, changed(m, func(m *sessionoracle.Message) { m.Proof = make([]byte, 16) }), 0x0102030405060708, cookie)
		proof("of-"+m.Type+"-other-nonce", s, key, changed(m, func(m *sessionoracle.Message) { m.Nonce = bytesFrom(0x11, 16) }), 0x0102030405060708, cookie)
		proof("of-"+m.Type+"-other-stamp", s, key, m, 7, cookie)
		proof("of-"+m.Type+"-other-cookie", s, key, m, 0x0102030405060708, hex.EncodeToString(make([]byte, 16)))
		offer = hex.EncodeToString(sessionoracle.OfferOf(changed(linkMessage(), func(m *sessionoracle.Message) { m.Resume = 0 })))
		proof("of-"+m.Type+"-other-offer", s, key, m, 0x0102030405060708, cookie)
		offer = hex.EncodeToString(sessionoracle.OfferOf(linkMessage()))
		proof("of-"+m.Type+"-zero-key", s+" CXK-3", hex.EncodeToString(make([]byte, 32)), m, 0x0102030405060708, cookie)
	}
}
