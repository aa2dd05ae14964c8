package udp

import (
	"bytes"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"
)

// Any bytes are control messages, or end what can be read of them: the field ECN is one of four. What this end sets is
// read as it was set, also behind other messages.
func FuzzControlMessages(f *testing.F) {
	for _, ipv6 := range []bool{false, true} {
		message := appendECT(nil, ipv6)
		for _, seed := range [][]byte{message, append(appendSegmentSize(nil, 1000), message...), message[:len(message)-1], message[:5], append([]byte{255, 255, 255, 255}, message...), bytes.Repeat([]byte{0}, 64)} {
			f.Add(seed)
		}
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, control []byte) {
		kept := bytes.Clone(control)
		a := Arrival{Data: make([]byte, 100), Size: 100}
		if a.readControl(control); a.ECN > CE || a.Size < 1 || a.Size > 100 || !bytes.Equal(kept, control) {
			t.Fatalf("the field is %d, the size %d", a.ECN, a.Size)
		}
		for _, ipv6 := range []bool{false, true} {
			if a.readControl(append(appendECT(nil, ipv6), control...)); a.ECN != ECT0 {
				t.Fatalf("ECT0 is read as %d", a.ECN)
			}
		}
	})
}

// A socket has no memory for reading while nothing is there, and one whose system has no call for many datagrams reads
// one by one.
func TestBatchReader(t *testing.T) {
	conn := listenLocal(t)
	s := New(conn).(*udpSocket)
	conn.SetReadDeadline(time.Now().Add(time.Millisecond))
	if err := s.Read(nothing(t)); !os.IsTimeout(err) || s.batch == nil || s.batch.in != nil {
		t.Errorf("%v, %+v", err, s.batch)
	}
	conn.SetReadDeadline(time.Time{})
	for _, errno := range []syscall.Errno{syscall.ENOSYS, syscall.EPERM, syscall.ECONNREFUSED} {
		s.batch.attempt = func(uintptr) bool {
			s.batch.err = errno
			return true
		}
		ok, err := s.batch.read(nothing(t))
		if ok != (errno == syscall.ECONNREFUSED) || PortUnreachable(err) != ok {
			t.Errorf("%v: %v, %v", errno, ok, err)
		}
	}
}

// A source of IPv6 that is of one link has the name of its interface, as package net names it.
func TestSourceZone(t *testing.T) {
	all, err := net.Interfaces()
	if err != nil || len(all) == 0 {
		t.Skip(err)
	}
	var z zone
	for range 2 {
		if got := z.of(uint32(all[0].Index)); got != all[0].Name {
			t.Errorf("interface %d is %q, not %q", all[0].Index, got, all[0].Name)
		}
	}
	if got := z.of(1 << 30); got != netip.MustParseAddr("fe80::1%1073741824").Zone() {
		t.Errorf("an interface that does not exist is %q", got)
	}
}
