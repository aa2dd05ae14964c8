package udp

import (
	"errors"
	"net"
	"testing"
	"time"
)

// Several sockets have one address, and each of many sources arrives at one of them,
// always the same; together they get everything.
func TestListenMany(t *testing.T) {
	const sockets, sources = 4, 64
	all, err := ListenMany("udp4", "127.0.0.1:0", sockets)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		for _, pc := range all {
			pc.Close()
		}
	}()
	for range sources {
		source, err := net.Dial("udp4", all[0].LocalAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer source.Close()
		for range 3 {
			source.Write([]byte("x"))
		}
	}
	at := map[string]int{}
	used := 0
	for i, pc := range all {
		if pc.LocalAddr().String() != all[0].LocalAddr().String() {
			t.Errorf("socket %d is at %v", i, pc.LocalAddr())
		}
		before := len(at)
		pc.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		for {
			_, from, err := pc.ReadFrom(make([]byte, 10))
			if err != nil {
				break
			}
			at[from.String()] += 1 + 100*i
		}
		if len(at) > before {
			used++
		}
	}
	if len(at) != sources || used < 2 {
		t.Errorf("%d of %d sources arrived, at %d sockets", len(at), sources, used)
	}
	for from, n := range at {
		if n%100 != 3 || n/100%3 != 0 {
			t.Errorf("%s arrived as %d", from, n)
		}
	}
}

// One socket needs nothing of the system.
func TestListenOne(t *testing.T) {
	all, err := ListenMany("udp4", "127.0.0.1:0", 1)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	defer all[0].Close()
	if more, err := ListenMany("udp4", all[0].LocalAddr().String(), 2); err == nil {
		t.Errorf("%d more sockets at an address that is taken", len(more))
	}
}
