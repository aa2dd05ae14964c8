package attack

import (
	"crypto/rand"
	"flag"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/transport"
)

var realSockets = flag.Bool("attack.sockets", false, "the attacks of liars are carried out over the system's sockets as well, by the clock; what is asserted of speed is so in virtual time only")

// rogue is a client that links as any, and then sends what it likes.
type rogue struct {
	pc       net.PacketConn
	to       net.Addr
	mu       sync.Mutex
	link     *session.Link
	sequence uint16
	in, out  traffic // after the handshake
	seen     seen
}

// seen is what a rogue has read of what came.
type seen struct {
	number core.Number // the newest
	chunk  uint16      // of the latest slice
	slices int         // up to the highest of it
}

// newRogue links, and returns the client.
func newRogue(t testing.TB, n network, to net.Addr, cfg transport.Config) *rogue {
	t.Helper()
	r := &rogue{pc: n.bind(t, "127.0.0.1:0"), to: to, seen: seen{number: -1}}
	full := check.Must(connection.Config{Terms: session.Terms{Variants: session.VariantSlices}}.Complete())
	client := check.Must(session.NewClient(0, session.ClientConfig{Terms: full.Terms, Identity: cfg.Identity, Key: cfg.Key, Random: rand.Reader}))
	buf, now := make([]byte, 2048), core.Micros(0)
	for client.Link() == nil {
		for d, ok := client.Poll(now, nil); ok; d, ok = client.Poll(now, nil) {
			r.pc.WriteTo(d, to)
		}
		r.pc.SetReadDeadline(time.Now().Add(time.Second))
		size, _, err := r.pc.ReadFrom(buf)
		check.Must(size, err)
		_ = client.Receive(now, buf[:size])
		now += 20 * core.Millisecond
	}
	r.pc.SetReadDeadline(time.Time{})
	r.link = client.Link()
	go r.reads()
	return r
}

func (r *rogue) reads() {
	buf := make([]byte, 2048)
	format := connection.Format{Lanes: 1}
	for {
		size, _, err := r.pc.ReadFrom(buf)
		if err != nil {
			return
		}
		r.mu.Lock()
		r.in.add(size)
		if body, err := r.link.Open(nil, buf[:size]); err == nil {
			if p, err := (packet.Format{}).Decode(body); err == nil {
				r.seen.number = max(r.seen.number, core.Space(16).UpTo(r.seen.number+1<<15, p.Sequence))
				var record connection.Record
				if _, err := format.Decode(p.Data, 0, &record); err == nil && record.Type == connection.TypeSlice {
					s := record.Slice
					if s.ChunkID != r.seen.chunk {
						r.seen.chunk, r.seen.slices = s.ChunkID, 0
					}
					r.seen.slices = max(r.seen.slices, s.SliceID+1)
				}
			}
		}
		r.mu.Unlock()
	}
}

// says sends a packet that acks numbers, and slices of chunks.
func (r *rogue) says(ack core.Number, bits uint32, acks ...codec.Ack) {
	r.mu.Lock()
	payload := []byte{}
	for _, a := range acks {
		payload, _ = connection.Format{Lanes: 1}.Append(payload, &connection.Record{Type: connection.TypeChunkAck, Ack: a})
	}
	if len(payload) == 0 {
		payload = []byte{0}
	}
	h := packet.Header{Sequence: r.sequence, Ack: uint16(ack), AckBits: bits}
	r.sequence++
	d := r.link.Seal(nil, check.Must(packet.Format{}.Append(nil, &packet.Packet{Header: h, Data: payload})))
	r.out.add(len(d))
	r.mu.Unlock()
	r.pc.WriteTo(d, r.to)
}

func (r *rogue) saw() seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen
}

func (r *rogue) traffic() (in, out traffic) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.in, r.out
}

// every lets a rogue say something again and again for some time.
func every(interval, during time.Duration, says func()) {
	for end := time.Now().Add(during); time.Now().Before(end); time.Sleep(interval) {
		says()
	}
}

// whole is an ack of all slices of a full chunk.
func whole(chunk uint16) codec.Ack {
	return codec.Ack{ChunkID: chunk, NumSlices: codec.MaxSlices, Acked: core.FirstN(codec.MaxSlices)}
}

