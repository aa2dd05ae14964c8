package connectionsim

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

var troublesNightly = flag.Bool("explore.nightly", false, "let TestTroublesNightly place three troubles")

const ms = core.Millisecond

// talk is a conversation of one client with a server: what each sends as soon as it can, and
// what happens to the client.
type talk struct {
	mode   session.Mode
	move   core.Micros // when the client's address changes; 0: it does not
	known  bool        // and it knows
	closes Side
	early  int  // after so many messages it closes, whatever is under way; 0: when all was read
	both   bool // and the other end closes, too
}

// run lets the conversation take place over a carrier. It returns when all was read, and, after
// that, both ends have closed.
func (k talk) run(carry sim.Carrier[Letter]) (end core.Micros, err error) {
	cfg := protocol.Config{Channels: []channel.Config{
		{ID: 1, Kind: channel.Ordered, Format: channel.Format{Window: 32, Data: 40, Group: 4}, SendQueue: 40},
		{ID: 2, Kind: channel.Unordered, Format: channel.Format{Window: 32, Data: 40, Group: 4}, SendQueue: 40},
	}}
	cfg.Mode, cfg.Lanes, cfg.Timeout = k.mode, 1, 4*core.Second
	server, client := &ServerHost{}, &ClientHost{At: Address(1)}
	world := sim.NewWorld(carry, sim.End[Letter](server), client)
	a := &spoken{judge: NewJudge(cfg.Channels), world: world}
	keys := func(uint64) (session.Key, bool) { return session.Key{1}, true }
	server.Server = check.Must(protocol.NewServer(protocol.ServerConfig{Config: cfg, Keys: keys, Random: Random(1)}))
	client.Client = check.Must(protocol.NewClient(protocol.ClientConfig{Config: cfg, Identity: 1, Key: session.Key{1}, Random: Random(2)}, 0))
	client.Happened = func(core.Micros) { a.happened(ClientSide, client.Conn()) }
	server.Happened = func(_ core.Micros, p *protocol.ServerConn) { a.happened(ServerSide, p.Conn) }
	if k.move > 0 {
		world.At(k.move, func() {
			if client.At = Address(2); k.known {
				client.Move(world.Now())
			}
		})
	}
	if k.early > 0 {
		return k.closing(world, a, client, server)
	}
	if !world.Run(60*core.Second, func() bool { return a.err != nil || world.Now() >= k.move && a.settled() }) {
		return world.Now(), fmt.Errorf("not all is read: client %v %v, server %d peers", client.State(), client.Err(), len(server.Peers))
	}
	end = world.Now()
	_ = a.conns[k.closes].Close(end, protocol.FirstCode, "done")
	if a.err == nil && !world.Run(end+10*core.Second, func() bool { return client.State() == session.Closed && len(server.Peers) == 0 }) {
		return end, errors.New("not both ends have closed")
	}
	for side, c := range a.conns {
		if c.Err() == nil {
			return end, fmt.Errorf("the %v has no reason", Side(side))
		}
	}
	return end, a.err
}

// closing closes in the middle. It returns when both ends have closed, each for a reason.
func (k talk) closing(world *sim.World[Letter], a *spoken, client *ClientHost, server *ServerHost) (end core.Micros, err error) {
	a.after = func() {
		for side, c := range a.conns {
			if a.sent == k.early && c != nil && (Side(side) == k.closes || k.both) {
				_ = c.Close(world.Now(), protocol.FirstCode, "enough")
			}
		}
	}
	closed := func() bool {
		for _, c := range a.conns {
			if c != nil && c.State() != protocol.Closed {
				return false
			}
		}
		return a.sent >= k.early && client.State() != session.Linking && len(server.Peers) == 0
	}
	if !world.Run(60*core.Second, func() bool { return a.err != nil || closed() }) {
		return world.Now(), fmt.Errorf("not closed: client %v, %d peers", client.State(), len(server.Peers))
	}
	for side, c := range a.conns {
		if c != nil && c.Err() == nil {
			return world.Now(), fmt.Errorf("the %v has no reason", Side(side))
		}
	}
	return world.Now(), a.err
}

// spoken is what was said so far.
type spoken struct {
	judge *Judge
	world *sim.World[Letter]
	conns [2]*protocol.Conn
	sent  int
	after func() // a message was sent; may be nil
	err   error
}

