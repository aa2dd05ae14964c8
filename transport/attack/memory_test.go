package attack

import (
	"errors"
	"runtime"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// byHand is a client that owns its address, and sends what makes a server keep as much as it
// can, by hand.
type byHand struct {
	t      testing.TB
	server *connection.Server
	*testClient
	number core.Number
	bytes  int // that it sent
	taken  int // datagrams that the server took
}

// linkByHand makes one that has linked.
func linkByHand(t testing.TB, d *testServer, s *connection.Server, at string, lanes int) *byHand {
	g := d.newClient(at, 0, func(c *session.ClientConfig) {
		c.Format, c.Lanes = check.Must(connection.Config{}.Complete()).Format, lanes
	})
	h := &byHand{t: t, server: s, testClient: g}
	from := session.AddressOfText(at)
	for range 2 {
		for _, datagram := range g.polls() {
			h.bytes += len(datagram)
			if got, _ := s.Receive(d.now, from, datagram, nil); got.Answer != nil {
				g.receives(got.Answer)
			}
		}
	}
	check.Same(t, "the client", g.State(), session.Open)
	return h
}

// puts sends a packet, or a fragment of one.
func (h *byHand) puts(p packet.Packet) error {
	p.Sequence = uint16(h.number)
	datagram := h.Link().Seal(nil, check.Must(packet.Format{}.WithDefaults().Append(nil, &p)))
	h.bytes += len(datagram)
	_, err := h.server.Receive(h.testClient.server.now, session.AddressOfText(h.at), datagram, nil)
	if err == nil {
		h.taken++
	}
	return err
}

// payload sends one as a packet of its own.
func (h *byHand) payload(b []byte) error {
	h.number++
	return h.puts(packet.Packet{Header: packet.Header{Ack: 65535}, Data: b})
}

// slice sends one, as the ends have agreed on repair slices.
func (h *byHand) slice(lanes, lane int, s codec.Slice) {
	err := h.payload(check.Must(connection.Format{Lanes: lanes, Repair: true}.Append(nil, &connection.Record{
		Type: connection.TypeSlice, Lane: lane, Slice: s,
	})))
	check.Same(h.t, "a slice", err, nil)
}

var loads = []struct {
	name string
	all  func(h *byHand, lanes int)
}{
	{"a pad", func(h *byHand, _ int) { check.Same(h.t, "a pad", h.payload([]byte{0}), nil) }},
	{"the last slice of each chunk", func(h *byHand, n int) {
		for lane := range n {
			h.slice(n, lane, codec.Slice{SliceID: 255, NumSlices: 256, LastBytes: 1, Data: []byte("x")})
		}
	}},
	{"chunks but for a slice", func(h *byHand, n int) {
		for lane := range n {
			for id := range 255 {
				h.slice(n, lane, codec.Slice{SliceID: id, NumSlices: 256, LastBytes: 1024, Data: world[:1024]})
			}
		}
	}},
	{"repair slices alone, but for one", func(h *byHand, n int) {
		for lane := range n {
			for id := range 255 {
				h.slice(n, lane, codec.Slice{SliceID: 256 + id, NumSlices: 256, LastBytes: 1024, Data: world[1024*(id%8):][:1024]})
			}
		}
	}},
	{"a message at the end of each window", func(h *byHand, _ int) {
		for id := uint8(1); id <= 2; id++ {
			h.payload(message(id, 1023, 1))
		}
	}},
	{"windows but for the first message", func(h *byHand, _ int) {
		for id := uint8(1); id <= 2; id++ {
			for n := 1; n < 1024; n++ {
				h.payload(message(id, uint16(n), 1024))
			}
		}
	}},
	{"unread messages", func(h *byHand, _ int) {
		for id := uint8(1); id <= 2; id++ {
			for n := range 4000 {
				h.payload(message(id, uint16(n), 1024))
			}
		}
		for range 1000 {
			h.payload(check.Must(channel.Format{}.WithDefaults().Append(nil, &channel.Record{Type: channel.TypeUnreliable, Data: world[:1024]})))
		}
	}},
	{"fragments", func(h *byHand, _ int) {
		for range 300 {
			h.number++
			for id := range 15 {
				h.puts(packet.Packet{NumFragments: 16, FragmentID: id, Data: world[:1024]})
			}
		}
	}},
}

func message(id uint8, sequence uint16, size int) []byte {
	return check.Must(channel.Format{}.WithDefaults().Append(nil, &channel.Record{
		Type: channel.TypeMessage, Channel: id, Sequence: sequence, Data: world[:size],
	}))
}

// What a client can make a server keep: half-open, and with all that a connection takes. No
// datagram makes it keep much more than that datagram has, but for the first of its kind.
func TestWhatAClientCanMakeAServerKeep(t *testing.T) {
	for _, lanes := range []int{1, 16} {
		for _, load := range append(loads[:0:0], loads...) {
			d := newTestServer(t, true, nil)
			cfg := connection.ServerConfig{Anonymous: true, Random: d.random}
			cfg.Lanes, cfg.Memory = lanes, new(connection.Memory)
			s := check.Must(connection.NewServer(cfg))
			const clients = 10
			var all []*byHand
			for i := range clients {
				all = append(all, linkByHand(t, d, s, at(1, 1000+i), lanes))
			}
			before := check.Heap()
			sent := 0
			for _, h := range all {
				h.bytes = 0
				load.all(h, lanes)
				sent += h.bytes
			}
			kept := (check.Heap() - before) / clients
			t.Logf("%2d lanes, %-36s %6d datagrams taken, %9d B sent, %9d B kept for each client", lanes, load.name+":", all[0].taken, sent/clients, kept)
			if kept > int64(lanes)*(344<<10)+2*1024*(1024+64)+1<<16+64<<10 { // as docs/LIMITS.md says
				t.Errorf("%s: %d B", load.name, kept)
			}
			runtime.KeepAlive(all)
			runtime.KeepAlive(s)
		}
	}
}

// Connections that come and go leave nothing, once they are forgotten.
func TestConnectionsLeaveNothing(t *testing.T) {
	d := newTestServer(t, true, nil)
	cfg := connection.ServerConfig{Anonymous: true, Random: d.random}
	s := check.Must(connection.NewServer(cfg))
	come := func(i int) {
		h := linkByHand(t, d, s, at(1+i%200, 1000+i), 1)
		err := h.payload(check.Must(connection.Format{Lanes: 1}.Append(nil, &connection.Record{Type: connection.TypeClose})))
		if err != nil && !errors.Is(err, connection.ErrClosed) {
			t.Fatal(err)
		}
	}
	come(0)
	half := check.Heap()
	for i := range 256 {
		linkByHand(t, d, s, at(1+i%200, 20_000+i), 1)
	}
	t.Logf("%d B for each of 256 half-open connections, the client's own included", (check.Heap()-half)/256)
	before := check.Heap()
	for i := range 3000 {
		come(i)
		if i%100 == 0 {
			d.now += core.Second
			s.Poll(d.now)
		}
	}
	d.now += session.Remember + session.HalfOpen
	s.Poll(d.now)
	st := s.Stats().Session
	check.Equal(t, "living, ended", []int{st.Living, st.Ended}, []int{0, 0})
	t.Logf("%d B more after 3,000 connections", check.Heap()-before)
	check.That(t, check.Heap()-before < 100_000, "nothing is left")
	runtime.KeepAlive(s)
}

// A client that owns its address, and has its key, seals any payload: random bytes behind each
// type of record, fields at random, what it did before with bits changed. The server refuses
// or takes each, keeps a bounded amount, and another client's connection is as it was.
// (CXA-40)
func TestAnyPayload(t *testing.T) {
	d := newTestServer(t, true, nil)
	cfg := connection.ServerConfig{Anonymous: true, Random: d.random}
	cfg.Lanes = 4
	s := check.Must(connection.NewServer(cfg))
	honest := linkByHand(t, d, s, at(2, 1000), 4)
	check.Same(t, "the honest client's pad", honest.payload([]byte{0}), nil)
	before := check.Heap()
	var h *byHand
	ended, sent, taken := 0, 0, 0
	last := []byte{0}
	for i := range 100_000 {
		if h == nil || i%500 == 0 {
			h = linkByHand(t, d, s, at(1, 1+i%60_000), 4)
		}
		payload := anyPayload(last)
		if h.number++; rng.IntN(400) == 0 {
			h.number += core.Number(rng.IntN(1 << 15))
		}
		p := packet.Packet{Data: payload, Header: packet.Header{Ack: uint16(rng.Uint32()), AckBits: rng.Uint32()}}
		if rng.IntN(10) == 0 && len(payload) <= 1024 {
			n := 2 + rng.IntN(15)
			p.NumFragments, p.FragmentID = n, n-1
		}
		err := h.puts(p)
		sent++
		switch {
		case err == nil:
			taken++
			last = payload
		case errors.Is(err, session.ErrEndedLink): // it has ended the connection by a CLOSE
			ended++
			h = nil
		}
		if i%100 == 0 {
			d.now += 100 * msec
			s.Poll(d.now)
		}
	}
	kept := check.Heap() - before
	t.Logf("%d payloads: %d taken, %d connections ended, %d B kept", sent, taken, ended, kept)
	check.That(t, taken > 1000 && taken < sent, "some are taken and some refused")
	check.Same(t, "the honest client", honest.payload([]byte{0}), nil)
	runtime.KeepAlive(s)
}

// anyPayload returns random records, or another payload with some bits changed.
func anyPayload(other []byte) (payload []byte) {
	switch rng.IntN(3) {
	case 0:
		return wellFormed()
	case 1:
		payload = append(payload, other...)
		for range 1 + rng.IntN(3) {
			payload[rng.IntN(len(payload))] ^= 1 << rng.IntN(8)
		}
		return payload
	}
	for range 1 + rng.IntN(4) {
		payload = append(payload, byte(rng.IntN(11)), byte(rng.IntN(4)))
		for range rng.IntN(40) {
			payload = append(payload, byte(rng.Uint32()>>(8*rng.IntN(4))))
		}
	}
	return payload
}

// wellFormed returns a record with fields at random, which may mean nothing.
func wellFormed() []byte {
	lane, chunk, n := rng.IntN(4), uint16(rng.IntN(3)), 1+rng.IntN(256)
	switch rng.IntN(6) {
	case 0:
		return check.Must(connection.Format{Lanes: 4}.Append(nil, &connection.Record{
			Type: connection.TypeSlice, Lane: lane, Slice: codec.Slice{ChunkID: chunk, SliceID: n - 1, NumSlices: n, Data: world[:1+rng.IntN(1024)]},
		}))
	case 1:
		return check.Must(connection.Format{Lanes: 4}.Append(nil, &connection.Record{
			Type: connection.TypeChunkAck, Lane: lane, Ack: codec.Ack{ChunkID: chunk, NumSlices: n, Acked: core.FirstN(rng.IntN(n + 1))},
		}))
	case 2:
		return check.Must(channel.Format{}.WithDefaults().Append(nil, &channel.Record{
			Type: channel.TypeSkip, Channel: uint8(1 + rng.IntN(2)), Sequence: uint16(rng.IntN(2000)), Count: 1 + rng.IntN(256),
		}))
	case 3:
		return check.Must(channel.Format{}.WithDefaults().Append(nil, &channel.Record{
			Type: channel.TypeFragment, Channel: uint8(1 + rng.IntN(2)), Sequence: uint16(rng.IntN(2000)), Count: 64, Index: rng.IntN(63), Data: world[:1024],
		}))
	case 4:
		return check.Must(channel.Format{}.WithDefaults().Append(nil, &channel.Record{
			Type: channel.TypeReport, Channel: uint8(1 + rng.IntN(2)), Sequence: uint16(rng.IntN(2000)), Room: rng.IntN(1024),
		}))
	}
	return message(uint8(1+rng.IntN(2)), uint16(rng.IntN(2000)), 1+rng.IntN(1024))
}
