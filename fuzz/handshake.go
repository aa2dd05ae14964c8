package fuzz

import (
	"bytes"
	"slices"

	sim "github.com/chunkwire/chunkwire/conform/sim/session"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// A client and a server, each beside its model, over a network that keeps everything that was
// ever sent, and an attacker who sends it again from any address, changed or not, and forges
// what needs no key. No datagram to an address has more bytes than the one that it answers
// (CXT-BND-1). At last the network is good: the client comes to OPEN with the keys that the
// server has, or ends for a reason (CXT-LIVE-1, CXT-LIVE-2).
//
// An input is a byte for how the two are set up, and a script of operations, each a byte and
// what op reads.
var targetHandshake = newTarget("Handshake", "client and server of a session are their models, whatever is lost, doubled, replayed, changed or forged", runHandshake, seedHandshakes)

// handshakeBench is a client, a server and what was sent.
type handshakeBench struct {
	T
	script
	cfg    session.ClientConfig
	server *sim.CheckedServer
	client *sim.CheckedClient
	at     session.Address // where the client is
	clock  core.Micros
	made   byte
	sent   []letter // of both, at any time
}

// letter is a datagram and the address from which a client sent it; the server's have that to
// which they went.
type letter struct {
	address session.Address
	data    []byte
	answer  bool
}

var fuzzTerms = session.Terms{Mode: session.CRC, Lanes: 2, Variants: 1, Timeout: 10 * core.Second}

func runHandshake(t T, data []byte) {
	b := &handshakeBench{T: t, script: script{data}, at: session.Address{1}}
	setup := b.byte()
	b.cfg = session.ClientConfig{Terms: fuzzTerms}
	if setup&1 == 1 {
		b.cfg.Identity, b.cfg.Key = 7, session.Key{7}
	}
	if setup&2 != 0 {
		b.cfg.Lanes, b.cfg.Timeout = 16, core.Second
	}
	if setup&4 != 0 {
		b.cfg.Protocol++ // refused, proven
	}
	if setup&8 != 0 && setup&1 == 1 {
		b.cfg.Key = session.Key{8} // refused, unproven
	}
	b.restartServer()
	b.restartClient()
	for n := 0; b.more() && n < 300; n++ {
		b.op()
	}
	b.finish(setup&4 == 0 && setup&9 != 9)
}

func (b *handshakeBench) restartServer() {
	b.Helper()
	b.made++
	var err error
	cfg := session.ServerConfig{Terms: fuzzTerms, Anonymous: true, MaxConnections: 2, MaxPerAddress: 2, Keys: fuzzKey}
	if b.server, err = sim.NewCheckedServer(cfg, b.made, b.Fatalf); err != nil {
		b.Fatalf("%v", err)
	}
}

func fuzzKey(identity uint64) (session.Key, bool) { return session.Key{byte(identity)}, identity == 7 }

func (b *handshakeBench) restartClient() {
	b.Helper()
	b.made++
	var err error
	if b.client, err = sim.NewCheckedClient(b.clock, b.cfg, b.made, b.Fatalf); err != nil {
		b.Fatalf("%v", err)
	}
}

// op does one operation of the script.
func (b *handshakeBench) op() {
	b.Helper()
	op := b.byte() % 16
	if verbose() {
		b.Logf("at %d, operation %d: %v, Row:%s", b.clock, op, b.client.Client.State(), b.client.Client.Row())
	}
	switch op {
	case 0, 1, 2:
		b.poll()
	case 3, 4, 5: // one of the latest messages of a client arrives
		b.deliver(false, b.byte(), 0)
	case 6, 7, 8: // one of the latest answers arrives
		b.deliver(true, b.byte(), 0)
	case 9: // changed, to either
		which := b.byte()
		b.deliver(which&1 == 1, which>>1, 1+b.uint16())
	case 10:
		b.clock += core.Micros(b.byte()) * 40 * core.Millisecond
	case 11:
		if at := min(b.client.Client.Deadline(), b.server.Deadline()); at != core.Never {
			b.clock = max(b.clock, at)
		}
		b.server.Poll(b.clock)
	case 12:
		b.data(b.byte())
	case 13:
		b.at[0] = 1 + b.byte()%3
		b.client.Move(b.clock)
	case 14:
		b.rare(b.byte())
	case 15:
		b.forge(b.byte())
	}
}

// rare is what happens seldom.
func (b *handshakeBench) rare(what byte) {
	b.Helper()
	switch what % 4 {
	case 0:
		b.restartServer()
	case 1:
		b.restartClient()
	case 2:
		b.client.Close(b.clock)
	case 3:
		if links := b.server.Links(); len(links) > 0 {
			b.server.End(b.clock, links[int(what>>2)%len(links)], pick(&b.script, []session.Reason{session.ConnectionClosed, session.Replaced}))
		}
	}
}

// poll sends what the client has.
func (b *handshakeBench) poll() {
	b.Helper()
	for range 8 {
		d, ok := b.client.Poll(b.clock)
		if !ok {
			return
		}
		b.sent = append(b.sent, letter{b.at, bytes.Clone(d), false})
	}
	b.Fatalf("a client never stops sending")
}

// deliver lets one of the latest datagrams of a side arrive, with a bit changed if change is
// not 0.
func (b *handshakeBench) deliver(answer bool, which byte, change uint16) {
	b.Helper()
	var list []letter
	for _, l := range b.sent {
		if l.answer == answer {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return
	}
	l := list[max(0, len(list)-1-int(which&15))]
	d := bytes.Clone(l.data)
	if change > 0 {
		at := int(change) % (8 * len(d))
		d[at/8] ^= 1 << (at % 8)
	}
	if answer {
		_ = b.client.Receive(b.clock, d)
		return
	}
	if which&0x40 != 0 {
		l.address[0]++ // from where it was not sent
	}
	b.serve(l.address, d)
}

// serve gives the server a datagram, and keeps its answer.
func (b *handshakeBench) serve(from session.Address, d []byte) {
	b.Helper()
	answer := b.server.Receive(b.clock, from, d)
	if len(answer) == 0 {
		return
	}
	if len(answer) >= len(d) {
		b.Fatalf("CXS-18: %d bytes draw %d", len(d), len(answer))
	}
	b.sent = append(b.sent, letter{from, bytes.Clone(answer), true})
}

// data lets a datagram of the connection go one way, if both ends have it.
func (b *handshakeBench) data(what byte) {
	b.Helper()
	link := b.client.Client.Link()
	if link == nil || !slices.Contains(b.server.Links(), link.ID()) {
		return
	}
	if what&1 == 0 {
		b.client.Spoke(b.clock)
		b.server.Heard(b.clock, link.ID())
	} else {
		b.client.Heard(b.clock)
	}
}

// forge sends what needs no key: with the nonce of a client, for who reads the path.
func (b *handshakeBench) forge(what byte) {
	b.Helper()
	i := slices.IndexFunc(b.sent, func(l letter) bool { return !l.answer })
	if i < 0 {
		return
	}
	seen, err := session.Decode(b.sent[len(b.sent)-1].data)
	if err != nil {
		return
	}
	m := session.Message{Kind: session.KindRefused, Version: session.Version, Reason: session.Reason(1 + what%9)}
	if what&0x80 != 0 {
		m = session.Message{Kind: session.KindChallenge, Stamp: uint64(what) << 50}
	}
	m.Nonce = seen.Nonce
	d, err := m.Append(nil)
	if err != nil {
		b.Fatalf("%+v does not encode: %v", m, err)
	}
	_ = b.client.Receive(b.clock, d)
}

// finish lets everything arrive at once.
func (b *handshakeBench) finish(fits bool) {
	b.Helper()
	for range 400 {
		from := len(b.sent)
		b.poll()
		for _, l := range slices.Clone(b.sent[from:]) {
			b.serve(l.address, l.data)
		}
		for _, l := range slices.Clone(b.sent[from:]) {
			if l.answer {
				_ = b.client.Receive(b.clock, l.data)
			}
		}
		switch state := b.client.Client.State(); {
		case state == session.Open && !fits:
			b.Fatalf("a client is OPEN that does not fit the server")
		case state == session.Open:
			b.agree()
			return
		case state == session.Closed:
			return
		}
		if at := b.client.Client.Deadline(); at != core.Never {
			b.clock = max(b.clock+1, at)
		}
		b.server.Poll(b.clock)
	}
	b.Fatalf("CXT-LIVE-1: on a good network the client is %v", b.client.Client.State())
}

// agree checks that the server has the client's connection, if it has answered lately: a
// client that was OPEN before may not know yet that its connection is over (CXT-LIVE-4).
func (b *handshakeBench) agree() {
	b.Helper()
	link := b.client.Client.Link()
	if !slices.Contains(b.server.Links(), link.ID()) {
		return
	}
	b.client.Seals()
}

func seedHandshakes(files []testvectors.File) (seeds [][]byte) {
	talks := [][]byte{
		{0, 3, 0, 6, 0, 0, 3, 0, 6, 0, 12, 0, 12, 1, 10, 100, 12, 0},
		{0, 3, 0, 6, 0, 0, 3, 0, 3, 0, 3, 0x40, 6, 0, 12, 0, 13, 1, 0, 3, 0, 6, 0, 0, 3, 0, 6, 0, 12, 1, 3, 5, 3, 6, 6, 3},
		{0, 3, 0, 6, 0, 0, 3, 0, 6, 0, 12, 0, 14, 0, 10, 80, 0, 0, 3, 0, 6, 0, 0, 3, 0, 6, 0},
		{0, 3, 0, 6, 0, 0, 3, 0, 6, 0, 14, 1, 0, 3, 0, 6, 0, 0, 3, 0, 6, 0, 3, 3, 3, 2, 6, 4, 12, 0},
		{0, 15, 0, 15, 1, 15, 2, 15, 0x83, 15, 0xff, 9, 3, 7, 0, 0, 9, 9, 1, 1, 3, 0, 6, 0, 0, 15, 1, 3, 0, 9, 4, 9, 0, 6, 0},
		{0, 3, 0, 6, 0, 0, 3, 0, 6, 0, 12, 0, 14, 3, 11, 11, 3, 0, 6, 0, 3, 2, 6, 0, 10, 255, 10, 255, 11, 3, 0, 14, 2},
		{10, 5, 0, 11, 0, 11, 0, 11, 0, 3, 0, 6, 0, 0, 11, 11, 0, 3, 0, 6, 0, 11, 11, 11, 11},
	}
	for setup := range byte(16) {
		for _, talk := range talks {
			seeds = append(seeds, append([]byte{setup}, talk...))
		}
	}
	for _, q := range requests[contract.SessionDecodeRequest](files, contract.OpSessionDecode)[:20] {
		seeds = append(seeds, append([]byte{1, 0, 3, 0, 6, 0}, bytesOf(&q.Hex)...))
	}
	return seeds
}
