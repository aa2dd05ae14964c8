package udp

import (
	"bytes"
	"net"
	"os"
	"testing"
	"time"
)

// An arrival is its datagrams in turn, also those without bytes.
func TestArrivalIsItsDatagrams(t *testing.T) {
	for _, c := range []struct {
		bytes, size int
		want        []int
	}{{0, 0, []int{0}}, {5, 5, []int{5}}, {10, 5, []int{5, 5}}, {11, 5, []int{5, 5, 1}}, {3, 5, []int{3}}} {
		a := Arrival{Data: make([]byte, c.bytes), Size: c.size}
		for _, want := range c.want {
			if d, ok := a.Next(); !ok || len(d) != want {
				t.Fatalf("%d by %d: a datagram of %d bytes, %v", c.bytes, c.size, len(d), ok)
			}
		}
		if d, ok := a.Next(); ok {
			t.Errorf("%d by %d: one more, of %d bytes", c.bytes, c.size, len(d))
		}
	}
}

// What several peers sent, alone and in runs, with and without ECT(0), arrives whole, in order, and with its source and
// its field, in each way to read.
func TestReadTogether(t *testing.T) {
	for name, prepare := range map[string]func(s *udpSocket){
		"as this system can": func(*udpSocket) {},
		"one by one":         func(s *udpSocket) { s.batch = nil },
	} {
		for _, offload := range []string{"", "1"} {
			t.Run(name+" "+noOffload+"="+offload, func(t *testing.T) {
				t.Setenv(noOffload, offload)
				conn := listenLocal(t)
				s := New(conn).(*udpSocket)
				prepare(s)
				readsAll(t, s, conn)
			})
		}
	}
}

func readsAll(t *testing.T, s *udpSocket, conn *net.UDPConn) {
	want := map[Key][]byte{}
	marked := map[Key]ECN{}
	left := 0
	for i := range 5 {
		from := listenLocal(t)
		sender := New(from)
		key := AddrOf(from.LocalAddr().(*net.UDPAddr).AddrPort()).Key
		to, err := sender.Locate(conn.LocalAddr())
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1000, 1, 300} {
			data := bytes.Repeat([]byte{byte(i), byte(size)}, 500)
			if size == 1 {
				data = nil // a datagram without bytes
			}
			if _, err := sender.Write([]Run{{Data: data[:min(len(data), 30*size)], Size: size, To: to, ECT: i%2 == 0}}); err != nil {
				t.Fatal(err)
			}
			want[key] = append(want[key], data...)
			left += (len(data) + size - 1) / size
		}
		if s.Marks() && i%2 == 0 {
			marked[key] = ECT0
		}
	}
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	for left > 0 {
		err := s.Read(func(in []Arrival) {
			for i := range in {
				a := in[i]
				for d, ok := a.Next(); ok; d, ok = a.Next() {
					if !bytes.HasPrefix(want[a.From.Key], d) || a.ECN != marked[a.From.Key] {
						t.Fatalf("%d bytes from %v with %d", len(d), a.From, a.ECN)
					}
					want[a.From.Key] = want[a.From.Key][len(d):]
					left--
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	if err := s.Read(nothing(t)); !os.IsTimeout(err) {
		t.Error(err)
	}
}

// A call costs no allocation, however many datagrams it gives.
func TestNoAllocationPerRead(t *testing.T) {
	conn := listenLocal(t)
	s, sender := New(conn), New(listenLocal(t))
	to, err := sender.Locate(conn.LocalAddr())
	if err != nil {
		t.Fatal(err)
	}
	runs := []Run{{Data: make([]byte, 20_000), Size: 1000, To: to}}
	got := 0
	take := func(in []Arrival) {
		for i := range in {
			got += len(in[i].Data)
		}
	}
	for _, s := range []Socket{s, &udpSocket{udpReader: udpReader{UDPConn: conn}}} {
		n := testing.AllocsPerRun(50, func() {
			if _, err := sender.Write(runs); err != nil {
				t.Fatal(err)
			}
			for got = 0; got < 20_000; {
				if err := s.Read(take); err != nil {
					t.Fatal(err)
				}
			}
		})
		if n >= 1 {
			t.Errorf("%v allocations", n)
		}
	}
}
