package udp

import (
	"net"
	"runtime"
	"testing"
	"time"
)

// sendRun sends a run over the loopback interface and returns the sizes of the
// datagrams that arrive.
func sendRun(t *testing.T, sender Socket, receiver *net.UDPConn, bytes, size int) (sizes []int, failed int64) {
	t.Helper()
	to := AddrOf(receiver.LocalAddr().(*net.UDPAddr).AddrPort())
	failed, err := sender.Write([]Run{{Data: make([]byte, bytes), Size: size, To: to}})
	if (err != nil) != (failed > 0) {
		t.Errorf("%d datagrams failed, %v", failed, err)
	}
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

// sockets returns a socket of each kind and a receiver for it, with its offload.
func sockets(t *testing.T) map[string]func() (Socket, *net.UDPConn, *offload) {
	return map[string]func() (Socket, *net.UDPConn, *offload){
		"unconnected": func() (Socket, *net.UDPConn, *offload) {
			s := New(listenLocal(t)).(*udpSocket)
			return s, listenLocal(t), &s.offload
		},
		"connected": func() (Socket, *net.UDPConn, *offload) {
			receiver := listenLocal(t)
			conn, err := net.DialUDP("udp4", nil, receiver.LocalAddr().(*net.UDPAddr))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { conn.Close() })
			s := Connected(conn).(*connectedUDP)
			return s, receiver, &s.offload
		},
	}
}

func wantRun(t *testing.T, sender Socket, receiver *net.UDPConn) {
	t.Helper()
	sizes, failed := sendRun(t, sender, receiver, 20*1037+100, 1037)
	if len(sizes) != 21 || sizes[0] != 1037 || sizes[20] != 100 || failed != 0 {
		t.Errorf("datagrams of %v bytes arrived, %d failed", sizes, failed)
	}
}

// A run arrives as the datagrams that it is made of, in one call where the
// system can, and one by one where it cannot or is not to.
func TestOffload(t *testing.T) {
	for name, open := range sockets(t) {
		t.Run(name, func(t *testing.T) {
			sender, receiver, offload := open()
			wantRun(t, sender, receiver)
			if runtime.GOOS == "linux" && !offload.works {
				t.Error("Linux has segmentation offload since 4.18")
			}
			t.Setenv(noOffload, "1")
			sender, receiver, offload = open()
			wantRun(t, sender, receiver)
			if offload.works {
				t.Errorf("%s has no effect", noOffload)
			}
		})
	}
}

// A run that the system refuses is sent datagram by datagram, and the next is
// tried again: the reason may have to do with one peer.
func TestRefusedRun(t *testing.T) {
	for name, open := range sockets(t) {
		t.Run(name, func(t *testing.T) {
			sender, receiver, offload := open()
			worked := offload.works
			sizes, failed := sendRun(t, sender, receiver, 10*9000, 9000) // more than a datagram can hold
			if len(sizes) != 10 || failed != 0 {
				t.Errorf("datagrams of %v bytes arrived, %d failed", sizes, failed)
			}
			if offload.works != worked {
				t.Error("one refusal turned the offload off")
			}
			_, failed = sendRun(t, sender, receiver, 3*70_000, 70_000)
			if failed != 3 {
				t.Errorf("%d datagrams failed, want 3", failed)
			}
		})
	}
}

// Neither costs a run an allocation.
func TestNoAllocationPerRun(t *testing.T) {
	for name, open := range sockets(t) {
		t.Run(name, func(t *testing.T) {
			sender, receiver, _ := open()
			to := AddrOf(receiver.LocalAddr().(*net.UDPAddr).AddrPort())
			runs := []Run{
				{Data: make([]byte, 20*1037), Size: 1037, To: to}, {Data: make([]byte, 1000), Size: 1000, To: to},
				{Data: make([]byte, 20*1037), Size: 1037, To: to, ECT: true}, {Data: make([]byte, 1000), Size: 1000, To: to, ECT: true},
			}
			if n := testing.AllocsPerRun(100, func() { sender.Write(runs) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}