// happened lets an application send what it has when there is a connection, and read.
func (a *spoken) happened(side Side, c *protocol.Conn) {
	if c == nil {
		return
	}
	now, link := a.world.Now(), c.Link().ID()
	if a.conns[side] == nil {
		a.conns[side] = c
		for i, size := range []int{5, 100, 30, 1, 60} {
			a.world.At(now+core.Micros(i)*30*ms, func() { a.send(side, byte(i), size) })
		}
	}
	for id := uint8(1); id <= 2; id++ {
		for m, ok := c.Read(now, id, nil); ok && a.err == nil; m, ok = c.Read(now, id, nil) {
			a.err = a.judge.Read(link, 1-side, id, m)
		}
	}
	if chunk, ok := c.ReadChunk(now, nil); ok && a.err == nil {
		a.err = a.judge.ReadChunk(link, 1-side, chunk)
	}
}

// send sends a message on each channel, and with the third a chunk.
func (a *spoken) send(side Side, i byte, size int) {
	c, now := a.conns[side], a.world.Now()
	if c.State() != protocol.Open {
		return
	}
	link := c.Link().ID()
	m := make([]byte, size)
	m[0] = byte(side)<<4 | i
	for id := uint8(1); id <= 2 && a.err == nil; id++ {
		a.err = c.Send(now, id, m, 0)
		a.judge.Sent(link, side, id, m, false)
	}
	a.sent++
	if a.after != nil {
		a.after()
	}
	if i == 2 && c.State() == protocol.Open {
		chunk := make([]byte, 2500)
		chunk[0] = byte(side)
		_, a.err = c.SendChunk(now, chunk)
		a.judge.SentChunk(link, side, chunk)
	}
}

// settled reports whether all was read and both ends know it.
func (a *spoken) settled() bool {
	if a.sent < 10 {
		return false
	}
	for side, c := range a.conns {
		if c == nil || !c.Delivered() || a.judge.Settled(c.Link().ID(), Side(side), 0) != nil {
			return false
		}
	}
	return true
}

var talks = map[string]talk{
	"it stays":         {mode: session.AEAD, closes: ClientSide},
	"it moves unseen":  {mode: session.MAC, move: 150 * ms, closes: ServerSide},
	"it moves, known":  {mode: session.AEAD, move: 150 * ms, known: true, closes: ClientSide},
	"it moves at once": {mode: session.AEAD, move: 65 * ms, closes: ServerSide},

	"the client closes early": {mode: session.AEAD, closes: ClientSide, early: 5},
	"the server closes early": {mode: session.MAC, closes: ServerSide, early: 6},
	"both close at once":      {mode: session.MAC, both: true, early: 4},
	"it closes and moves":     {mode: session.AEAD, move: 150 * ms, closes: ServerSide, early: 6},
}

// searched tries every way to place troubles among the datagrams of a conversation.
func searched(t *testing.T, most int, within func(k talk) core.Micros) {
	t.Helper()
	for name, k := range talks {
		x := explore.Troubles[Letter]{
			Delay: 20 * ms, Late: 100 * ms, Outage: 800 * ms, Most: most, Within: within(k), Run: k.run,
			Text: func(from int, l Letter) string {
				return fmt.Sprintf("%v %x... %d bytes", 1-Side(from), l.Data[:9], len(l.Data))
			},
		}
		began := time.Now()
		r := x.Search()
		t.Logf("%s: %v (%.1f s)", name, r, time.Since(began).Seconds())
		if r.Err != nil {
			t.Errorf("%s: %v\n%s", name, r.Err, r.Trace)
		}
	}
}

// soonAfter is how long all takes after the last trouble: a client that moves without knowing
// is silent for 1.2 s first. A CLOSE that no one hears is a time-out of 4 s.
func soonAfter(k talk) core.Micros {
	if k.early > 0 {
		return 5 * core.Second
	}
	return 2 * core.Second
}

// Whatever one datagram, or two, meet: all is read soon after, and both ends close (CXT-SAFE-6,
// CXT-LIVE-2).
func TestTroubles(t *testing.T) { searched(t, 1, soonAfter) }

func TestTroublesNightly(t *testing.T) {
	if !*troublesNightly {
		t.Skip("needs -explore.nightly")
	}
	searched(t, 2, soonAfter)
}
