package fuzz

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors"
)

// A server with five clients of three identities at six addresses. They come, go on, move and begin anew, send
// payloads, slices and acks of any fields, and what anybody sent before, from anywhere, changed or not. An answer
// is smaller than what it answers (CXS-18), places are bounded (CXS-7), no connection is due that was just polled,
// one that was replaced is closed; and when all fall silent nothing is left (CXT-BND-1).
//
// An input is a seed of what is random, how the server is set up, and then an operation, a client and what it needs.
var targetServer = newTarget("Server", "a server with many clients bounds what it keeps and answers, whatever they send, and forgets those that fall silent", runHosting, seedServer)

// guest is a client of the server.
type guest struct {
	*session.Client
	identity uint64
	number   uint16 // of its next packet
	at       byte   // its address
}

// hosting is the server and its clients.
type hosting struct {
	script
	t       T
	server  *connection.Server
	format  [8]byte
	most    int
	random  *rand.ChaCha8
	now     core.Micros
	guests  [5]*guest
	peers   []*connection.ServerConn
	earlier [][]byte
}

func guestKey(identity uint64) (session.Key, bool) {
	return session.Key{byte(identity), 1}, identity < 3
}

var guestAddresses = [...]string{"192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1", "[2001:db8::1]:1", "[2001:db8::2]:1", "odd"}

func guestAddress(i byte) session.Address {
	return session.AddressOfText(guestAddresses[int(i)%len(guestAddresses)])
}

func runHosting(t T, data []byte) {
	h := &hosting{script: script{data}, t: t, now: core.Second}
	h.random = rand.NewChaCha8([32]byte{h.byte()})
	cfg := connection.ServerConfig{Keys: guestKey, Anonymous: true, Random: h.random}
	cfg.Mode, cfg.Lanes, cfg.Memory = session.MAC, 1+int(h.byte())%3, new(connection.Memory)
	h.most = 1 + int(h.byte())%4
	cfg.MaxConnections, cfg.MaxPerAddress = h.most, 1+int(h.byte())%h.most
	complete, err1 := cfg.Complete()
	server, err2 := connection.NewServer(cfg)
	if err1 != nil || err2 != nil {
		t.Fatalf("%v, %v", err1, err2)
	}
	h.server, h.format = server, complete.Format
	for i := range h.guests {
		h.guests[i] = h.guest(byte(i))
	}
	for steps := 0; h.more() && steps < 400; steps++ {
		operation, i := h.byte()%12, int(h.byte())%len(h.guests)
		if operation == 11 {
			h.guests[i] = h.guest(h.byte())
			continue
		}
		h.do(operation, h.guests[i])
	}
	for range 80 {
		h.now += core.Second
		h.poll()
	}
	if st := h.server.Stats().Session; st.Living+st.Ended > 0 || len(h.peers) > 0 {
		t.Fatalf("after 80 s of silence %d live, %d are remembered, %d are polled", st.Living, st.Ended, len(h.peers))
	}
}

// guest returns a client that begins now.
func (h *hosting) guest(i byte) *guest {
	identity := uint64(i % 3)
	key := session.Key{}
	if identity != 0 {
		key, _ = guestKey(identity)
	}
	c, err := session.NewClient(h.now, session.ClientConfig{
		Terms: session.Terms{Mode: session.MAC, Lanes: 2, Format: h.format}, Identity: identity, Key: key, Random: h.random,
	})
	if err != nil {
		h.t.Fatalf("a client: %v", err)
	}
	return &guest{Client: c, identity: identity, at: i}
}

// do does what the script says.
func (h *hosting) do(operation byte, g *guest) {
	switch operation {
	case 0, 1:
		for range 3 {
			for d, ok := g.Poll(h.now, nil); ok; d, ok = g.Poll(h.now, nil) {
				h.give(g, g.at, d)
			}
		}
	case 2, 3, 4:
		p := packet.Packet{Data: bytes.Clone(h.take(1 + int(h.byte())*5))}
		if len(p.Data) == 0 {
			p.Data = []byte{0}
		}
		if operation == 4 && len(p.Data) <= 1024 {
			p.NumFragments = 2 + int(h.byte())%15
			p.FragmentID = p.NumFragments - 1
		}
		h.seal(g, p)
	case 5:
		if g.Link() != nil {
			if records, err := (connection.Format{Lanes: g.Link().Agreed().Lanes, Repair: true}).Append(nil, h.record(g)); err == nil {
				h.seal(g, packet.Packet{Data: records})
			}
		}
	case 6:
		if len(h.earlier) > 0 {
			d := bytes.Clone(h.earlier[int(h.byte())%len(h.earlier)])
			if h.byte()%3 == 0 {
				d[int(h.byte())%len(d)] ^= h.byte()
			}
			h.give(g, h.byte(), d)
		}
	case 7:
		h.give(g, h.byte(), bytes.Clone(h.take(int(h.byte()))))
	case 8:
		g.at = h.byte()
		g.Move(h.now)
	case 9:
		h.now += 1 << (h.byte() % 26)
		h.poll()
	case 10:
		h.application(g)
		h.poll()
	}
}

