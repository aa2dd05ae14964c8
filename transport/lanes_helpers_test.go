package transport_test

import (
	"bytes"
	"net"
	"sync"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// laneFramer returns the framer of lane k of n, by the words of LAN-2.
func laneFramer(k, n int) codec.Framer {
	return codec.NewFramer(uint32(protocolID + 16*(n-1) + k))
}

// lanePacket is one that was seen on the wire.
type lanePacket struct {
	lane int
	codec.Packet
}

// laneTap is a socket that sees by which lane every packet is sent, and may drop
// it.
type laneTap struct {
	net.PacketConn
	framers []codec.Framer

	mu   sync.Mutex
	drop func(lanePacket) bool // nil: nothing
	log  []lanePacket
	raw  [][]byte
}

func (t *laneTap) WriteTo(b []byte, addr net.Addr) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw = append(t.raw, bytes.Clone(b))
	for k, f := range t.framers {
		p, err := f.Decode(bytes.Clone(b))
		if err != nil {
			continue
		}
		t.log = append(t.log, lanePacket{k, p})
		if t.drop != nil && t.drop(lanePacket{k, p}) {
			return len(b), nil
		}
	}
	return t.PacketConn.WriteTo(b, addr)
}

func (t *laneTap) dropIf(drop func(lanePacket) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop = drop
}

func (t *laneTap) seen() []lanePacket {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]lanePacket(nil), t.log...)
}

// road is two endpoints with lanes, and a connection between them.
type road struct {
	t          *testing.T
	net        *netsim.Network
	tapA, tapB *laneTap
	a, b       *transport.Endpoint
	toB, toA   *transport.Conn
}

// open makes a road with the same path both ways. The ends need not agree.
func open(t *testing.T, p netsim.Path, a, b transport.Config) *road {
	t.Helper()
	r := &road{t: t, net: netsim.NewNetwork(1)}
	r.net.SetDefault(p)
	r.tapA, r.a = r.listen("a", a)
	r.tapB, r.b = r.listen("b", b)
	var err error
	if r.toB, err = r.a.Dial(netsim.Addr("b")); err != nil {
		t.Fatal(err)
	}
	if r.toA, err = r.b.Dial(netsim.Addr("a")); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *road) listen(addr netsim.Addr, cfg transport.Config) (*laneTap, *transport.Endpoint) {
	r.t.Helper()
	pc, err := r.net.Listen(addr)
	if err != nil {
		r.t.Fatal(err)
	}
	tap := &laneTap{PacketConn: pc}
	n := max(1, cfg.Lanes)
	for k := range n {
		tap.framers = append(tap.framers, laneFramer(k, n))
	}
	e, err := transport.New(tap, cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { e.Close() })
	return tap, e
}

// lanes returns the good config with n lanes, and more changed.
func lanes(n int, changes ...func(*transport.Config)) transport.Config {
	cfg := transport.Config{ProtocolID: protocolID, Lanes: n}
	for _, change := range changes {
		change(&cfg)
	}
	return cfg
}

// enqueue puts chunks in line, which must not have to wait.
func enqueue(t *testing.T, c *transport.Conn, chunks ...[]byte) (all []*transport.Delivery) {
	t.Helper()
	for _, chunk := range chunks {
		d, err := c.Enqueue(background, chunk)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// stream sends chunks of many sizes from one end and wants them at the other.
func stream(t *testing.T, from, to *transport.Conn, chunks int, size func(i int) int) {
	t.Helper()
	sent := during(func() error {
		var all []*transport.Delivery
		for i := range chunks {
			d, err := from.Enqueue(background, content(size(i), uint64(i)))
			if err != nil {
				return err
			}
			all = append(all, d)
		}
		for _, d := range all {
			if err := d.Wait(background); err != nil {
				return err
			}
		}
		return nil
	})
	for i := range chunks {
		mustRecv(t, to, content(size(i), uint64(i)))
	}
	wantErr(t, "sending", <-sent, nil)
}

// done counts the deliveries that are done.
func done(all []*transport.Delivery) (n int) {
	for _, d := range all {
		select {
		case <-d.Done():
			n++
		default:
		}
	}
	return n
}
