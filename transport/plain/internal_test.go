package plain

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// nowhere is a socket on which nothing arrives.
type nowhere struct {
	net.PacketConn
	closed chan struct{}
}

func (n nowhere) ReadFrom([]byte) (int, net.Addr, error) {
	<-n.closed
	return 0, nil, net.ErrClosed
}

func (n nowhere) WriteTo(b []byte, _ net.Addr) (int, error) { return len(b), nil }
func (n nowhere) LocalAddr() net.Addr                       { return &net.UDPAddr{} }
func (n nowhere) SetDeadline(time.Time) error               { return nil }
func (n nowhere) Close() error                              { close(n.closed); return nil }

// Neither a datagram that arrives nor the answer to it costs an allocation, and
// one that does not decode does not either.
func TestNoAllocationPerDatagram(t *testing.T) {
	for name, cfg := range map[string]Config{"named": {}, "repair": {Repair: true}} {
		t.Run(name, func(t *testing.T) { noAllocationPerDatagram(t, cfg) })
	}
}

func noAllocationPerDatagram(t *testing.T, cfg Config) {
	e, err := New(nowhere{closed: make(chan struct{})}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	from := udp.AddrOf(netip.MustParseAddrPort("192.0.2.1:9000"))
	slice, _ := sliceOf(e, nil, 0, 0, 2)
	ack, _ := e.ends.Format.AppendAck(nil, 0, codec.Ack{NumSlices: 1})
	e.receive(e.driver.Now(), slice, from)
	for name, datagram := range map[string][]byte{"slice": slice, "ack": ack, "undecodable": make([]byte, 100)} {
		if n := testing.AllocsPerRun(1000, func() { e.receive(e.driver.Now(), datagram, from) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	unknown := udp.AddrOf(netip.MustParseAddrPort("192.0.2.2:9000"))
	if n := testing.AllocsPerRun(1000, func() { e.receive(e.driver.Now(), ack, unknown) }); n != 0 {
		t.Errorf("unknown peer: %v allocations", n)
	}
	if st := e.Stats(); st.UnknownPeers == 0 || st.Undecodable == 0 || st.Peers != 1 {
		t.Errorf("%+v: the test tests nothing", st)
	}
}

// A stream of chunks that is received by RecvAppend costs no allocations.
func TestNoAllocationPerChunk(t *testing.T) {
	if raced {
		t.Skip("with the race detector a sync.Pool forgets what it was given")
	}
	for name, cfg := range map[string]Config{"named": {}, "repair": {Repair: true}} {
		t.Run(name, func(t *testing.T) { noAllocationPerChunk(t, cfg) })
	}
}

func noAllocationPerChunk(t *testing.T, cfg Config) {
	e, err := New(nowhere{closed: make(chan struct{})}, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	from := udp.AddrOf(netip.MustParseAddrPort("192.0.2.1:9000"))
	id := uint16(0)
	datagram, dst := make([]byte, 0, codec.MaxDatagramSize), make([]byte, 0, 4*codec.SliceSize)
	var c *Conn
	chunk := func() {
		for k := range 4 {
			datagram, _ = sliceOf(e, datagram[:0], id, k, 4)
			e.receive(e.driver.Now(), datagram, from)
		}
		id++
		if c == nil {
			c, err = e.Accept(t.Context())
		}
		if dst, err = c.RecvAppend(t.Context(), dst[:0]); err != nil || len(dst) != 4*codec.SliceSize {
			t.Fatal(len(dst), err)
		}
	}
	for range 10 {
		chunk()
	}
	if n := testing.AllocsPerRun(100, chunk); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// silentEndpoint has no goroutines.
func silentEndpoint(t testing.TB, cfg Config) *Endpoint {
	cfg, err := cfg.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	cfg.ProtocolID = 1
	return newEndpoint(udp.New(nowhere{closed: make(chan struct{})}), cfg)
}
