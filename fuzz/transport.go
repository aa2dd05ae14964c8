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
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// An endpoint is sent what unknown peers may send: garbage, slices and acks from many
// addresses. It must answer no garbage (CON-4), no more than it was sent (BND-2), keep
// within its connections (SEC-3), leave no goroutine behind, and receive the chunk of an
// honest peer. Time is virtual.
//
// An input is a byte for how many connections the endpoint may have, of which bit 7
// limits what goes to unvalidated addresses; one for when the honest peer begins; and a
// script of operations, each a byte, a byte for the source address, and what op reads.
var targetTransport = newTarget("Transport", "garbage and unknown peers neither harm an endpoint nor an honest peer", runTransport, seedTransports)

const (
	maxUnknownOps = 48
	maxSources    = 24
)

func runTransport(t T, data []byte) {
	real, ok := t.(*testing.T)
	if !ok {
		real = new(testing.T) // other engines have none; it is only asked to run a function
	}
	var failed error
	synctest.Test(real, func(*testing.T) {
		failed = caught(func() { runServer(recorder{t.Logf}, data) })
	})
	if failed != nil {
		t.Fatalf("%v", failed)
	}
}

// server is an endpoint among unknown peers.
type server struct {
	T
	*plain.Endpoint
	script   script
	framer   codec.Framer
	network  *netsim.Network
	honest   *netsim.Conn
	maxPeers int
	unknown  map[netsim.Addr]*unknownPeer
	garbage  int64 // datagrams that do not decode

	chunk    []byte
	sent     chan error  // how the honest peer's chunk was sent
	received chan []byte // what the server received from the honest peer
}

// unknownPeer is a source address, and how many valid slices came from it.
type unknownPeer struct {
	conn   *netsim.Conn
	slices int64
}