// record is a slice or an ack of any fields.
func (h *hosting) record(g *guest) *connection.Record {
	n, lane := 1+int(h.byte()), int(h.byte())%g.Link().Agreed().Lanes
	if h.byte()%3 == 0 {
		return &connection.Record{Type: connection.TypeChunkAck, Lane: lane, Ack: codec.Ack{
			ChunkID: uint16(h.byte() % 4), NumSlices: n, Have: int(h.byte()) % (n + 1), Top: int(h.byte()) * 2,
		}}
	}
	return &connection.Record{Type: connection.TypeSlice, Lane: lane, Slice: codec.Slice{
		ChunkID: uint16(h.byte() % 4), SliceID: int(h.byte()) * 8, NumSlices: n, LastBytes: 1024, Data: make([]byte, 1024),
	}}
}

// seal gives the server a packet of a client.
func (h *hosting) seal(g *guest, p packet.Packet) {
	if g.Link() == nil {
		return
	}
	p.Sequence, p.Ack, p.AckBits = g.number, uint16(h.byte()), uint32(h.byte())<<24|uint32(h.byte())
	g.number += uint16(1 + int(h.byte())%3*int(h.byte()))
	if body, err := (packet.Format{}).WithDefaults().Append(nil, &p); err == nil {
		h.give(g, g.at, g.Link().Seal(nil, body))
	}
}

// give gives the server a datagram from an address, and the client the answer, if it is there.
func (h *hosting) give(g *guest, from byte, d []byte) {
	h.t.Helper()
	if len(d) > 0 {
		h.earlier = append(h.earlier, bytes.Clone(d))
	}
	got, _ := h.server.Receive(h.now, guestAddress(from), d, nil)
	if got.Answer != nil {
		if len(got.Answer) >= len(d) {
			h.t.Fatalf("CXS-18: %d bytes draw %d", len(d), len(got.Answer))
		}
		if guestAddress(from) == guestAddress(g.at) {
			_ = g.Receive(h.now, got.Answer)
		}
	}
	if got.Peer != nil && !slices.Contains(h.peers, got.Peer) {
		h.peers = append(h.peers, got.Peer)
	}
	if got.Ended != nil && got.Ended.State() != connection.Closed {
		h.t.Fatalf("a connection that was replaced is %v", got.Ended.State())
	}
}

// application does something with a client's connection.
func (h *hosting) application(g *guest) {
	for _, p := range h.peers {
		if p.Identity() != g.identity {
			continue
		}
		switch h.byte() % 5 {
		case 0:
			_, _ = p.SendChunk(h.now, make([]byte, 1+int(h.byte())*1000))
		case 1:
			p.ReadChunk(h.now, nil)
		case 2:
			_ = p.Send(h.now, h.byte()%4, make([]byte, int(h.byte())*20), core.Micros(h.byte())*core.Millisecond)
		case 3:
			p.Read(h.now, h.byte()%4, nil)
		case 4:
			_ = p.Close(h.now, uint16(h.byte())<<2, "x")
		}
		return
	}
}

// poll lets the server and its connections do what is due.
func (h *hosting) poll() {
	h.t.Helper()
	h.server.Poll(h.now)
	for _, p := range h.peers {
		for sent := 0; ; sent++ {
			d, ok := p.Poll(h.now, nil)
			if !ok {
				break
			}
			if len(d) > session.LargestDatagram || sent > 3000 {
				h.t.Fatalf("datagram %d has %d bytes", sent, len(d))
			}
		}
		if at := p.Deadline(); at <= h.now {
			h.t.Fatalf("at %d a connection in %v is due at %d, after it was polled", h.now, p.State(), at)
		}
	}
	h.peers = slices.DeleteFunc(h.peers, func(p *connection.ServerConn) bool { return p.State() == connection.Closed })
	if st := h.server.Stats().Session; st.Living > h.most || st.Ended > 4*h.most || h.server.Deadline() <= h.now {
		h.t.Fatalf("CXS-7: %d live and %d are remembered, of %d; due at %d, at %d", st.Living, st.Ended, h.most, h.server.Deadline(), h.now)
	}
}

// seedServer lets clients come, talk, move, begin anew and fall silent.
func seedServer([]testvectors.File) (seeds [][]byte) {
	for how := range byte(24) {
		seed := []byte{how, how, how / 2, how / 3}
		for i := range byte(3) {
			seed = append(seed, 0, i, 0, i, 2, i, 0, 0, 0, 0, 0, 1, 0, 9, 0, 10)
			seed = append(seed, 5, i, how, 0, how, 1, 1, 0, 0, 0, 1, 0, 10, i, how%5, 3, 1, 2)
		}
		seed = append(seed, 4, 0, 3, 1, 2, 3, 4, 0, 0, 0, 1, 1, 6, 0, how, 1, 2, 6, 1, how, 0, 3, 1, 4)
		seed = append(seed, 8, 0, how, 0, 0, 0, 0, 7, 1, 2, 3, 1, 2, 3, 11, 1, how, 0, 1, 0, 1, 2, 1, 0, 0, 0, 0, 0, 1, 0)
		seeds = append(seeds, append(seed, 9, 0, 22+how%4, 10, 0, 4, 64, 9, 0, 25))
	}
	return seeds
}
