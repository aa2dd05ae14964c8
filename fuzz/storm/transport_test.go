package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/plain"
)

var (
	stormFrom   = flag.Uint64("storm.from", 1, "`seed` of the first world of TestTransportStorm")
	stormWorlds = flag.Uint64("storm.worlds", 40, "how many worlds TestTransportStorm runs")
)

// A server of package transport/plain and some peers on a network with faults, with
// goroutines and sockets, in virtual time. Peers are killed, stopped and begun
// again; unknown peers write to the server. What an application then receives must
// be right.
func TestTransportStorm(t *testing.T) {
	worlds := *stormWorlds
	if testing.Short() || raceDetector {
		worlds = min(worlds, 12)
	}
	var all transportCounts
	for seed := *stormFrom; seed < *stormFrom+worlds; seed++ {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { newTransportWorld(t, seed, &all).run() })
		})
	}
	t.Logf("%+v", &all)
	if worlds < 12 {
		return // too few to see everything
	}
	for name, n := range map[string]*atomic.Int64{
		"sent": &all.sent, "received": &all.received, "failed": &all.failed, "killed": &all.killed,
		"stopped": &all.stopped, "outages": &all.outages, "corrupted": &all.corrupted, "replayed": &all.replayed,
		"refused": &all.refused, "undecodable": &all.undecodable,
	} {
		if n.Load() == 0 {
			t.Errorf("never: %s", name)
		}
	}
}

type transportCounts struct {
	sent, received, failed, killed, stopped, outages, corrupted, replayed, refused, undecodable atomic.Int64
}

// Figures of these worlds.
const (
	transportGiveUp = 5 * time.Second
	transportID     = 0x11223344
	calmTime        = 5 * time.Minute // by when all must be done without faults
)

type transportWorld struct {
	t      *testing.T
	seed   uint64
	counts *transportCounts
	net    *netsim.Network
	server *plain.Endpoint
	ctx    context.Context
	tasks  sync.WaitGroup

	mu     sync.Mutex // guards what follows
	random sim.Draw
	calm   bool
	live   []*socket
	// reached counts, by the name of a peer's incarnation, the chunks that the
	// server's application has read.
	reached map[string]int
}

func newTransportWorld(t *testing.T, seed uint64, counts *transportCounts) *transportWorld {
	w := &transportWorld{
		t: t, seed: seed, counts: counts, net: netsim.NewNetwork(seed),
		random: sim.NewDraw(seed, 7), reached: map[string]int{},
	}
	w.must(w.net.SetDefault(w.path()))
	return w
}

func (w *transportWorld) config() plain.Config {
	return plain.Config{
		ProtocolID: transportID, GiveUp: transportGiveUp, IdleTimeout: 3 * transportGiveUp, RecvQueue: 1,
		LimitUnvalidated: w.seed%2 == 0,
		Admit:            func(peer net.Addr) bool { return !strings.HasPrefix(peer.String(), "unknown") },
	}
}

// draw takes a random number from the source that all goroutines share.
func (w *transportWorld) draw(low, high int64) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return low + w.random.Int64N(high-low+1)
}

// path draws a path with faults; not with locks held by others.
func (w *transportWorld) path() netsim.Path {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.random.Path()
	p.Loss = min(p.Loss, 30)
	return p
}

func (w *transportWorld) run() {
	ctx, cancel := context.WithCancel(context.Background())
	w.ctx = ctx
	w.server = w.open("server")
	w.tasks.Go(w.accept)
	var peers sync.WaitGroup
	for i := range w.draw(1, 5) {
		peers.Go(func() { w.peer(int(i)) })
	}
	w.tasks.Go(w.makeFaults)
	w.tasks.Go(w.unknownPeers)
	peers.Wait()
	if s := w.server.Stats(); s.Peers > 100 {
		w.t.Errorf("the server holds %d connections", s.Peers)
	}
	cancel()
	_ = w.server.Close()
	w.tasks.Wait()
	w.counts.refused.Add(w.server.Stats().Refused)
	w.counts.undecodable.Add(w.server.Stats().Undecodable)
	for _, peer := range unknown {
		if n := w.net.Stats("server", peer).Sent; n > 0 {
			w.t.Errorf("%s was answered %d times", peer, n)
		}
	}
}

