package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// receive gives a shard one datagram.
func receive(sh *shard, now core.Micros, datagram []byte, from udp.Addr) {
	sh.Receive(now, []udp.Arrival{{Data: datagram, Size: len(datagram), From: from}})
	for waits := true; waits; { // for a key
		sh.driver.Lock()
		waits = sh.asking.count > 0
		sh.driver.Unlock()
	}
}

// silentServer has no goroutines, so that nothing reads its sockets.
func silentServer(t testing.TB, cfg Config) *Server {
	t.Helper()
	set, err := newSettings(patient(cfg))
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{settings: set, clock: driver.StartClock(), seed: maphash.MakeSeed(), ctx: t.Context(), acceptor: driver.NewAcceptor[*Peer](driver.AcceptorBounds{All: set.MaxPeers, OfSource: set.MaxPerAddress})}
	for i := range set.Sockets {
		pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pc.Close() })
		sh, err := newShard(s, udp.New(pc), i)
		if err != nil {
			t.Fatal(err)
		}
		s.shards = append(s.shards, sh)
	}
	return s
}

// patient returns a Config whose connections outlive any pause of a busy machine, unless it says how long they live.
func patient(cfg Config) Config {
	if cfg.Timeout == 0 {
		cfg.Timeout = time.Hour
	}
	return cfg
}

