package fuzz

import (
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/sessions"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/testvectors"
)

// A client and a server, each beside its oracle, over a network that keeps everything that was ever sent,
// and an attacker who sends it again from any address, changed or not, and forges messages that need no
// key. No datagram to an address has more bytes than the one that it answers (CXT-BND-1). At last the
// network is good: the client comes to OPEN with the keys that the server has, or ends for a reason
// (CXT-LIVE-1, CXT-LIVE-2).
//
// An input is a byte for how the two are set up, and the events of a conform.Talk.
var targetHandshake = newTarget("Handshake", "client and server of a session are their oracles, whatever is lost, doubled, replayed, changed or forged", runHandshake, seedHandshakes)

// handshakes is a client and a server that talk.
type handshakes struct {
	conform.Talk
	client, server *conform.End
	fits           bool
	restarts       byte
}

// What the first byte of an input sets.
const (
	hasIdentity = 1 << iota
	offersMore
	otherProtocol
	otherKey // of an identity
)

// newHandshakes returns new ends, whose machines a function makes.
func newHandshakes(setup byte, machine func(op *conform.Op, config any) conform.Oracle) *handshakes {
	h := &handshakes{}
	cfg := sessions.ClientConfig{Identity: conform.Bytes(make([]byte, 8)), Key: conform.Bytes(make([]byte, 32)), Config: sessions.Config{
		Protocol: 1, Mode: "aead", Lanes: 2, Variants: 1, Timeout: 100, Format: conform.Bytes(make([]byte, 8)),
	}}
	server := sessions.ServerConfig{Config: cfg.Config, Anonymous: true, MaxConnections: 2, MaxPerAddress: 2, Keys: []sessions.Key{{Identity: firstByte(8, 7), Key: firstByte(32, 7)}}}
	if setup&hasIdentity != 0 {
		cfg.Identity, cfg.Key = firstByte(8, 7), firstByte(32, 7)
	}
	if setup&offersMore != 0 {
		cfg.Lanes, cfg.Timeout = 16, 10
	}
	if setup&otherProtocol != 0 {
		cfg.Protocol++ // refused, proven
	}
	if setup&otherKey != 0 && setup&hasIdentity != 0 {
		cfg.Key = firstByte(32, 8) // refused, unproven
	}
	h.fits = setup&otherProtocol == 0 && setup&(hasIdentity|otherKey) != hasIdentity|otherKey
	h.client = &conform.End{
		Op: sessions.Client, Config: cfg, Poll: sessions.Poll{},
		Sent:    func(s conform.Step) []conform.Bytes { return s.(sessions.ClientStep).Datagrams },
		Arrives: func(b conform.Bytes) conform.Event { return sessions.Receive{Hex: b} },
		Restart: func() conform.Oracle { cfg.Random = h.random(); return machine(sessions.Client, cfg) },
	}
	h.server = &conform.End{
		Op: sessions.Server, Config: server, Poll: sessions.Poll{},
		Sent: func(s conform.Step) []conform.Bytes {
			if answer := s.(sessions.ServerStep).Answer; answer.Is {
				return []conform.Bytes{answer.V}
			}
			return nil
		},
		Arrives: func(b conform.Bytes) conform.Event { return sessions.ReceiveFrom{From: sessions.Addresses[0], Hex: b} },
		Restart: func() conform.Oracle { server.Random = h.random(); return machine(sessions.Server, server) },
	}
	h.Ends = []*conform.End{h.client, h.server}
	for _, end := range h.Ends {
		end.Machine = end.Restart()
	}
	return h
}

// firstByte is so many bytes, all 0 except the first.
func firstByte(size int, first byte) conform.Bytes {
	return conform.Bytes(append([]byte{first}, make([]byte, size-1)...))
}

// random is other random bytes for each machine, enough for each event to draw.
func (h *handshakes) random() conform.Bytes {
	h.restarts++
	b := make([]byte, 1<<14)
	_, _ = rand.NewChaCha8([32]byte{h.restarts, 's'}).Read(b)
	return conform.Bytes(b)
}

// answersAreSmaller judges a server (CXS-18).
type answersAreSmaller struct{}

