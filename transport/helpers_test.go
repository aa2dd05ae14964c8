package transport_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

const (
	ms         = time.Millisecond
	million    = 1_000_000
	protocolID = 0x11223344
)

var (
	background = context.Background()
	framer     = codec.NewFramer(protocolID)
	outage     = netsim.Path{Loss: 100}
	short      = netsim.Path{Delay: 10 * ms}
)

// with returns the good config with one thing changed.
func with(change func(*transport.Config)) transport.Config {
	cfg := transport.Config{ProtocolID: protocolID}
	if change != nil {
		change(&cfg)
	}
	return cfg
}

// bubble runs a test in virtual time. It fails if a goroutine is left.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// world is two endpoints on a network, "a" and "b", each behind a tap, and a
// connection between them.
type world struct {
	t          *testing.T
	net        *netsim.Network
	mu         sync.Mutex // of all taps, so that what drops at one may look at another
	tapA, tapB *tap
	a, b       *transport.Endpoint
	toB, toA   *transport.Conn // at a, and at b
}

// connect makes a world with the same path both ways. Both ends dial.
func connect(t *testing.T, p netsim.Path, cfg transport.Config) *world {
	t.Helper()
	w := &world{t: t, net: netsim.NewNetwork(1)}
	w.net.SetDefault(p)
	w.tapA, w.a = w.open("a", cfg)
	w.tapB, w.b = w.open("b", cfg)
	w.toB = w.dial(w.a, "b")
	w.toA = w.dial(w.b, "a")
	return w
}

// open starts an endpoint, which is closed at the end of the test.
func (w *world) open(addr netsim.Addr, cfg transport.Config) (*tap, *transport.Endpoint) {
	w.t.Helper()
	pc, err := w.net.Listen(addr)
	if err != nil {
		w.t.Fatal(err)
	}
	tapped := &tap{PacketConn: pc, mu: &w.mu}
	e, err := transport.New(tapped, cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { e.Close() })
	return tapped, e
}

func (w *world) dial(e *transport.Endpoint, to netsim.Addr) *transport.Conn {
	w.t.Helper()
	c, err := e.Dial(to)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// setPath changes the network both ways.
func (w *world) setPath(p netsim.Path) {
	w.net.SetPath("a", "b", p)
	w.net.SetPath("b", "a", p)
}

// tap is a socket that sees every datagram before it is sent, and may drop it.
type tap struct {
	net.PacketConn

	blind bool // keeps and drops nothing

	mu   *sync.Mutex
	drop func(codec.Packet) bool // nil: nothing
	log  []codec.Packet          // with data of their own
	raw  [][]byte
	to   []net.Addr
}

func (t *tap) WriteTo(b []byte, addr net.Addr) (int, error) {
	if t.blind {
		return t.PacketConn.WriteTo(b, addr)
	}
	p, err := framer.Decode(bytes.Clone(b))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw, t.to = append(t.raw, bytes.Clone(b)), append(t.to, addr)
	if err == nil {
		t.log = append(t.log, p)
		if t.drop != nil && t.drop(p) {
			return len(b), nil
		}
	}
	return t.PacketConn.WriteTo(b, addr)
}

// dropIf sets which packets vanish. The function runs under the tap's lock.
func (t *tap) dropIf(drop func(codec.Packet) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop = drop
}

// count returns how many packets were sent for which f holds.
func (t *tap) count(f func(codec.Packet) bool) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.log {
		if f(p) {
			n++
		}
	}
	return n
}

func isSlice(p codec.Packet) bool { return p.Type == codec.TypeSlice }
func isAck(p codec.Packet) bool   { return p.Type == codec.TypeAck }

// isFullAck reports whether p acks all of a chunk.
func isFullAck(p codec.Packet) bool {
	return isAck(p) && p.Ack.Acked == bitset.FirstN(p.Ack.NumSlices)
}

// content returns n bytes that depend on the seed.
func content(n int, seed uint64) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1})
	random.Read(b)
	return b
}

// during runs f beside the test and returns where its error will be.
func during(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

func wantErr(t *testing.T, what string, got error, wants ...error) {
	t.Helper()
	for _, want := range wants {
		if !errors.Is(got, want) {
			t.Errorf("%s: error is %v, want %v", what, got, want)
		}
	}
}

func mustSend(t *testing.T, c *transport.Conn, chunk []byte) {
	t.Helper()
	if err := c.Send(background, chunk); err != nil {
		t.Fatalf("Send(%d bytes): %v", len(chunk), err)
	}
}

// mustRecv checks that the next chunk is what was sent.
func mustRecv(t *testing.T, c *transport.Conn, want []byte) {
	t.Helper()
	got, err := c.Recv(background)
	if err != nil {
		t.Fatalf("Recv: %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("Recv returned %d bytes that are not the %d bytes sent", len(got), len(want))
	}
}

// wantNothing checks that no chunk comes within a virtual minute.
func wantNothing(t *testing.T, c *transport.Conn) {
	t.Helper()
	ctx, cancel := context.WithTimeout(background, time.Minute)
	defer cancel()
	if chunk, err := c.Recv(ctx); err == nil {
		t.Errorf("Recv returned %d bytes, want nothing", len(chunk))
	}
}

// wantTook checks how long it is since start, in virtual time.
func wantTook(t *testing.T, what string, start time.Time, least, most time.Duration) {
	t.Helper()
	if took := time.Since(start); took < least || took > most {
		t.Errorf("%s took %v, want %v to %v", what, took, least, most)
	}
}
