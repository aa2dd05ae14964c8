package plain

import (
	"bytes"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/udp"
)

// Whatever goes into a batch comes out of its runs, in order, and each run is one
// that the system can cut: one peer, one size, only the last datagram smaller.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peers := []*Conn{{peer: testPeer(1)}, {peer: testPeer(2)}}
		b := newBatch([]codec.Framer{codec.NewFramer(1)})
		b.reset([]udp.Run{{Data: []byte("an ack"), Size: 6, To: peers[0].peer}})
		var want [][]byte
		for !b.full() && rapid.IntRange(0, 50).Draw(t, "more") > 0 {
			i := rapid.IntRange(0, 1).Draw(t, "peer")
			last := rapid.SampledFrom([]int{0, 1, 500, codec.SliceSize}).Draw(t, "last slice")
			s := codec.Slice{NumSlices: 2, Data: make([]byte, codec.SliceSize)}
			if last > 0 {
				s = codec.Slice{NumSlices: 2, SliceID: 1, Data: make([]byte, last)}
			}
			size := b.addSlice(peers[i], 0, s)
			datagram, _ := b.framers[0].AppendSlice([]byte(peers[i].peer.String()), s)
			if want = append(want, datagram); size != s.DatagramSize() {
				t.Fatalf("a datagram of %d bytes, not %d", size, s.DatagramSize())
			}
		}
		var got [][]byte
		for i, r := range b.runs[1:] {
			if len(r.Data) > udp.MaxRun || r.Count() > batchSize {
				t.Fatalf("a run of %d datagrams, %d bytes", r.Count(), len(r.Data))
			}
			if i > 0 && b.runs[i].To == r.To && b.runs[i].Size == r.Size && len(b.runs[i].Data)%r.Size == 0 {
				t.Fatalf("runs %d and %d could be one", i-1, i)
			}
			for datagram := range r.Datagrams() {
				got = append(got, append([]byte(r.To.String()), datagram...))
			}
		}
		if len(got) != len(want) || !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
			t.Fatalf("%d datagrams are not the %d that went in", len(got), len(want))
		}
	})
}

func testPeer(port uint16) udp.Peer {
	return udp.UDPPeer(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
}