func (w *transportWorld) open(name netsim.Addr) *plain.Endpoint {
	pc, err := w.net.Listen(name)
	if err != nil {
		panic(err)
	}
	s := &socket{PacketConn: pc, world: w, name: name}
	e, err := plain.New(s, w.config())
	if err != nil {
		panic(err)
	}
	w.mu.Lock()
	w.live = append(w.live, s)
	w.mu.Unlock()
	return e
}

// accept serves each connection: it sends as many chunks as the peer's first
// chunk asks for, and reads what else comes.
func (w *transportWorld) accept() {
	for {
		conn, err := w.server.Accept(w.ctx)
		if err != nil {
			return
		}
		w.tasks.Go(func() { w.serve(conn) })
	}
}

func (w *transportWorld) serve(conn *plain.Conn) {
	name := conn.RemoteAddr().String()
	hello, err := conn.Recv(w.ctx)
	if err != nil {
		w.wantKnown(err)
		return
	}
	down, up := int(binary.LittleEndian.Uint16(hello)), int(binary.LittleEndian.Uint16(hello[2:]))
	if string(hello[4:]) != name {
		w.t.Errorf("%s begins with %q", name, hello)
	}
	w.note(name)
	w.both(conn, "down "+name, down, "up "+name, up, func() { w.note(name) })
	_ = conn.Linger(w.ctx, 2*transportGiveUp)
	_ = conn.Close()
}

func (w *transportWorld) note(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached[name]++
}

// both sends and receives at the same time, and returns how many chunks were
// sent and whether all went well.
func (w *transportWorld) both(conn *plain.Conn, out string, send int, in string, recv int, read func()) (sent int, ok bool) {
	var reading sync.WaitGroup
	fine := true
	reading.Go(func() { fine = w.receive(conn, in, recv, read) })
	for sent < send {
		w.sleep(0, 500*time.Millisecond)
		if err := conn.Send(w.ctx, w.chunk(out, sent)); err != nil {
			w.wantKnown(err)
			reading.Wait()
			return sent, false
		}
		sent++
		w.counts.sent.Add(1)
	}
	reading.Wait()
	return sent, fine
}

// receive reads chunks, at times slowly, and compares.
func (w *transportWorld) receive(conn *plain.Conn, in string, recv int, read func()) bool {
	for i := range recv {
		if w.draw(0, 9) == 0 {
			w.sleep(0, 2*transportGiveUp)
		}
		got, err := conn.Recv(w.ctx)
		if err != nil {
			w.wantKnown(err)
			return false
		}
		if !bytes.Equal(got, w.chunk(in, i)) {
			w.t.Errorf("chunk %d of %q is not what was sent", i, in)
			return false
		}
		w.counts.received.Add(1)
		read()
	}
	return true
}

// chunk is the i-th of a name: the same whoever asks.
func (w *transportWorld) chunk(name string, i int) []byte {
	seed := w.seed*1000 + uint64(i)
	for _, c := range []byte(name) {
		seed = seed*31 + uint64(c)
	}
	d := sim.NewDraw(seed, 8)
	sizes := [...]int{d.Between(1, 100), 1024 * d.Between(1, 16), d.Between(1, 8*1024), codec.MaxChunkSize - d.Between(0, 1500)}
	return content(d, sim.Among(d, sizes[:]...))
}

func content(d sim.Draw, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(d.Uint32())
	}
	return b
}

// wantKnown checks that a connection ends with an error that says why.
func (w *transportWorld) wantKnown(err error) {
	w.counts.failed.Add(1)
	for _, known := range []error{
		plain.ErrGaveUp, plain.ErrIdle, plain.ErrClosed, plain.ErrSocket, plain.ErrCanceled,
	} {
		if errors.Is(err, known) {
			return
		}
	}
	w.t.Errorf("a connection ends with %v", err)
}

// peer transfers some chunks each way, and begins again, at another address, until
// all have arrived. Without faults that is soon, or it ends in an error soon.
func (w *transportWorld) peer(i int) {
	down, up := int(w.draw(0, 12)), int(w.draw(0, 12))
	for incarnation := 1; ; incarnation++ {
		began := w.isCalm()
		start := time.Now()
		if w.visit(fmt.Sprintf("peer%d.%d", i, incarnation), down, up) {
			return
		}
		if began {
			w.t.Errorf("seed %d: peer %d failed without faults, after %v", w.seed, i, time.Since(start))
			return
		}
	}
}