var fullChunk = make([]byte, codec.MaxChunkSize)

// ghosts are clients that have linked, and read nothing any more: what they say for some time. told
// says how many chunks the server believes to have arrived.
var ghosts = []struct {
	name string
	says func(r *rogue, told *atomic.Int64)
}{
	{"a ghost that is told of each chunk", func(r *rogue, told *atomic.Int64) {
		n := core.Number(0)
		every(2*ms, 5*time.Second, func() { n += 32; r.says(n, 1<<32-1, whole(uint16(told.Load()))) })
	}},
	{"one that acks no packets", func(r *rogue, told *atomic.Int64) {
		every(2*ms, 5*time.Second, func() { r.says(-1, 0, whole(uint16(told.Load()))) })
	}},
	{"a blind ghost", func(r *rogue, _ *atomic.Int64) {
		chunk := uint16(0)
		every(10*ms, 5*time.Second, func() {
			for n := range core.Number(8) {
				r.says(32*n+31, 1<<32-1, whole(chunk))
			}
			chunk++
		})
	}},
	{"one that says that it is there", func(r *rogue, _ *atomic.Int64) { r.says(-1, 0); time.Sleep(9 * time.Second) }},
}

// A client that has linked and reads nothing any more draws a first window, and hardly more: at
// most three times what it sends (CXM-23, CXA-43).
func TestGhosts(t *testing.T) {
	for _, p := range []protocol{anonymous, keyed} {
		for _, g := range ghosts {
			var cfg transport.Config
			if p.name == keyed.name {
				cfg = newIdentity()
			}
			ghost := func(t *testing.T, n network) {
				s := p.serve(t, n.bind(t, "127.0.0.1:0"))
				told := pushes(s, fullChunk, 1_000_000)
				r := newRogue(t, n, s.Addr(), cfg)
				g.says(r, told)
				in, out := r.traffic()
				window := connection.InitialWindow * 1_100
				t.Logf("%s, %s: %d bytes draw %d in %d datagrams; %d chunks are believed", p.name, g.name, out.bytes, in.bytes, in.datagrams, told.Load())
				trials := 4 * 1_100
				if in.bytes > window+trials+3*out.bytes {
					t.Errorf("%s: more than three times as much, after the first window", g.name)
				}
			}
			virtual(t, ghost)
			if *realSockets {
				ghost(t, network{})
			}
		}
	}
}

// bottleneck is a server's socket whose datagrams all go through one queue of 64 KiB at 20 Mbit/s,
// and take 10 ms.
type bottleneck struct {
	net.PacketConn
	mu            sync.Mutex
	free          time.Time
	sent, dropped int
}

func (b *bottleneck) WriteTo(d []byte, to net.Addr) (int, error) {
	const bytesPerSecond, queue = 2_500_000, 64 << 10
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.free.Before(now) {
		b.free = now
	}
	b.sent++
	wait := b.free.Sub(now)
	if wait > queue*time.Second/bytesPerSecond {
		b.dropped++
		return len(d), nil
	}
	b.free = b.free.Add(time.Duration(len(d)+headers) * time.Second / bytesPerSecond)
	d = append([]byte(nil), d...)
	time.AfterFunc(wait+10*ms, func() { b.PacketConn.WriteTo(d, to) })
	return len(d), nil
}

// meter is a server's socket that counts what goes to each address, with headers.
type meter struct {
	net.PacketConn
	mu sync.Mutex
	to map[string]int
}

func (m *meter) WriteTo(d []byte, to net.Addr) (int, error) {
	m.mu.Lock()
	m.to[to.String()] += len(d) + headers
	m.mu.Unlock()
	return m.PacketConn.WriteTo(d, to)
}

