package attack

import (
	"fmt"
	"testing"
	"time"
)

// world is what a server pushes: a chunk of the largest size.
var world = make([]byte, 262_144)

// A1: one forged datagram to the server of README's example, and what its source gets. Over the
// system's sockets, for longer than the server tries (CXA-24).
func TestA1(t *testing.T) {
	t.Parallel()
	figures := onEach(t, network{}, func(t *testing.T, n network, p protocol) (worst float64) {
		s := p.serve(t, n.bind(t, "127.0.0.1:0"))
		pushes(s, world, 1)
		victims := make([]*station, len(p.begin))
		for i, f := range p.begin {
			victims[i] = n.station(t, fmt.Sprintf("127.4.%d.%d:0", i/250, 1+i%250), nil)
			victims[i].says(s.Addr(), f.datagram)
		}
		time.Sleep(11 * time.Second)
		for i, f := range p.begin {
			in, out := victims[i].traffic()
			factor := float64(in.withHeaders()) / float64(out.withHeaders())
			if in.datagrams > 0 && (in.bytes != 35 || out.bytes == 64) { // of LINKs of another version the smallest
				t.Logf("%s: %s of %d bytes draws %d datagrams, %d bytes: %.2f times as much with headers",
					p.name, f.name, out.bytes, in.datagrams, in.bytes, factor)
			}
			worst = max(worst, factor)
			if p.name != chunksAlone.name && (in.bytes > out.bytes || in.datagrams > 1) {
				t.Errorf("%s: %s of %d bytes draws %d datagrams, %d bytes", p.name, f.name, out.bytes, in.datagrams, in.bytes)
			}
		}
		return worst
	})
	if figures[0] < 1000 {
		t.Errorf("the chunk protocol sends %.0f times as much: the test tests nothing", figures[0])
	}
}

// D1: ten seconds of blind acks behind it, 44 bytes each.
func TestD1(t *testing.T) {
	type figure struct {
		in, out   traffic
		delivered int64
	}
	figures := inVirtualTime(t, func(t *testing.T, n network, p protocol) (f figure) {
		s := p.serve(t, n.bind(t, "127.0.0.1:9000"))
		delivered := pushes(s, world, 1000)
		victim := n.station(t, "127.0.0.2:9000", nil)
		for _, first := range p.begin {
			victim.says(s.Addr(), first.datagram)
		}
		for i := range 12_000 {
			time.Sleep(10 * time.Second / 12_000)
			victim.says(s.Addr(), p.acks(i))
		}
		f.in, f.out = victim.traffic()
		f.delivered = delivered.Load()
		t.Logf("%s: %d datagrams, %d bytes draw %d datagrams, %d bytes: %.2f times as much with headers; %d chunks delivered",
			p.name, f.out.datagrams, f.out.bytes, f.in.datagrams, f.in.bytes,
			float64(f.in.withHeaders())/float64(f.out.withHeaders()), f.delivered)
		return f
	})
	if f := figures[0]; f.in.bytes < 50*f.out.bytes || f.delivered < 100 {
		t.Errorf("plain: %+v: the test tests nothing", f)
	}
	for _, f := range figures[1:] {
		if f.in.bytes > f.out.bytes || f.delivered > 0 {
			t.Errorf("a connection: %+v", f)
		}
	}
}