// visit is one incarnation. It reports whether all chunks have arrived.
func (w *transportWorld) visit(name string, down, up int) (ok bool) {
	e := w.open(netsim.Addr(name))
	defer e.Close()
	conn, err := e.Dial(netsim.Addr("server"))
	if err != nil {
		panic(err)
	}
	limit, cancel := context.WithTimeout(w.ctx, calmTime+10*time.Minute)
	defer cancel()
	hello := binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, uint16(down)), uint16(up))
	err = conn.Send(limit, append(hello, name...))
	sent := 0
	if ok = err == nil; ok {
		sent, ok = w.both(conn, "up "+name, up, "down "+name, down, func() {})
		_ = conn.Linger(limit, 2*time.Second)
		w.wantReached(name, sent+1)
	} else {
		w.wantKnown(err)
	}
	if errors.Is(limit.Err(), context.DeadlineExceeded) {
		w.t.Errorf("seed %d: %s does not end", w.seed, name)
	}
	return ok
}

// wantReached checks that what was sent with success is read at the server sooner or
// later, also when the connection ends (SAFE-2).
func (w *transportWorld) wantReached(name string, chunks int) {
	n := 0
	for range 1000 {
		w.mu.Lock()
		n = w.reached[name]
		w.mu.Unlock()
		if n >= chunks {
			return
		}
		time.Sleep(time.Second)
	}
	w.t.Errorf("seed %d: %d chunks of %s were reported as delivered, but %d were read", w.seed, chunks, name, n)
}

// must fails on what cannot happen.
func (w *transportWorld) must(err error) {
	if err != nil {
		w.t.Error(err)
	}
}

func (w *transportWorld) sleep(low, high time.Duration) {
	time.Sleep(time.Duration(w.draw(int64(low), int64(high))))
}

func (w *transportWorld) isCalm() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calm
}

// makeFaults changes paths, stops and kills, and ends all faults in the end.
func (w *transportWorld) makeFaults() {
	end := time.Now().Add(time.Duration(w.draw(int64(5*time.Second), int64(2*time.Minute))))
	for time.Now().Before(end) && w.ctx.Err() == nil {
		w.sleep(10*time.Millisecond, 10*time.Second)
		w.makeFault()
	}
	time.Sleep(2 * transportGiveUp) // until nobody is stopped any more
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calm = true
	good := netsim.Path{Delay: 20 * time.Millisecond}
	w.must(w.net.SetDefault(good))
	for _, s := range w.live {
		w.must(w.net.SetPath("server", s.name, good))
		w.must(w.net.SetPath(s.name, "server", good))
	}
}

func (w *transportWorld) makeFault() {
	w.mu.Lock()
	s := w.live[w.random.IntN(len(w.live))]
	kind := w.random.IntN(5)
	w.mu.Unlock()
	switch kind {
	case 0, 1: // another path one way
		w.must(w.net.SetPath("server", s.name, w.path()))
	case 2:
		w.counts.outages.Add(1)
		w.must(w.net.SetPath(s.name, "server", netsim.Path{Loss: 100}))
		w.sleep(0, 2*transportGiveUp)
		w.must(w.net.SetPath(s.name, "server", w.path()))
	case 3:
		w.counts.stopped.Add(1)
		s.stop(time.Duration(w.draw(0, int64(2*transportGiveUp))))
	case 4:
		if s.name != "server" {
			w.counts.killed.Add(1)
			_ = s.PacketConn.Close() // the endpoint cannot send anything more
		}
	}
}

// unknown are the peers that the server does not admit.
var unknown = []netsim.Addr{"unknown1", "unknown2"}

// unknownPeers write to the server: garbage, and valid first slices.
func (w *transportWorld) unknownPeers() {
	framer := codec.NewFramer(transportID)
	beginning, _ := framer.AppendSlice(nil, codec.Slice{NumSlices: 1, Data: []byte("let me in")})
	late, _ := framer.AppendAck(nil, codec.Ack{NumSlices: 3, Acked: core.FirstN(3)})
	for _, name := range unknown {
		pc, err := w.net.Listen(name)
		if err != nil {
			panic(err)
		}
		defer pc.Close()
		for range 20 {
			w.sleep(0, time.Second)
			_, _ = pc.WriteTo(beginning, netsim.Addr("server"))
			_, _ = pc.WriteTo(late, netsim.Addr("server"))
			_, _ = pc.WriteTo(content(sim.NewDraw(uint64(w.draw(0, 1<<40)), 9), int(w.draw(0, 1200))), netsim.Addr("server"))
		}
	}
}
