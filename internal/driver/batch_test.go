package driver

import (
	"bytes"
	"fmt"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/internal/udp"
)

// largest is the size of the datagrams of a test.
const largest = 1037

// Whatever goes into a batch comes out of its runs, in order, and each run is one
// that the system can cut: one peer, one size, only the last datagram smaller.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peers := []udp.Addr{testPeer(1), testPeer(2)}
		b := NewBatch(largest)
		b.reset([]udp.Run{{Data: []byte("an ack"), Size: 6, To: peers[0]}})
		var want [][]byte
		for !b.Full() && rapid.IntRange(0, 50).Draw(t, "more") > 0 {
			to := rapid.SampledFrom(peers).Draw(t, "peer")
			datagram := bytes.Repeat([]byte{byte(len(want))}, rapid.SampledFrom([]int{1, 500, largest}).Draw(t, "size"))
			ect := rapid.Bool().Draw(t, "ECT")
			if size := b.Add(to, append(b.Room(), datagram...), ect); size != len(datagram) {
				t.Fatalf("a datagram of %d bytes, not %d", size, len(datagram))
			}
			want = append(want, append(fmt.Append(nil, to.String(), ect), datagram...))
		}
		var got [][]byte
		for i, r := range b.runs[1:] {
			if len(r.Data) > udp.MaxRun || r.Count() > udp.MaxRun/largest {
				t.Fatalf("a run of %d datagrams, %d bytes", r.Count(), len(r.Data))
			}
			if i > 0 && b.runs[i].To == r.To && b.runs[i].ECT == r.ECT && b.runs[i].Size == r.Size && len(b.runs[i].Data)%r.Size == 0 {
				t.Fatalf("runs %d and %d could be one", i-1, i)
			}
			for datagram := range r.Datagrams() {
				got = append(got, append(fmt.Append(nil, r.To.String(), r.ECT), datagram...))
			}
		}
		if len(got) != len(want) || !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
			t.Fatalf("%d datagrams are not the %d that went in", len(got), len(want))
		}
	})
}

func testPeer(port uint16) udp.Addr {
	return udp.AddrOf(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
}
