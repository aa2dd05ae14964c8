package fuzz

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// An input of FuzzTransport is a byte for how many connections the endpoint may
// have, one for when the honest peer begins, and a script of operations, each a
// byte, a byte for the source address, and what op takes.

// CheckTransport sends an endpoint what strangers may send: garbage, slices and
// acks from many addresses. It must answer no garbage (CON-4), no more than it
// was sent (BND-2), keep within its connections (SEC-3), end without a trace, and
// deliver the chunk of an honest peer. Time is virtual.
func CheckTransport(t T, data []byte) { runTransport(t, data, nil) }

const (
	maxStrangerOps = 48
	maxSources     = 24
)

func runTransport(t T, data []byte, tell *story) {
	real, ok := t.(*testing.T)
	if !ok {
		real = new(testing.T) // other engines and programs have none; it is only asked to run a function
	}
	var failed error
	synctest.Test(real, func(*testing.T) {
		failed = caught(func() { besiege(witness{}, data, tell) })
	})
	if failed != nil {
		t.Fatalf("%v", failed)
	}
}

// siege is an endpoint among strangers.
type siege struct {
	T
	script    script
	story     *story
	framer    codec.Framer
	network   *netsim.Network
	server    *transport.Endpoint
	honest    *netsim.Conn
	maxPeers  int
	strangers map[netsim.Addr]*stranger
	garbage   int64 // datagrams that do not decode
	began     time.Time

	chunk    []byte
	sent     chan error  // how the honest peer's chunk was sent
	received chan []byte // what the server received from the honest peer
}

// stranger is a source address, and how many valid slices came from it.
type stranger struct {
	conn   *netsim.Conn
	slices int64
}

func besiege(t T, data []byte, tell *story) {
	g := &siege{
		T: t, script: script{data}, story: tell, framer: codec.NewFramer(conversationID), network: netsim.NewNetwork(1),
		strangers: map[netsim.Addr]*stranger{}, began: time.Now(), sent: make(chan error, 1), received: make(chan []byte, 16),
	}
	g.maxPeers = 1 + int(g.script.byte()%4)
	start := int(g.script.byte() % maxStrangerOps)
	g.listen()
	client := g.dial()
	defer g.server.Close()
	defer client.Close()
	honest := false
	for n := 0; g.script.more() && n < maxStrangerOps; n++ {
		if n == start {
			honest = true
			go g.send(client)
		}
		g.op()
		g.check()
	}
	if !honest {
		go g.send(client)
	}
	g.delivered()
	g.check()
	g.answers()
}

// listen opens the endpoint, which takes whatever its peers send.
func (g *siege) listen() {
	g.Helper()
	pc, err := g.network.Listen("server")
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.server, err = transport.New(pc, transport.Config{ProtocolID: conversationID, MaxPeers: g.maxPeers, GiveUp: time.Second})
	if err != nil {
		g.Fatalf("%v", err)
	}
	go func() {
		for {
			c, err := g.server.Accept(context.Background())
			if err != nil {
				return
			}
			go g.receive(c)
		}
	}()
}

func (g *siege) receive(c *transport.Conn) {
	for {
		chunk, err := c.Recv(context.Background())
		if err != nil {
			return
		}
		if c.RemoteAddr() == netsim.Addr("honest") {
			g.received <- chunk
		}
	}
}

// dial opens the honest peer, which does not give up.
func (g *siege) dial() *transport.Endpoint {
	g.Helper()
	pc, err := g.network.Listen("honest")
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.honest = pc
	e, err := transport.New(pc, transport.Config{ProtocolID: conversationID, GiveUp: 1000 * time.Hour})
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.chunk = content(7, 2500)
	return e
}

func (g *siege) send(e *transport.Endpoint) {
	c, err := e.Dial(netsim.Addr("server"))
	if err == nil {
		err = c.Send(context.Background(), g.chunk)
	}
	g.sent <- err
}

