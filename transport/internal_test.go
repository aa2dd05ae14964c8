package transport

import (
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
	"pgregory.net/rapid"
)

// The agenda names the connection that is due first, whatever came and went.
func TestAgenda(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a agenda
		var all []*Conn
		micros := rapid.Custom(func(t *rapid.T) statemachine.Micros {
			return statemachine.Micros(rapid.IntRange(0, 9).Draw(t, "due"))
		})
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				c := &Conn{due: micros.Draw(t, "due")}
				a.add(c)
				all = append(all, c)
			},
			"move": func(t *rapid.T) {
				if len(all) > 0 {
					a.move(rapid.SampledFrom(all).Draw(t, "c"), micros.Draw(t, "due"))
				}
			},
			"remove": func(t *rapid.T) {
				if len(all) > 0 {
					i := rapid.IntRange(0, len(all)-1).Draw(t, "i")
					a.remove(all[i])
					all = slices.Delete(all, i, i+1)
				}
			},
			"": func(t *rapid.T) {
				want := statemachine.Never
				for i, c := range all {
					want = min(want, c.due)
					if a.list[c.place] != c {
						t.Fatalf("connection %d does not know its place", i)
					}
				}
				if a.next() != want || len(all) > 0 && a.first().due != want {
					t.Fatalf("next is %d, want %d", a.next(), want)
				}
			},
		})
	})
}

// A time without a reading of the monotonic clock would move with the wall clock
// (TIM-2).
func TestTheClockIsMonotonic(t *testing.T) {
	if c := startClock(); c.start == c.start.Round(0) {
		t.Errorf("%v has no monotonic reading", c.start)
	}
}

func TestLocate(t *testing.T) {
	want := netip.MustParseAddrPort("192.0.2.1:9000")
	for name, addr := range map[string]net.Addr{
		"4 bytes":  &net.UDPAddr{IP: net.IP{192, 0, 2, 1}, Port: 9000},
		"16 bytes": &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 9000},
		"a string": &net.TCPAddr{IP: net.IP{192, 0, 2, 1}, Port: 9000},
	} {
		o, err := (&udpSocket{}).locate(addr)
		if err != nil || o.key.port != want || o.netAddr().String() != want.String() {
			t.Errorf("%s: %v, %v", name, o.key, err)
		}
	}
	for name, addr := range map[string]net.Addr{
		"no IP":    &net.UDPAddr{Port: 9000},
		"no port":  &net.UDPAddr{IP: net.IP{192, 0, 2, 1}},
		"nil":      (*net.UDPAddr)(nil),
		"no UDP":   &net.UnixAddr{Name: "x"},
		"nonsense": &net.IPAddr{IP: net.IP{192, 0, 2, 1}},
	} {
		if o, err := (&udpSocket{}).locate(addr); err == nil {
			t.Errorf("%s: %v, want an error", name, o.key)
		}
	}
}

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
// garbage does not either (field note 30).
func TestNoAllocationPerDatagram(t *testing.T) {
	e, err := New(nowhere{closed: make(chan struct{})}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	from := udpOrigin(netip.MustParseAddrPort("192.0.2.1:9000"))
	slice, _ := e.framers[0].AppendSlice(nil, codec.Slice{NumSlices: 2, Data: make([]byte, 1024)})
	ack, _ := e.framers[0].AppendAck(nil, codec.Ack{NumSlices: 1})
	e.receive(e.clock.now(), slice, from)
	for name, datagram := range map[string][]byte{"slice": slice, "ack": ack, "garbage": make([]byte, 100)} {
		if n := testing.AllocsPerRun(1000, func() { e.receive(e.clock.now(), datagram, from) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	stranger := udpOrigin(netip.MustParseAddrPort("192.0.2.2:9000"))
	if n := testing.AllocsPerRun(1000, func() { e.receive(e.clock.now(), ack, stranger) }); n != 0 {
		t.Errorf("stranger: %v allocations", n)
	}
	if st := e.Stats(); st.Strangers == 0 || st.Garbage == 0 || st.Peers != 1 {
		t.Errorf("%+v: the test tests nothing", st)
	}
}
