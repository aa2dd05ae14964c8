package plain

import (
	"context"
	"net/netip"
	"runtime"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/udp"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// What a connection may cost, in bytes of heap.
const (
	mostIdle      = 3200
	mostSending   = 11 << 10 // beside the chunk, which all connections share
	mostReceiving = 3712     // beside the slices that are there
)

// crowd is an endpoint and its peers, who are played by the test.
type crowd struct {
	t     *testing.T
	e     *Endpoint
	conns []*Conn
}

const crowdSize = 500

func newCrowd(t *testing.T, cfg Config) *crowd {
	t.Helper()
	cfg.MaxPeers = crowdSize
	e, err := New(nowhere{closed: make(chan struct{})}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return &crowd{t: t, e: e}
}

// from gives the endpoint a datagram from a peer.
func (c *crowd) from(peer int, datagram []byte, err error) {
	if err != nil {
		c.t.Fatal(err)
	}
	addr := netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), uint16(10_000+peer))
	c.e.receive(c.e.driver.Now(), datagram, udp.AddrOf(addr))
}

// slice is a full one of the first chunk, which has n.
func (c *crowd) slice(peer, id, n int) {
	datagram, err := sliceOf(c.e, nil, 0, id, n)
	c.from(peer, datagram, err)
}

// sliceOf appends a datagram of a full slice, of the endpoint's variant.
func sliceOf(e *Endpoint, dst []byte, chunk uint16, id, n int) ([]byte, error) {
	s := codec.Slice{ChunkID: chunk, SliceID: id, NumSlices: n, Data: zeros}
	if e.cfg.Repair {
		s = codec.Slice{ChunkID: chunk, SliceID: id, NumSlices: n, LastBytes: codec.SliceSize, Data: zeros}
	}
	return e.ends.Format.AppendSlice(dst, 0, s)
}

var zeros = make([]byte, codec.SliceSize)

// ack is of all of the first chunk, which has n slices.
func (c *crowd) ack(peer, n int) {
	a := codec.Ack{NumSlices: n, Acked: core.FirstN(n)}
	if c.e.cfg.Repair {
		a = codec.Ack{NumSlices: n, Have: n, Top: n}
	}
	datagram, err := c.e.ends.Format.AppendAck(nil, 0, a)
	c.from(peer, datagram, err)
}

// join makes everybody's first chunk begin, and returns the heap before.
func (c *crowd) join(slices int) (before int64) {
	c.t.Helper()
	before = check.Heap()
	for peer := range crowdSize {
		c.slice(peer, 0, slices)
		conn, err := c.e.Accept(context.Background())
		if err != nil {
			c.t.Fatal(err)
		}
		c.conns = append(c.conns, conn)
	}
	return before
}

// want checks how much the heap has grown for each connection.
func (c *crowd) want(what string, before, most int64) {
	c.t.Helper()
	each := (check.Heap() - before) / crowdSize
	c.t.Logf("%s: %d bytes a connection", what, each)
	if each > most {
		c.t.Errorf("%s: %d bytes a connection, want at most %d", what, each, most)
	}
	runtime.KeepAlive(c.conns)
}

// A connection costs little while it is idle, whatever it has done before, and
// a chunk that is sent to all is in memory once.
func TestMemoryOfAConnection(t *testing.T) {
	for name, cfg := range map[string]Config{
		"base":     {NewScheduler: func() (statemachine.Scheduler, error) { return base.New(base.Fixed(0)) }},
		"adaptive": {Profile: Fixed, MaxRate: statemachine.MaxRate},
		"rateless": {Profile: Fixed, MaxRate: statemachine.MaxRate, Repair: true},
	} {
		t.Run(name, func(t *testing.T) { memoryOfAConnection(t, cfg) })
	}
}

func memoryOfAConnection(t *testing.T, cfg Config) {
	c := newCrowd(t, cfg)
	began := c.join(1)
	for _, conn := range c.conns {
		if _, err := conn.Recv(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	c.want("idle", began, mostIdle)

	world := erasure.Encode(make([]byte, codec.MaxChunkSize))
	before := check.Heap()
	var deliveries []*Delivery
	for _, conn := range c.conns {
		d, err := conn.EnqueueEncoded(context.Background(), world)
		if err != nil {
			t.Fatal(err)
		}
		deliveries = append(deliveries, d)
	}
	for _, conn := range c.conns {
		for conn.Stats().Sending.Sent < codec.MaxSlices {
			runtime.Gosched()
		}
	}
	c.want("sending", before, mostSending)

	for peer := range crowdSize {
		c.ack(peer, codec.MaxSlices)
	}
	for _, d := range deliveries {
		if err := d.Wait(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	deliveries = nil
	c.want("idle after a chunk was sent", began+int64(len(world.Bytes())), mostIdle)
	runtime.KeepAlive(world)
}

// A chunk that arrives costs what is there of it, and nothing once it was read.
func TestMemoryOfAnArrivingChunk(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {}, "repair": {Repair: true}} {
		t.Run(name, func(t *testing.T) { memoryOfAnArrivingChunk(t, cfg) })
	}
}

func memoryOfAnArrivingChunk(t *testing.T, cfg Config) {
	c := newCrowd(t, cfg)
	before := c.join(64)
	c.want("receiving one slice", before, mostReceiving+codec.SliceSize)
	for peer := range crowdSize {
		for id := 1; id < 64; id++ {
			c.slice(peer, id, 64)
		}
		if chunk, err := c.conns[peer].Recv(context.Background()); err != nil || len(chunk) != 64*codec.SliceSize {
			t.Fatal(len(chunk), err)
		}
	}
	// What is kept for the next chunks of all of them is not any one's.
	kept := int64((crowdSize + 64) * codec.SliceSize)
	c.want("idle after a chunk was received", before+kept, mostIdle)
}