// op sends a datagram from somewhere, or lets time pass.
func (g *siege) op() {
	g.Helper()
	s := &g.script
	op, source := s.byte()%10, netsim.Addr(fmt.Sprint("stranger ", s.byte()%maxSources))
	switch op {
	case 0: // garbage
		g.from(source, s.take(int(s.byte())))
	case 1: // garbage with a right crc
		d := append(make([]byte, 4), s.take(int(s.byte()))...)
		repair(conversationID, d)
		g.from(source, d)
	case 2, 3: // a slice with which a connection can begin
		g.from(source, g.slice(0))
	case 4:
		g.from(source, g.slice(s.uint16()))
	case 5:
		a := codec.Ack{ChunkID: uint16(s.byte()), NumSlices: 1 + int(s.byte())}
		a.Acked = readBits(s).Intersect(codec.FirstN(a.NumSlices))
		d, _ := g.framer.AppendAck(nil, a)
		g.from(source, d)
	case 6: // too long by a byte or more
		g.from(source, append(g.slice(0), noise[:1+int(s.byte())*8]...))
	case 7: // garbage that seems to come from the honest peer
		d := append(make([]byte, 3), s.take(int(s.byte()))...)
		if p, err := g.framer.Decode(d); err == nil {
			g.Fatalf("garbage decodes to %s", describe(p))
		}
		g.write(g.honest, "honest", d, "garbage in the honest peer's name")
	case 8, 9:
		d := time.Duration(s.byte()) * 20 * time.Millisecond
		if g.story != nil {
			g.tell("%v pass", d)
		}
		time.Sleep(d)
	}
}

// slice makes a valid slice's datagram.
func (g *siege) slice(chunkID uint16) []byte {
	s := codec.Slice{ChunkID: chunkID, NumSlices: 1 + int(g.script.byte()%4)}
	s.SliceID = int(g.script.byte()) % s.NumSlices
	s.Data = noise[:codec.SliceSize]
	if s.Last() {
		s.Data = noise[:1+int(g.script.byte())]
	}
	d, _ := g.framer.AppendSlice(nil, s)
	return d
}

// from sends a datagram from a stranger's address.
func (g *siege) from(source netsim.Addr, d []byte) {
	g.Helper()
	st := g.strangers[source]
	if st == nil {
		conn, err := g.network.Listen(source)
		if err != nil {
			g.Fatalf("%v", err)
		}
		st = &stranger{conn: conn}
		g.strangers[source] = st
	}
	what := "garbage"
	if p, err := g.framer.Decode(d); err == nil && len(d) <= codec.MaxDatagramSize {
		what = packetText(p)
		if p.Type == codec.TypeSlice {
			st.slices++
		}
	}
	g.write(st.conn, source, d, what)
}

func (g *siege) write(conn *netsim.Conn, from netsim.Addr, d []byte, what string) {
	g.Helper()
	if _, err := g.framer.Decode(d); err != nil {
		g.garbage++
	}
	if g.story != nil {
		g.tell("%s sends %d bytes: %s", from, len(d), what)
	}
	if _, err := conn.WriteTo(d, netsim.Addr("server")); err != nil {
		g.Fatalf("%v", err)
	}
}

// check is what holds at any time.
func (g *siege) check() {
	g.Helper()
	synctest.Wait()
	st := g.server.Stats()
	switch {
	case st.Peers > g.maxPeers:
		g.Fatalf("%d connections, %d are allowed", st.Peers, g.maxPeers) // SEC-3
	case st.Garbage != g.garbage:
		g.Fatalf("%d datagrams were garbage, %d are counted", g.garbage, st.Garbage) // CON-4
	case st.ReadErrors+st.WriteErrors+st.Refused != 0 || g.server.Err() != nil:
		g.Fatalf("%+v, %v", st, g.server.Err())
	}
}

// delivered waits until the honest peer's chunk has come.
func (g *siege) delivered() {
	g.Helper()
	if err := <-g.sent; err != nil {
		g.Fatalf("the honest peer could not send: %v", err)
	}
	if g.story != nil {
		g.tell("the honest peer's chunk is acked")
	}
	select {
	case chunk := <-g.received:
		if !bytes.Equal(chunk, g.chunk) {
			g.Fatalf("the honest peer's chunk is not what it sent")
		}
	case <-time.After(time.Minute):
		g.Fatalf("the honest peer's chunk did not come")
	}
}

// answers: nobody got more datagrams than it sent valid slices (BND-2).
func (g *siege) answers() {
	g.Helper()
	time.Sleep(time.Second)
	for source, st := range g.strangers {
		if answers := int64(g.network.Stats("server", source).Sent); answers > st.slices {
			g.Fatalf("%s sent %d valid slices and got %d answers", source, st.slices, answers)
		}
	}
	if err := g.server.Err(); err != nil && !errors.Is(err, transport.ErrClosed) {
		g.Fatalf("%v", err)
	}
}

func (g *siege) tell(format string, args ...any) {
	g.story.at(micros(time.Since(g.began).Microseconds()), format, args...)
}

func tellTransport(s *story, data []byte) { runTransport(witness{}, data, s) }