// A client that lies so well that it is not found draws as much as an honest one. What clients
// without an identity draw together is a quarter of what the server may send, of which each has its
// share, and one with a key has the rest (CXA-8, CXA-44).
func TestAllThatLie(t *testing.T) {
	const rate, during, many = 40_000_000, 4 * time.Second, 4
	virtual(t, func(t *testing.T, n network) {
		n.sim.SetDefault(netsim.Path{Delay: 10 * ms})
		pc := &meter{PacketConn: n.bind(t, "127.0.0.1:0"), to: map[string]int{}}
		pushes(connections("", transport.Config{Keys: anyKey, Anonymous: true, ServerRate: rate}, newIdentity).serve(t, pc), fullChunk, 1000)
		dial := func(cfg transport.Config) string {
			own := n.bind(t, "127.0.0.1:0")
			c := check.Must(transport.Over(background, own, pc.LocalAddr(), cfg))
			t.Cleanup(func() { c.Close(0, "") })
			go func() {
				for err := error(nil); err == nil; {
					_, err = c.Chunks().Recv(background)
				}
			}()
			return own.LocalAddr().String()
		}
		var anonymous []string
		for range many {
			anonymous = append(anonymous, dial(transport.Config{}))
		}
		with := dial(newIdentity())
		time.Sleep(during)
		pc.mu.Lock()
		defer pc.mu.Unlock()
		of := func(address string) float64 { return float64(pc.to[address]) * 8 / during.Seconds() / rate }
		all := 0.0
		for _, a := range anonymous {
			if all += of(a); of(a) < 0.7/4/many {
				t.Errorf("one of %d without an identity has %.3f of the rate", many, of(a))
			}
		}
		t.Logf("%d without an identity draw %.3f of the rate, one with a key %.3f", many, all, of(with))
		if all > 0.25*1.05 || of(with) < 0.6 || all+of(with) > 1.05 {
			t.Error("that is not the share of each")
		}
	})
}

// neighbours are the clients beside an honest one.
var neighbours = []struct {
	name string
	says func(r *rogue)
}{
	{"a liar that acks chunks alone", func(r *rogue) {
		s := r.saw()
		r.says(s.number, 0, whole(s.chunk), whole(s.chunk+1))
	}},
	{"a liar that acks packets and chunks", func(r *rogue) {
		s := r.saw()
		r.says(s.number+8, 1<<32-1, whole(s.chunk))
	}},
	{"a liar that hides its losses", func(r *rogue) {
		s := r.saw()
		acked := core.Set{}
		if s.slices > 0 {
			acked = core.FirstN(s.slices)
		}
		r.says(s.number, 1<<32-1, codec.Ack{ChunkID: s.chunk, NumSlices: codec.MaxSlices, Acked: acked})
	}},
}

// Beside a liar an honest client has at least a third of the link, as beside another one. Over the system's
// sockets the processor can be the bottleneck before the link is, so the share is printed there, and asserted in
// virtual time.
func TestBesideALiar(t *testing.T) {
	const during = 8 * time.Second
	beside := func(t *testing.T, n network, name string, other func(n network, to net.Addr)) {
		pc := &bottleneck{PacketConn: n.bind(t, "127.0.0.1:0")}
		s := anonymous.serve(t, pc)
		pushes(s, fullChunk, 1_000_000)
		go other(n, s.Addr())
		c := check.Must(anonymous.dial(t, n.bind(t, "127.0.0.1:0"), s.Addr()))
		worlds := 0
		for end := time.Now().Add(during); time.Now().Before(end); worlds++ {
			check.Must(c.Recv(background))
		}
		pc.mu.Lock()
		share := float64(worlds*len(fullChunk)) / (2_500_000 * during.Seconds())
		t.Logf("beside %s: %d worlds, %.0f %% of the link; %d of %d datagrams dropped", name, worlds, 100*share, pc.dropped, pc.sent)
		pc.mu.Unlock()
		if n.sim != nil && share < 1./3 {
			t.Errorf("beside %s: less than a third of the link", name)
		}
	}
	run := func(t *testing.T, n network) {
		beside(t, n, "an honest client", func(n network, to net.Addr) {
			c := check.Must(anonymous.dial(t, n.bind(t, "127.0.0.1:0"), to))
			for err := error(nil); err == nil; {
				_, err = c.Recv(background)
			}
		})
	}
	virtual(t, run)
	for _, o := range neighbours {
		liar := func(t *testing.T, n network) {
			beside(t, n, o.name, func(n network, to net.Addr) {
				r := newRogue(t, n, to, transport.Config{})
				every(300*time.Microsecond, during, func() { o.says(r) })
			})
		}
		virtual(t, liar)
		if *realSockets {
			liar(t, network{})
		}
	}
	if *realSockets {
		run(t, network{})
	}
}