func runServer(t T, data []byte) {
	g := &server{
		T: t, script: script{data}, framer: codec.NewFramer(conversationID), network: netsim.NewNetwork(1),
		unknown: map[netsim.Addr]*unknownPeer{}, sent: make(chan error, 1), received: make(chan []byte, 16),
	}
	head := g.script.byte()
	g.maxPeers = 1 + int(head%4)
	start := int(g.script.byte() % maxUnknownOps)
	g.listen(head&0x80 != 0)
	client := g.dial()
	defer g.Close()
	defer client.Close()
	honest := false
	for n := 0; g.script.more() && n < maxUnknownOps; n++ {
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
func (g *server) listen(limited bool) {
	g.Helper()
	pc, err := g.network.Listen("server")
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.Endpoint, err = plain.New(pc, plain.Config{
		ProtocolID: conversationID, MaxPeers: g.maxPeers, GiveUp: time.Second, LimitUnvalidated: limited,
	})
	if err != nil {
		g.Fatalf("%v", err)
	}
	go func() {
		for {
			c, err := g.Accept(context.Background())
			if err != nil {
				return
			}
			go g.receive(c)
		}
	}()
}

func (g *server) receive(c *plain.Conn) {
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
func (g *server) dial() *plain.Endpoint {
	g.Helper()
	pc, err := g.network.Listen("honest")
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.honest = pc
	e, err := plain.New(pc, plain.Config{ProtocolID: conversationID, GiveUp: 1000 * time.Hour})
	if err != nil {
		g.Fatalf("%v", err)
	}
	g.chunk = content(7, 2500)
	return e
}

func (g *server) send(e *plain.Endpoint) {
	c, err := e.Dial(netsim.Addr("server"))
	if err == nil {
		err = c.Send(context.Background(), g.chunk)
	}
	g.sent <- err
}

// op sends a datagram from somewhere, or lets time pass.
func (g *server) op() {
	g.Helper()
	s := &g.script
	op, source := s.byte()%10, netsim.Addr(fmt.Sprint("unknown ", s.byte()%maxSources))
	switch op {
	case 0: // garbage
		g.from(source, s.take(int(s.byte())))
	case 1: // garbage with a right crc
		d := append(make([]byte, 4), s.take(int(s.byte()))...)
		setCRC(conversationID, d)
		g.from(source, d)
	case 2, 3: // a slice with which a connection can begin
		g.from(source, g.slice(0))
	case 4:
		g.from(source, g.slice(s.uint16()))
	case 5:
		a := codec.Ack{ChunkID: uint16(s.byte()), NumSlices: 1 + int(s.byte())}
		a.Acked = readBits(s).Intersect(core.FirstN(a.NumSlices))
		d, _ := g.framer.AppendAck(nil, a)
		g.from(source, d)
	case 6: // too long by a byte or more
		g.from(source, append(g.slice(0), noise[:1+int(s.byte())*8]...))
	case 7: // garbage that seems to come from the honest peer
		d := append(make([]byte, 3), s.take(int(s.byte()))...)
		if p, err := g.framer.Decode(d); err == nil {
			g.Fatalf("garbage decodes to %s", describe(p))
		}
		g.write(g.honest, "honest", d)
	case 8, 9:
		time.Sleep(time.Duration(s.byte()) * 20 * time.Millisecond)
	}
}

// slice makes a valid slice's datagram.
func (g *server) slice(chunkID uint16) []byte {
	s := codec.Slice{ChunkID: chunkID, NumSlices: 1 + int(g.script.byte()%4)}
	s.SliceID = int(g.script.byte()) % s.NumSlices
	s.Data = noise[:codec.SliceSize]
	if s.Last() {
		s.Data = noise[:1+int(g.script.byte())]
	}
	d, _ := g.framer.AppendSlice(nil, s)
	return d
}

// from sends a datagram from an unknown peer's address.
func (g *server) from(source netsim.Addr, d []byte) {
	g.Helper()
	peer := g.unknown[source]
	if peer == nil {
		conn, err := g.network.Listen(source)
		if err != nil {
			g.Fatalf("%v", err)
		}
		peer = &unknownPeer{conn: conn}
		g.unknown[source] = peer
	}
	if p, err := g.framer.Decode(d); err == nil && p.Type == codec.TypeSlice {
		peer.slices++
	}
	g.write(peer.conn, source, d)
}

func (g *server) write(conn *netsim.Conn, from netsim.Addr, d []byte) {
	g.Helper()
	p, err := g.framer.Decode(d)
	if err != nil {
		g.garbage++
	}
	if verbose() {
		g.Logf("%s sends %d bytes: %s, %v", from, len(d), describe(p), err)
	}
	if _, err := conn.WriteTo(d, netsim.Addr("server")); err != nil {
		g.Fatalf("%v", err)
	}
}

// check is what holds at any time.
func (g *server) check() {
	g.Helper()
	synctest.Wait()
	st := g.Endpoint.Stats()
	switch {
	case st.Peers > g.maxPeers:
		g.Fatalf("%d connections, %d are allowed", st.Peers, g.maxPeers) // SEC-3
	case st.Undecodable != g.garbage:
		g.Fatalf("%d datagrams were garbage, %d are counted", g.garbage, st.Undecodable) // CON-4
	case st.ReadErrors+st.WriteErrors+st.Refused != 0 || g.Endpoint.Err() != nil:
		g.Fatalf("%+v, %v", st, g.Endpoint.Err())
	}
}

// delivered waits until the honest peer's chunk has come.
func (g *server) delivered() {
	g.Helper()
	if err := <-g.sent; err != nil {
		g.Fatalf("the honest peer could not send: %v", err)
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
func (g *server) answers() {
	g.Helper()
	time.Sleep(time.Second)
	for source, peer := range g.unknown {
		if answers := int64(g.network.Stats("server", source).Sent); answers > peer.slices {
			g.Fatalf("%s sent %d valid slices and got %d answers", source, peer.slices, answers)
		}
	}
	if err := g.Endpoint.Err(); err != nil && !errors.Is(err, plain.ErrClosed) {
		g.Fatalf("%v", err)
	}
}

// seedTransports gives an endpoint the datagrams that decoders refuse, some from
// one unknown peer and some from many, between the beginnings of connections.
func seedTransports(files []testvectors.File) (seeds [][]byte) {
	for i, d := range bytesIn(files, contract.OpDecodePacket) {
		if len(d) > 100 || i%4 != 0 { // the others differ only in their data
			continue
		}
		seed := []byte{byte(i), byte(i % 5)}
		seed = append(append(seed, 0, byte(i), byte(len(d))), d...)
		if len(d) > 4 {
			seed = append(append(seed, 1, byte(i+1), byte(len(d)-4)), d[4:]...)
		}
		seeds = append(seeds, append(seed, 2, byte(i), byte(i%4), 0, 9, 8, 0, byte(i%3)*60, 7, 0, 5, 1, 2, 3, 4, 5))
	}
	for places := range byte(4) { // more beginnings than places, and silence after
		seed := []byte{places, 4}
		for source := range byte(8) {
			seed = append(seed, 2, source, source%4, source, 100, 4, source, 1, 0, 0, 0, 9, 5, source, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 6, source, 0, 0, 0, 1)
		}
		seeds = append(seeds, append(seed, 8, 0, 60, 2, 9, 0, 0, 9, 8, 0, 60))
	}
	return seeds
}

// readBits reads a set: its first 64 by 8 bytes, and the others by a byte of
// which each bit stands for 24.
func readBits(s *script) (set core.Set) {
	set[0] = s.uint64()
	rest := s.byte()
	for id := 64; id < codec.MaxSlices; id++ {
		if rest>>((id-64)/24)&1 == 1 {
			set.Add(id)
		}
	}
	return set
}
