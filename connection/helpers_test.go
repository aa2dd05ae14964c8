package connection_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

const (
	ms     = core.Millisecond
	second = core.Second

	unreliable, ordered, unordered uint8 = 0, 1, 2 // the default channels
)

// links returns the two ends of an envelope.
func links(mode session.Mode, agreed session.Agreed) (client, server *session.Link) {
	agreed.Link = 0x11223344
	c2s, s2c := session.Key{1, 2, 3}, session.Key{4, 5, 6}
	client = session.NewLink(session.LinkConfig{Mode: mode, Agreed: agreed, Seal: c2s, Open: s2c})
	server = session.NewLink(session.LinkConfig{Mode: mode, Agreed: agreed, Seal: s2c, Open: c2s})
	return client, server
}

var plenty = session.Agreed{Lanes: 2, Variant: session.VariantSlices, Timeout: 10 * second}

// variants are those of chunks.
var variants = map[string]uint8{"named": session.VariantSlices, "repair": session.VariantRepair}

// with returns what was agreed with another variant.
func with(agreed session.Agreed, variant uint8) session.Agreed {
	agreed.Variant = variant
	return agreed
}

// pair returns the two ends of a connection: a is the client.
func pair(cfg connection.Config) (a, b *connection.Conn) {
	return pairOf(session.CRC, plenty, cfg, cfg)
}

func pairOf(mode session.Mode, agreed session.Agreed, cfgA, cfgB connection.Config) (a, b *connection.Conn) {
	client, server := links(mode, agreed)
	a = check.Must(connection.NewConn(cfgA, client, connection.ClientSide, 0))
	b = check.Must(connection.NewConn(cfgB, server, connection.ServerSide, 0))
	return a, b
}

// poll returns all that a connection sends at a time.
func poll(c *connection.Conn, now core.Micros) (datagrams [][]byte) {
	for range 10_000 {
		d, ok := c.Poll(now, nil)
		if !ok {
			return datagrams
		}
		datagrams = append(datagrams, d)
	}
	panic("a connection never stops sending")
}

// give lets datagrams arrive, and returns the first refusal.
func give(c *connection.Conn, now core.Micros, datagrams ...[]byte) (refusal error) {
	for _, d := range datagrams {
		if err := c.Receive(now, d); refusal == nil {
			refusal = err
		}
	}
	return refusal
}

// exchange lets both ends say all they have, until neither has more.
func exchange(a, b *connection.Conn, now core.Micros) {
	for range 100 {
		fromA, fromB := poll(a, now), poll(b, now)
		if len(fromA)+len(fromB) == 0 {
			return
		}
		give(b, now, fromA...)
		give(a, now, fromB...)
	}
	panic("two connections never stop sending")
}

// content returns bytes that differ from one seed to the next.
func content(size int, seed uint64) []byte {
	b := make([]byte, size)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b)
	return b
}

// end is a connection in a world.
type end struct{ *connection.Conn }

func (e end) Handle(now core.Micros, datagram []byte) { _ = e.Receive(now, datagram) }

func (e end) Poll(now core.Micros) ([]byte, bool) { return e.Conn.Poll(now, nil) }

// world is two ends and a network.
type world struct {
	*sim.World[[]byte]
	a, b     *connection.Conn
	down, up *netsim.Link // from a to b, and back
}

func newWorld(path netsim.Path, seed uint64, a, b *connection.Conn) *world {
	down, up := check.Must(netsim.NewLink(path, seed)), check.Must(netsim.NewLink(path, seed+1000))
	w := sim.NewWorld(sim.Links(down, up, func(d []byte) int { return len(d) }), sim.End[[]byte](end{a}), end{b})
	return &world{w, a, b, down, up}
}

// read returns the next message of a channel as a text; nothing if there is none.
func read(c *connection.Conn, now core.Micros, id uint8) string {
	m, ok := c.Read(now, id, nil)
	if !ok {
		return ""
	}
	return string(m.Data)
}

func wantBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: %d bytes, not the %d wanted", what, len(got), len(want))
	}
}