// Several sockets share what a server has place for, also where that is the default.
func TestSocketsShareThePlaces(t *testing.T) {
	for _, c := range []struct {
		cfg               Config
		peers, perAddress int // of each socket
	}{
		{Config{}, 1024, 256},
		{Config{Sockets: 4}, 256, 64},
		{Config{Sockets: 4, MaxPeers: 40}, 10, 4},
		{Config{Sockets: 4, MaxPeers: 40, MaxPerAddress: 40}, 10, 10},
	} {
		set, err := newSettings(c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.server(0, false); got.MaxConnections != c.peers || got.MaxPerAddress != c.perAddress {
			t.Errorf("%d sockets, %d peers: %d and %d each, want %d and %d", c.cfg.Sockets, c.cfg.MaxPeers,
				got.MaxConnections, got.MaxPerAddress, c.peers, c.perAddress)
		}
	}
}

// peerAt returns an address of its own for each number.
func peerAt(i int) udp.Addr {
	ip := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
	return udp.AddrOf(netip.AddrPortFrom(ip, 9000))
}

// mate is a client that is played by a test, without a socket.
type mate struct {
	t      testing.TB
	shard  *shard
	addr   udp.Addr
	client *connection.Client
	batch  *driver.Batch
	polled int // datagrams of the client that sendHalf moved or dropped
}

// join connects a client with the server's only shard.
func join(t testing.TB, sh *shard, i int, cfg Config) *mate {
	t.Helper()
	m := &mate{t: t, shard: sh, addr: peerAt(i), batch: driver.NewBatch(session.LargestDatagram)}
	cfg = patient(cfg)
	client := cfg.client(false)
	client.Memory = new(connection.Memory)
	var err error
	if m.client, err = connection.NewClient(client, sh.driver.Now()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		m.exchange()
	}
	if m.client.Conn() == nil || m.peer() == nil {
		t.Fatalf("client %d has not connected: %v", i, m.client.State())
	}
	return m
}

// peer returns the server's end.
func (m *mate) peer() *Peer {
	p, err := m.shard.server.Accept(m.t.Context())
	if err != nil {
		m.t.Fatal(err)
	}
	m.shard.server.acceptor.Offer(p)
	return p
}

// exchange moves what is due, both ways.
func (m *mate) exchange() {
	now := m.shard.driver.Now()
	for {
		datagram, ok := m.client.Poll(now, nil)
		if !ok {
			break
		}
		receive(m.shard, now, datagram, m.addr)
	}
	for _, run := range m.shard.driver.CollectForTest() {
		for datagram := range run.Datagrams() {
			m.client.Receive(now, datagram)
		}
	}
}

// An ack that is due when the connection is closed goes out before the CLOSE: who sent
// the chunk learns that it was received (CXL-5).
func TestAcksGoBeforeTheClose(t *testing.T) {
	m := join(t, silentServer(t, Config{}).shards[0], 1, Config{})
	p := m.peer()
	now := m.shard.driver.Now()
	number, err := m.client.Conn().SendChunk(now, make([]byte, 1000))
	if err != nil {
		t.Fatal(err)
	}
	for datagram, ok := m.client.Poll(now, nil); ok; datagram, ok = m.client.Poll(now, nil) {
		receive(m.shard, now, datagram, m.addr)
	}
	if chunk, err := p.Chunks().Recv(t.Context()); err != nil || len(chunk) != 1000 {
		t.Fatal(len(chunk), err)
	}
	if err := p.Close(0, ""); err != nil {
		t.Fatal(err)
	}
	m.exchange()
	if got, ok := m.client.Conn().ChunkDone(); !ok || got != number {
		t.Error("the sender does not know that its chunk was received")
	}
	if state := m.client.Conn().State(); state != connection.Closed {
		t.Errorf("the client is %v", state)
	}
}

// What arrives together from several clients, and at whatever socket, is delivered to each at once.
func TestPeersOfOneArrival(t *testing.T) {
	s := silentServer(t, Config{Sockets: 2})
	var in []udp.Arrival
	for i := range 4 {
		m := join(t, s.shards[i/2], i, Config{})
		now := m.shard.driver.Now()
		if _, err := m.client.Conn().SendChunk(now, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		for datagram, ok := m.client.Poll(now, nil); ok; datagram, ok = m.client.Poll(now, nil) {
			in = append(in, udp.Arrival{Data: datagram, Size: len(datagram), From: m.addr})
		}
	}
	s.shards[0].Receive(s.clock.Now(), in)
	for range 4 {
		if p, err := s.Accept(t.Context()); err != nil || p.link.CompleteLocked() != 1 {
			t.Errorf("%d chunks are delivered, %v", p.link.CompleteLocked(), err)
		}
	}
}

// Neither a forged datagram of any kind costs an allocation, nor its answer.
func TestNoAllocationPerForgedDatagram(t *testing.T) {
	s := silentServer(t, Config{Keys: testKeys, MaxPerAddress: 1024})
	sh := s.shards[0]
	m := join(t, sh, 1, Config{Identity: 1, Key: testKey})
	for name, datagram := range forgeries(t, m) {
		t.Run(name, func(t *testing.T) {
			now := sh.driver.Now()
			receive := func() {
				receive(sh, now, datagram, peerAt(2))
				sh.driver.CollectForTest()
			}
			receive()
			if n := testing.AllocsPerRun(1000, receive); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
	st := s.Stats()
	if len(st.Undecodable) < 4 || st.Peers != 1 {
		t.Errorf("%v: the test tests nothing", st.Undecodable)
	}
}

var testKey = session.Key{1}

func testKeys(context.Context, uint64) (session.Key, error) { return testKey, nil }

// forgeries returns what somebody without a key can send.
func forgeries(t testing.TB, m *mate) map[string][]byte {
	t.Helper()
	link := session.Message{Kind: session.KindLink, Versions: session.Versions{session.Version}, Offer: session.Offer{Mode: session.AEAD, Identity: 1, Timeout: core.Second}}
	proof := link
	proof.Kind = session.KindProof
	encode := func(msg session.Message) []byte {
		b, err := msg.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	data := append([]byte{byte(session.AEAD)}, make([]byte, 1100)...)
	known := append([]byte(nil), data...)
	binary.LittleEndian.PutUint32(known[1:], m.client.Conn().Link().ID())
	huge := append([]byte(nil), known...)
	return map[string][]byte{
		"LINK":         encode(link),
		"PROOF":        encode(proof),
		"unknown link": append([]byte{byte(session.AEAD), 1, 2, 3, 4}, make([]byte, 1100)...),
		"known link":   known,
		"too large":    append(huge, make([]byte, 8000)...),
		"garbage":      make([]byte, 100),
		"empty":        {},
	}
}

// mostIdle is what a connection that has nothing to do may cost, in bytes of heap.
const mostIdle = 12 << 10

// Handshakes whose answer could go nowhere, or would go behind too many others, are
// counted and cost nothing more; who has answered a challenge is heard all the same.
func TestWhoGetsNoAnswer(t *testing.T) {
	s := silentServer(t, Config{Keys: testKeys})
	sh := s.shards[0]
	m := join(t, sh, 1, Config{Identity: 1, Key: testKey})
	forged := forgeries(t, m)
	now := sh.driver.Now()
	own := udp.AddrOf(s.Addr().(*net.UDPAddr).AddrPort())
	for _, from := range []udp.Addr{{}, own, udp.AddrOf(netip.MustParseAddrPort("10.0.0.1:0")), udp.AddrOf(netip.MustParseAddrPort("224.0.0.1:9"))} {
		receive(sh, now, forged["LINK"], from)
	}
	if st := s.Stats(); st.BadSources != 4 || st.Challenges != 1 {
		t.Errorf("%d from bad sources, %d challenges", st.BadSources, st.Challenges)
	}
	const more = 100
	room := 0
	for ; s.Stats().AnswersDropped == 0; room++ {
		receive(sh, now, forged["LINK"], peerAt(2))
	}
	for range more {
		receive(sh, now, forged["LINK"], peerAt(2))
	}
	st := s.Stats()
	if st.Challenges != int64(room) || st.AnswersDropped != 1+more {
		t.Errorf("%d challenges of %d, %d dropped", st.Challenges, room+more, st.AnswersDropped)
	}
	receive(sh, now, forged["PROOF"], peerAt(2))
	sh.Unreadable(70_000, peerAt(3))
	st = s.Stats()
	if st.Undecodable[session.CodeCookie] != 1 || st.Undecodable[session.CodeTrailingData] != 1 {
		t.Errorf("%v", st.Undecodable)
	}
	if from := st.UndecodableFrom[session.CodeTrailingData]; from.String() != peerAt(3).String() {
		t.Errorf("too large a datagram came from %v", from)
	}
	if st.AnswersDropped != 1+more || len(st.Refused) != 0 {
		t.Errorf("%d dropped, refused %v", st.AnswersDropped, st.Refused)
	}
}

// An idle connection costs little.
func TestMemoryOfAnIdleConnection(t *testing.T) {
	const crowd = 500
	for name, c := range map[string]struct {
		server, client Config
		most           int64
	}{
		"anonymous":   {Config{MaxPerAddress: 1024}, Config{}, mostIdle},
		"aead":        {Config{MaxPerAddress: 1024, Keys: testKeys}, Config{Identity: 1, Key: testKey}, mostIdle},
		"chunks only": {Config{MaxPerAddress: 1024, Channels: NoChannels}, Config{Channels: NoChannels}, mostIdle},
	} {
		t.Run(name, func(t *testing.T) {
			s := silentServer(t, c.server)
			before := check.Heap()
			for i := range crowd {
				cfg := c.client
				if cfg.Identity != 0 {
					cfg.Identity = uint64(i + 1)
				}
				join(t, s.shards[0], i, cfg)
			}
			each := (check.Heap() - before) / crowd
			t.Logf("%d bytes a connection", each)
			if s.Stats().Peers != crowd {
				t.Fatalf("%d peers", s.Stats().Peers)
			}
			if each > c.most {
				t.Errorf("%d bytes a connection, want at most %d", each, c.most)
			}
			runtime.KeepAlive(s)
		})
	}
}

// A message from the client's machines to the server's application, with both ends'
// cryptography and the acks, and forged datagrams of each kind.
func BenchmarkReceive(b *testing.B) {
	for _, mode := range []session.Mode{session.MAC, session.AEAD} {
		client, server := Config{Identity: 1, Key: testKey, Mode: mode}, Config{Keys: testKeys, Mode: mode}
		b.Run(fmt.Sprint("message ", mode), func(b *testing.B) {
			m := join(b, silentServer(b, server).shards[0], 1, client)
			p := m.peer()
			b.ReportAllocs()
			now, buf, message := m.shard.driver.Now(), make([]byte, 0, 2048), make([]byte, 60)
			taken := 0
			for b.Loop() {
				now += connection.BadTick
				m.client.Conn().Send(now, 0, message, 0)
				for datagram, ok := m.client.Poll(now, buf); ok; datagram, ok = m.client.Poll(now, buf) {
					receive(m.shard, now, datagram, m.addr)
				}
				if _, ok := p.Unreliable().TryRecv(); ok {
					taken++
				}
				for _, run := range m.shard.driver.CollectForTest() { // acks
					m.client.Receive(now, run.Data[:run.Size])
				}
			}
			b.ReportMetric(float64(taken)/float64(b.N), "messages/op")
		})
	}
	s := silentServer(b, Config{Keys: testKeys})
	m := join(b, s.shards[0], 1, Config{Identity: 1, Key: testKey})
	for name, datagram := range forgeries(b, m) {
		b.Run("forged "+name, func(b *testing.B) {
			b.ReportAllocs()
			now := m.shard.driver.Now()
			for b.Loop() {
				receive(m.shard, now, datagram, peerAt(2))
				m.shard.driver.CollectForTest()
			}
		})
	}
}

// What a lock costs that several readers share: each processor has connections of its
// own, whose datagrams it gives to the server, at one socket or at one for each.
func BenchmarkLocks(b *testing.B) {
	for _, sockets := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("%d sockets", sockets), func(b *testing.B) {
			s := silentServer(b, Config{Sockets: sockets})
			mates := make([]*mate, runtime.GOMAXPROCS(0))
			for i := range mates {
				mates[i] = join(b, s.shards[i%sockets], i, Config{})
			}
			var next atomic.Int32
			b.RunParallel(func(pb *testing.PB) {
				m := mates[next.Add(1)-1]
				buf, body := make([]byte, 0, 2048), make([]byte, 60) // no packet, but under the right seal
				for pb.Next() {
					receive(m.shard, m.shard.driver.Now(), m.client.Conn().Link().Seal(buf, body), m.addr)
				}
			})
			if st := s.Stats(); st.Peers != len(mates) {
				b.Errorf("%d peers are left", st.Peers)
			}
		})
	}
}

// A client whose server has said something does not end when its system says that nobody listens: anyone who knows the
// ports could have said that (CXA-6).
func TestAPortThatIsUnreachableAfterAnAnswer(t *testing.T) {
	for _, heard := range []int{0, 1} {
		c := newClientForTest(t)
		for range heard {
			c.peer.heardLocked(0, 40)
		}
		c.PortUnreachableLocked(errors.New("refused"))
		if ended := c.peer.link.Driver.ErrLocked() != nil; ended != (heard == 0) {
			t.Errorf("after %d datagrams it ends the client: %v", heard, ended)
		}
	}
}

// A connection whose socket takes nothing has a quarter more time than the other end has, and not less: what waits in
// the socket comes before the timers.
func TestAWriteThatBlocksHasAQuarterMore(t *testing.T) {
	for _, c := range []struct {
		at   core.Micros
		ends bool
	}{{session.DefaultTimeout, false}, {session.DefaultTimeout * 5 / 4, true}} {
		client := newClientForTest(t)
		client.peer.expireLocked(c.at)
		if ended := client.peer.link.ErrLocked() != nil; ended != c.ends {
			t.Errorf("after %v it has ended: %v", c.at, ended)
		}
	}
}

// newClientForTest returns a client without goroutines, which has heard nothing.
func newClientForTest(t *testing.T) *client {
	t.Helper()
	set, err := newSettings(Config{})
	if err != nil {
		t.Fatal(err)
	}
	pc, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	c := &client{settings: set}
	d := driver.New(udp.New(pc), c, driver.StartClock(), session.LargestDatagram)
	if c.machine, err = connection.NewClient(set.client(false), 0); err != nil {
		t.Fatal(err)
	}
	c.peer = newPeer(&driver.Links{Driver: d, RecvQueue: set.RecvQueue}, c.machine, peerAt(1))
	c.peer.client = c
	c.peer.link.AddLocked((*polled)(c.peer), 0)
	return c
}

// The clock that is shown follows what is known, and never runs backward but by a jump of more than a second (CXM-31).
func TestTheShownClockIsSetRightSlowly(t *testing.T) {
	var s shown
	at, last := core.Micros(0), core.Micros(0)
	for _, step := range []struct{ ahead, took, want, off core.Micros }{
		{5_000_000, 0, 5_000_000, 0},            // the first is taken as it is
		{5_100_000, 200_000, 5_010_000, 90_000}, // a twentieth of 200 ms
		{4_990_000, 200_000, 5_000_000, -10_000},
		{4_990_000, 200_000, 4_990_000, 0}, // no further than it is wrong
		{4_500_000, 1_000, 4_989_950, -489_950},
		{9_000_000, 1_000, 9_000_000, 0}, // more than a second
	} {
		at += step.took
		off := s.follow(at, step.ahead)
		if s.ahead != step.want || off != step.off {
			t.Errorf("at %d: %d ahead, off by %d; want %d and %d", at, s.ahead, off, step.want, step.off)
		}
		if at+s.ahead < last {
			t.Errorf("at %d it runs backward", at)
		}
		last = at + s.ahead
	}
}

func TestShortened(t *testing.T) {
	long := strings.Repeat("x", connection.MaxText-1) + "é"
	for text, want := range map[string]string{"bye": "bye", long: long[:connection.MaxText-1], "\xff": "?"} {
		if got := shortened(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// Who reads the path, and sends a changed PROOF from the client's address while its key is asked for, does not keep the
// client out (CXA-32).
func TestAForgedProofBesideOneThatWaits(t *testing.T) {
	answer := make(chan struct{})
	key := session.Key{1}
	sh := silentServer(t, Config{Keys: func(context.Context, uint64) (session.Key, error) { <-answer; return key, nil }}).shards[0]
	cfg := check.Must(newSettings(Config{Identity: 7, Key: key})).Config
	client, now := check.Must(connection.NewClient(cfg.client(false), sh.driver.Now())), sh.driver.Now()
	at := func(datagram []byte) []udp.Arrival {
		return []udp.Arrival{{Data: datagram, Size: len(datagram), From: peerAt(1)}}
	}
	answers := func() {
		for _, run := range sh.driver.CollectForTest() {
			_ = client.Receive(now, run.Data)
		}
	}
	link, _ := client.Poll(now, nil)
	sh.Receive(now, at(link))
	answers()
	proof, _ := client.Poll(now, nil)
	sh.Receive(now, at(proof))
	forged := slices.Clone(proof)
	forged[len(forged)-1] ^= 1
	sh.Receive(now, at(forged))
	close(answer)
	receive(sh, now, link, peerAt(2)) // returns when none waits
	answers()
	check.That(t, client.Conn() != nil, "the client has its connection")
}

// 218 prefixes can fill the places for questions (docs/LIMITS.md): the first has 16, the last ones have one.
func TestPrefixesThatFillThePlaces(t *testing.T) {
	a := asking{of: map[uint64]int{}}
	prefixes := uint64(0)
	for ; a.count < mostAsking; prefixes++ {
		for a.hasPlace(prefixes) {
			a.of[prefixes]++
			a.count++
		}
	}
	check.Equal(t, "prefixes, places of the first and of the last", []int{int(prefixes), a.of[0], a.of[prefixes-1]}, []int{218, 16, 1})
}
