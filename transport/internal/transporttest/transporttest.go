// Package transporttest holds what the tests of package plain and of the file
// convention share. It imports no network, so that a test chooses its own.
package transporttest

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// ProtocolID is the one of all connections in these tests.
const ProtocolID = 0x11223344

// LaneFramer returns the framer of lane k of n, by the words of LAN-2.
func LaneFramer(k, n int) codec.Framer { return codec.NewFramer(LaneID(k, n, false)) }

// LaneID returns the protocol id of lane k of n, by the words of LAN-2 and RPI-1.
func LaneID(k, n int, repaired bool) uint32 {
	id := uint32(ProtocolID + 16*(n-1) + k)
	if repaired {
		id += 256
	}
	return id
}

// Packet is one of either kind of slices that was seen on the wire, and the lane that it went by.
type Packet struct {
	Lane int
	codec.Packet
}

// ChunkID returns the chunk id of a slice.
func (p Packet) ChunkID() uint16 { return p.Slice.ChunkID }

// SliceID returns the id of a slice; with repair slices from the number of slices on.
func (p Packet) SliceID() int { return p.Slice.SliceID }

// Tap is a socket that sees every datagram before it is sent, and can drop or
// delay it.
type Tap struct {
	net.PacketConn
	lanes int

	Takes time.Duration // how long a write takes
	Blind bool          // keeps and drops nothing

	Mu   *sync.Mutex // can be shared, so that what drops at one tap can look at another
	drop func(Packet) bool

	// What was sent, dropped or not. Under Mu.
	Log []Packet // with data of their own
	Raw [][]byte
	To  []net.Addr
}

// NewTap returns a tap on the socket of an endpoint with so many lanes, or with none.
func NewTap(pc net.PacketConn, mu *sync.Mutex, lanes int) *Tap {
	return &Tap{PacketConn: pc, Mu: mu, lanes: max(1, lanes)}
}

// decode returns what a datagram is in one of the lanes, of either variant.
func (t *Tap) decode(datagram []byte) (Packet, bool) {
	for k := range t.lanes {
		if p, err := LaneFramer(k, t.lanes).Decode(datagram); err == nil {
			return Packet{Lane: k, Packet: p}, true
		}
		if p, err := codec.Repair.Framer(LaneID(k, t.lanes, true)).Decode(datagram); err == nil {
			return Packet{Lane: k, Packet: p}, true
		}
	}
	return Packet{}, false
}

// WriteTo sends a datagram, unless it is dropped.
func (t *Tap) WriteTo(b []byte, addr net.Addr) (int, error) {
	time.Sleep(t.Takes)
	if t.Blind {
		return t.PacketConn.WriteTo(b, addr)
	}
	raw := bytes.Clone(b)
	t.Mu.Lock()
	defer t.Mu.Unlock()
	t.Raw, t.To = append(t.Raw, raw), append(t.To, addr)
	if p, ok := t.decode(raw); ok {
		t.Log = append(t.Log, p)
		if t.drop != nil && t.drop(p) {
			return len(b), nil
		}
	}
	return t.PacketConn.WriteTo(b, addr)
}

// DropIf sets which packets vanish. The function runs under Mu.
func (t *Tap) DropIf(drop func(Packet) bool) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	t.drop = drop
}

// Count returns how many packets were sent for which f holds.
func (t *Tap) Count(f func(Packet) bool) (n int) {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	for _, p := range t.Log {
		if f(p) {
			n++
		}
	}
	return n
}

// Seen returns the datagrams sent so far.
func (t *Tap) Seen() []Packet {
	t.Mu.Lock()
	defer t.Mu.Unlock()
	return slices.Clone(t.Log)
}

// IsSlice, IsAck and IsFullAck report what a packet is; a full ack is one of all of
// a chunk.
func IsSlice(p Packet) bool { return p.Type == codec.TypeSlice }
func IsAck(p Packet) bool   { return p.Type == codec.TypeAck }
func IsFullAck(p Packet) bool {
	return IsAck(p) && max(p.Ack.Acked.Count(), p.Ack.Have) == p.Ack.NumSlices
}

// Content returns n bytes that depend on the seed.
func Content(n int, seed uint64) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 1}).Read(b)
	return b
}

// During runs f beside the test and returns where its error will be.
func During(f func() error) <-chan error {
	result := make(chan error, 1)
	go func() { result <- f() }()
	return result
}

// WantErr checks that an error matches all that are wanted.
func WantErr(t *testing.T, what string, got error, wants ...error) {
	t.Helper()
	for _, want := range wants {
		if !errors.Is(got, want) {
			t.Errorf("%s: error is %v, want %v", what, got, want)
		}
	}
}

// MustSend sends a chunk.
func MustSend(t *testing.T, c *plain.Conn, chunk []byte) {
	t.Helper()
	if err := c.Send(context.Background(), chunk); err != nil {
		t.Fatalf("Send(%d bytes): %v", len(chunk), err)
	}
}

// MustRecv checks that the next chunk is the one that was sent.
func MustRecv(t *testing.T, c *plain.Conn, want []byte) {
	t.Helper()
	got, err := c.Recv(context.Background())
	if err != nil {
		t.Fatalf("Recv: %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("Recv returned %d bytes that are not the %d bytes sent", len(got), len(want))
	}
}

// WantTook checks how long it is since start, in virtual time.
func WantTook(t *testing.T, what string, start time.Time, least, most time.Duration) {
	t.Helper()
	if took := time.Since(start); took < least || took > most {
		t.Errorf("%s took %v, want %v to %v", what, took, least, most)
	}
}
