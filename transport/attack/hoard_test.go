package attack

import (
	"errors"
	"runtime"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/seq"
	"github.com/chunkwire/chunkwire/session"
)

// hoarder is a client that owns its address, and sends what makes a server keep as much as it
// can, by hand.
type hoarder struct {
	t      testing.TB
	server *connection.Server
	*guest
	number seq.Number
	bytes  int // that it sent
	taken  int // datagrams that the server took
}

// hoarderAt makes one that has linked.
func hoarderAt(t testing.TB, d *desk, s *connection.Server, at string, lanes int) *hoarder {
	g := d.guest(at, 0, func(c *session.ClientConfig) {
		c.Format, c.Lanes = check.Must(connection.Config{}.Complete()).Format, lanes
	})
	h := &hoarder{t: t, server: s, guest: g}
	from := session.AddressOfText(at)
	for range 2 {
		for _, datagram := range g.polls() {
			h.bytes += len(datagram)
			if got, _ := s.Receive(d.now, from, datagram, nil); got.Answer != nil {
				g.receives(got.Answer)
			}
		}
	}
	check.Same(t, "the hoarder", g.State(), session.Open)
	return h
}

// puts sends a packet, or a fragment of one.
func (h *hoarder) puts(p packet.Packet) error {
	p.Sequence = uint16(h.number)
	datagram := h.Link().Seal(nil, check.Must(packet.Format{}.WithDefaults().Append(nil, &p)))
	h.bytes += len(datagram)
	_, err := h.server.Receive(h.desk.now, session.AddressOfText(h.at), datagram, nil)
	if err == nil {
		h.taken++
	}
	return err
}

// payload sends one as a packet of its own.
func (h *hoarder) payload(b []byte) error {
	h.number++
	return h.puts(packet.Packet{Data: b})
}

var hoards = []struct {
	name string
	all  func(h *hoarder, lanes int)
}{
	{"a pad", func(h *hoarder, _ int) { check.Same(h.t, "a pad", h.payload([]byte{0}), nil) }},
	{"the last slice of each chunk", func(h *hoarder, lanes int) {
		for lane := range lanes {
			h.payload(check.Must(connection.Format{Lanes: lanes}.Append(nil, &connection.Record{
				Type: connection.TypeSlice, Lane: lane, Slice: codec.Slice{SliceID: 255, NumSlices: 256, Data: []byte("x")},
			})))
		}
	}},
	{"chunks but for a slice", func(h *hoarder, lanes int) {
		for lane := range lanes {
			for id := range 255 {
				h.payload(check.Must(connection.Format{Lanes: lanes}.Append(nil, &connection.Record{
					Type: connection.TypeSlice, Lane: lane, Slice: codec.Slice{SliceID: id, NumSlices: 256, Data: world[:1024]},
				})))
			}
		}
	}},
	{"a message at the end of each window", func(h *hoarder, _ int) {
		for id := uint8(1); id <= 2; id++ {
			h.payload(message(id, 1023, 1))
		}
	}},
	{"windows but for the first message", func(h *hoarder, _ int) {
		for id := uint8(1); id <= 2; id++ {
			for n := 1; n < 1024; n++ {
				h.payload(message(id, uint16(n), 1024))
			}
		}
	}},
	{"unread messages", func(h *hoarder, _ int) {
		for id := uint8(1); id <= 2; id++ {
			for n := range 4000 {
				h.payload(message(id, uint16(n), 1024))
			}
		}
		for range 1000 {
			h.payload(check.Must(channel.Format{}.WithDefaults().Append(nil, &channel.Record{Type: channel.TypeUnreliable, Data: world[:1024]})))
		}
	}},
	{"fragments", func(h *hoarder, _ int) {
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

// What a client can make a server keep: half-open, and with all that a connection takes. No datagram makes
// it keep much more than that datagram has, but for the first of its kind.
func TestWhatAClientCanMakeAServerKeep(t *testing.T) {
	for _, lanes := range []int{1, 16} {
		for _, hoard := range append(hoards[:0:0], hoards...) {
			d := newDesk(t, true, nil)
			cfg := connection.ServerConfig{Anonymous: true, Random: d.random}
			cfg.Lanes, cfg.Memory = lanes, new(connection.Memory)
			s := check.Must(connection.NewServer(cfg))
			const clients = 10
			var all []*hoarder
			for i := range clients {
				all = append(all, hoarderAt(t, d, s, at(1, 1000+i), lanes))
			}
			before := heap()
			sent := 0
			for _, h := range all {
				h.bytes = 0
				hoard.all(h, lanes)
				sent += h.bytes
			}
			kept := (heap() - before) / clients
			t.Logf("%2d lanes, %-36s %6d datagrams taken, %9d B sent, %9d B kept for each client", lanes, hoard.name+":", all[0].taken, sent/clients, kept)
			if kept > int64(lanes)*300_000+2*1_200_000+200_000 {
				t.Errorf("%s: %d B", hoard.name, kept)
			}
			runtime.KeepAlive(all)
			runtime.KeepAlive(s)
		}
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Connections that come and go leave nothing, once they are forgotten.
func TestConnectionsLeaveNothing(t *testing.T) {
	d := newDesk(t, true, nil)
	cfg := connection.ServerConfig{Anonymous: true, Random: d.random}
	s := check.Must(connection.NewServer(cfg))
	come := func(i int) {
		h := hoarderAt(t, d, s, at(1+i%200, 1000+i), 1)
		err := h.payload(check.Must(connection.Format{Lanes: 1}.Append(nil, &connection.Record{Type: connection.TypeClose})))
		if err != nil && !errors.Is(err, connection.ErrClosed) {
			t.Fatal(err)
		}
	}
	come(0)
	half := heap()
	for i := range 256 {
		hoarderAt(t, d, s, at(1+i%200, 20_000+i), 1)
	}
	t.Logf("%d B for each of 256 half-open connections, the client's own included", (heap()-half)/256)
	before := heap()
	for i := range 3000 {
		come(i)
		if i%100 == 0 {
			d.now += machine.Second
			s.Poll(d.now)
		}
	}
	d.now += session.Remember + session.HalfOpen
	s.Poll(d.now)
	st := s.Stats().Session
	check.Equal(t, "living, ended", []int{st.Living, st.Ended}, []int{0, 0})
	t.Logf("%d B more after 3,000 connections", heap()-before)
	check.That(t, heap()-before < 100_000, "nothing is left")
	runtime.KeepAlive(s)
}
