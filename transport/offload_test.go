package transport

import (
	"bytes"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"pgregory.net/rapid"
)

// Whatever goes into a batch comes out of its runs, in order, and each run is one
// that the system can cut: one peer, one size, only the last datagram smaller.
func TestRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peers := []*Conn{{peer: testPeer(1)}, {peer: testPeer(2)}}
		b := newBatch([]codec.Framer{codec.NewFramer(1)})
		goodbye := message{[]byte("goodbye"), 7, peers[0].peer}
		b.reset([]message{goodbye})
		var want [][]byte
		for !b.full() && rapid.IntRange(0, 50).Draw(t, "more") > 0 {
			c := peers[rapid.IntRange(0, 1).Draw(t, "peer")]
			last := rapid.SampledFrom([]int{0, 1, 500, codec.SliceSize}).Draw(t, "last slice")
			s := codec.Slice{NumSlices: 2, Data: make([]byte, codec.SliceSize)}
			if last > 0 {
				s = codec.Slice{NumSlices: 2, SliceID: 1, Data: make([]byte, last)}
			}
			b.addSlice(c, 0, s)
			datagram, _ := b.framers[0].AppendSlice([]byte{byte(c.peer.key.port.Port())}, s)
			want = append(want, datagram)
		}
		var got [][]byte
		for i, m := range b.messages[1:] {
			if len(m.data) > maxRunBytes || m.count() > batchSize {
				t.Fatalf("a run of %d datagrams, %d bytes", m.count(), len(m.data))
			}
			if i > 0 && b.messages[i].to == m.to && b.messages[i].size == m.size && len(b.messages[i].data)%m.size == 0 {
				t.Fatalf("runs %d and %d could be one", i-1, i)
			}
			for datagram := range m.datagrams() {
				got = append(got, append([]byte{byte(m.to.key.port.Port())}, datagram...))
			}
		}
		if len(got) != len(want) || !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
			t.Fatalf("%d datagrams are not the %d that went in", len(got), len(want))
		}
	})
}

func testPeer(port uint16) origin {
	return udpOrigin(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port))
}

// sendRun sends a run over the loopback interface and returns the sizes of the
// datagrams that arrive.
func sendRun(t *testing.T, sender *udpSocket, bytes, size int) (sizes []int, failed int64) {
	t.Helper()
	receiver := listenLocal(t)
	to := udpOrigin(receiver.LocalAddr().(*net.UDPAddr).AddrPort())
	failed = sender.write([]message{{make([]byte, bytes), size, to}})
	buf := make([]byte, 1<<16)
	for left := int64(bytes) - failed*int64(size); left > 0; {
		receiver.SetReadDeadline(time.Now().Add(10 * time.Second))
		n, err := receiver.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		sizes, left = append(sizes, n), left-int64(n)
	}
	return sizes, failed
}

func listenLocal(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Skipf("no loopback: %v", err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

func wantRun(t *testing.T, sender *udpSocket) {
	t.Helper()
	sizes, failed := sendRun(t, sender, 20*1037+100, 1037)
	if len(sizes) != 21 || sizes[0] != 1037 || sizes[20] != 100 || failed != 0 {
		t.Errorf("datagrams of %v bytes arrived, %d failed", sizes, failed)
	}
}

// A run arrives as the datagrams that it is made of, in one call where the
// system can, and one by one where it cannot or is not to.
func TestOffload(t *testing.T) {
	sender := newSocket(listenLocal(t)).(*udpSocket)
	wantRun(t, sender)
	if runtime.GOOS == "linux" && !sender.offload.works {
		t.Error("Linux has segmentation offload since 4.18")
	}
	t.Setenv(noOffload, "1")
	sender = newSocket(listenLocal(t)).(*udpSocket)
	wantRun(t, sender)
	if sender.offload.works {
		t.Errorf("%s has no effect", noOffload)
	}
}

// A run that the system refuses goes out datagram by datagram, and the next is
// tried again: the reason may have to do with one peer.
func TestRefusedRun(t *testing.T) {
	sender := newSocket(listenLocal(t)).(*udpSocket)
	worked := sender.offload.works
	sizes, failed := sendRun(t, sender, 10*9000, 9000) // more than a datagram can hold
	if len(sizes) != 10 || failed != 0 {
		t.Errorf("datagrams of %v bytes arrived, %d failed", sizes, failed)
	}
	if sender.offload.works != worked {
		t.Error("one refusal turned the offload off")
	}
	_, failed = sendRun(t, sender, 3*70_000, 70_000)
	if failed != 3 {
		t.Errorf("%d datagrams failed, want 3", failed)
	}
}

// Neither costs a run an allocation.
func TestNoAllocationPerRun(t *testing.T) {
	sender := newSocket(listenLocal(t)).(*udpSocket)
	to := udpOrigin(listenLocal(t).LocalAddr().(*net.UDPAddr).AddrPort())
	runs := []message{{make([]byte, 20*1037), 1037, to}, {make([]byte, 1000), 1000, to}}
	if n := testing.AllocsPerRun(100, func() { sender.write(runs) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
