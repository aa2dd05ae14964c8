package file_test

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
	"github.com/chunkwire/chunkwire/transport/file"
)

const (
	ms         = time.Millisecond
	protocolID = 0x11223344
)

var (
	background = context.Background()
	framer     = codec.NewFramer(protocolID)
	outage     = netsim.Path{Loss: 100}
	short      = netsim.Path{Delay: 10 * ms}
)

// bubble runs a test in virtual time. It fails if a goroutine is left.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

// pair is two endpoints on a network, each behind a tap, and a connection between
// them.
type pair struct {
	tapA, tapB *tap
	toB, toA   *transport.Conn // at a, and at b
}

// connect makes a pair with the same path both ways. Both ends dial.
func connect(t *testing.T, p netsim.Path, cfg transport.Config) *pair {
	t.Helper()
	n := netsim.NewNetwork(1)
	if err := n.SetDefault(p); err != nil {
		t.Fatal(err)
	}
	w := &pair{}
	w.tapA, w.toB = dial(t, n, "a", "b", cfg)
	w.tapB, w.toA = dial(t, n, "b", "a", cfg)
	return w
}

// dial opens an endpoint, which is closed at the end of the test.
func dial(t *testing.T, n *netsim.Network, from, to netsim.Addr, cfg transport.Config) (*tap, *transport.Conn) {
	t.Helper()
	pc, err := n.Listen(from)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ProtocolID = protocolID
	tapped := &tap{PacketConn: pc}
	e, err := transport.New(tapped, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	c, err := e.Dial(to)
	if err != nil {
		t.Fatal(err)
	}
	return tapped, c
}

// tap is a socket that sees every datagram before it is sent, and may drop or
// delay it.
type tap struct {
	net.PacketConn
	takes time.Duration // how long a write takes

	mu   sync.Mutex
	drop func(codec.Packet) bool // nil: nothing
	log  []codec.Packet          // of acks only the kept ones
}

func (t *tap) WriteTo(b []byte, addr net.Addr) (int, error) {
	time.Sleep(t.takes)
	p, err := framer.Decode(b)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err == nil {
		if t.drop != nil && t.drop(p) {
			return len(b), nil
		}
		if p.Type == codec.TypeAck {
			t.log = append(t.log, p)
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

// fullAcks returns how many acks of a whole chunk were sent.
func (t *tap) fullAcks() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.log {
		if p.Ack.Acked == bitset.FirstN(p.Ack.NumSlices) {
			n++
		}
	}
	return n
}

// sink keeps content in memory and notes what happened to it.
type sink struct {
	bytes.Buffer
	committed bool
	commitErr error
	onCommit  func()
}

func (s *sink) commit() error {
	if s.onCommit != nil {
		s.onCommit()
	}
	s.committed = s.commitErr == nil
	return s.commitErr
}

func (s *sink) options() *file.ReceiveOptions { return &file.ReceiveOptions{Commit: s.commit} }

// receive takes content into a sink.
func (s *sink) receive(c *transport.Conn) (file.Info, error) {
	return file.Receive(background, c, s, s.options())
}

// content returns n bytes that depend on the seed.
func content(n int, seed uint64) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1})
	random.Read(b)
	return b
}

func describe(t *testing.T, b []byte) file.Info {
	t.Helper()
	info, err := file.Describe(background, bytes.NewReader(b))
	if err != nil || info.Size != int64(len(b)) {
		t.Fatalf("Describe returned size %d, %v", info.Size, err)
	}
	return info
}

// announced are options with an Info, right or wrong.
func announced(info file.Info) *file.SendOptions { return &file.SendOptions{Info: &info} }

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

// wantTook checks how long it is since start, in virtual time.
func wantTook(t *testing.T, what string, start time.Time, least, most time.Duration) {
	t.Helper()
	if took := time.Since(start); took < least || took > most {
		t.Errorf("%s took %v, want %v to %v", what, took, least, most)
	}
}
