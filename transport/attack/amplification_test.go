package attack

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/transport"
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
	if figures[0] < 500 {
		t.Errorf("the chunk protocol sends %.0f times as much: the test tests nothing", figures[0])
	}
}

// D1: ten seconds of blind acks behind it, 44 bytes each. Of a connection the forger knows the address of a client, which
// has begun and says nothing more, its link and the counter that comes next; he reads what the server sends, and acks it.
func TestD1(t *testing.T) {
	type figure struct {
		in, out   traffic
		delivered int64
	}
	figures := inVirtualTime(t, func(t *testing.T, n network, p protocol) (f figure) {
		if p.name == anonymous.name { // what is forged is in clear
			p.serve = connections("", transport.Config{Mode: session.MAC}, nil).serve
		}
		s := p.serve(t, n.bind(t, "127.0.0.1:9000"))
		delivered := pushes(s, world, 1000)
		victim := n.station(t, "127.0.0.2:9000", nil)
		for _, first := range p.begin {
			victim.says(s.Addr(), first.datagram)
		}
		if p.name == anonymous.name {
			v := n.manualClient(t, s.Addr(), "127.0.0.3:9000", session.MAC, session.VariantSlices)
			v.begins()
			victim, p.acks = v.station, v.forgesAcks()
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

// begins makes the server accept the client, by a datagram that is genuine.
func (v *manualClient) begins() {
	v.asks()
	v.receives(v.answer)
	check.Same(v.server.t, "the client", v.State(), session.Open)
	v.says(v.to, v.Link().Seal(nil, payload(packet.Header{Ack: hasNothing}, []byte{0})))
}

// hasNothing is the ack of who has received no packet. Any other ack of what was not sent ends the connection.
const hasNothing = 1<<16 - 1

// forgesAcks returns the i-th ack that somebody forges who knows all but the key: the link, the counter that comes next,
// and what the server has sent until then. It says nothing that the client could not say.
func (v *manualClient) forgesAcks() func(i int) []byte {
	h, acked := packet.Header{Ack: hasNothing}, codec.Ack{NumSlices: 256}
	return func(i int) []byte {
		synctest.Wait()
		for ; len(v.data) > 0; v.data = v.data[1:] {
			p := check.Must(packet.Format{}.Decode(check.Must(session.Decode(v.data[0])).Body))
			h.AckBits, h.Ack = h.AckBits<<(p.Sequence-h.Ack)|1, p.Sequence
			var r connection.Record
			if _, err := (connection.Format{Lanes: 1}).Decode(p.Data, 0, &r); err == nil && r.Type == connection.TypeSlice {
				if r.Slice.ChunkID != acked.ChunkID {
					acked.ChunkID, acked.Acked = r.Slice.ChunkID, core.Set{}
				}
				acked.Acked.Add(r.Slice.SliceID)
			}
		}
		record := []byte{0}
		if !acked.Acked.Empty() {
			record = check.Must(connection.Format{Lanes: 1}.Append(nil, &connection.Record{Type: connection.TypeChunkAck, Ack: acked}))
		}
		h.Sequence = uint16(1 + i)
		return forged(v.Link().ID(), uint32(1+i), payload(h, record))
	}
}

// payload is a whole packet.
func payload(h packet.Header, records []byte) []byte {
	return check.Must(packet.Format{}.WithDefaults().Append(nil, &packet.Packet{Header: h, Data: records}))
}

// forged is data of a link, with a tag of zeros.
func forged(link, counter uint32, body []byte) []byte {
	return encode(session.Message{
		Kind: session.KindMAC, Agreed: session.Agreed{Link: link}, Counter: counter, Body: body, Tag: make([]byte, session.MAC.Overhead()-9),
	})
}