func (answersAreSmaller) Saw(_ int64, e conform.Event, s conform.Step) error {
	arrived, is := e.(sessions.ReceiveFrom)
	if is && s.(sessions.ServerStep).Answer.Is && len(s.(sessions.ServerStep).Answer.V) >= len(arrived.Hex) {
		return errors.New("CXS-18: an answer is not smaller than what it answers")
	}
	return nil
}

func runHandshake(t T, data []byte) {
	s := script{data}
	h := newHandshakes(s.byte(), func(op *conform.Op, config any) conform.Oracle {
		p := op.Pair(t, config)
		if op == sessions.Server {
			p.Judges = []conform.Judge{answersAreSmaller{}}
		}
		return p
	})
	h.finish(t, h.Play(&conform.Input{Left: s.left}, 300))
}

// product is the client under test.
func (h *handshakes) product() *sessions.ProductClient {
	return h.client.Machine.(*conform.Pair).Product.(*sessions.ProductClient)
}

// finish lets everything arrive.
func (h *handshakes) finish(t T, now int64) {
	t.Helper()
	h.Mend(1000)
	h.Do(now, h.client, sessions.Poll{})
	is := func(states ...session.ClientState) bool { return slices.Contains(states, h.product().State()) }
	h.Run(now+100_000_000, func() bool { return is(session.Open, session.Closed) })
	switch {
	case is(session.Open) && !h.fits:
		t.Fatalf("a client is OPEN that does not fit the server")
	case is(session.Open):
		h.agree(t)
	case !is(session.Closed):
		t.Fatalf("CXT-LIVE-1: on a good network the client is %v", h.product().State())
	}
}

// agree checks that the server has the client's connection with its keys, if it has it: a client that was
// OPEN before may not know yet that its connection is over (CXT-LIVE-4).
func (h *handshakes) agree(t T) {
	t.Helper()
	link := h.product().Link()
	entry := h.server.Machine.(*conform.Pair).Product.(*sessions.ProductServer).Find(link.ID())
	if entry == nil || entry.Link() == nil {
		return
	}
	body, err1 := link.Open(nil, entry.Link().Seal(nil, []byte("down")))
	up, err2 := entry.Link().Open(nil, link.Seal(nil, []byte("up")))
	if err := errors.Join(err1, err2); err != nil || string(body) != "down" || string(up) != "up" {
		t.Fatalf("client and server have other keys: %v", err)
	}
}

// seedHandshakes are talks on networks that lose one datagram or none, in which the client moves, and its
// connection ends.
func seedHandshakes([]testvectors.File) (seeds [][]byte) {
	for setup := range byte(16) {
		for lost := range 6 {
			h := newHandshakes(setup, oracleOf)
			h.Lose(20_000, func(n int) bool { return n == lost })
			h.goesOn(lost)
			seeds = append(seeds, newHandshakes(setup, oracleOf).Encode([]byte{setup}, trace(h.client), trace(h.server)))
		}
	}
	return seeds
}

func oracleOf(op *conform.Op, config any) conform.Oracle {
	r, err := op.Record(config)
	if err != nil {
		panic(err) // the configurations of the targets are allowed
	}
	return r
}

// trace is what happened to an end whose machine is recorded.
func trace(end *conform.End) []conform.Timed { return end.Machine.(*conform.Recorded).Events }

// goesOn lets a connection come about, go on with another nonce, and end.
func (h *handshakes) goesOn(how int) {
	now := int64(1_000_000)
	h.Do(now, h.client, sessions.Poll{})
	for _, e := range []conform.Event{sessions.Sent{}, sessions.Move{}, sessions.Sent{}} {
		now += 2_000_000
		h.Run(now, nil)
		if h.client.Machine.(*conform.Recorded).Oracle.(*sessions.OracleClient).State() == "OPEN" {
			h.Do(now, h.client, e)
			h.Do(now, h.client, sessions.Data{})
			h.Do(now, h.server, sessions.DataOf{Link: h.server.Machine.Look().Near[0]})
		}
	}
	if link := h.server.Machine.Look().Near[0]; how%2 == 0 && link != 0 {
		h.Do(now, h.server, sessions.End{Link: link, Reason: int64(session.ConnectionClosed)})
	}
	h.Run(now+6_000_000, nil)
}
