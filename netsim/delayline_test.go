package netsim

import (
	"errors"
	"net"
	"testing"
)

func TestPushAfterClose(t *testing.T) {
	l := newDelayLine(startClock())
	l.close()
	l.push(0, 0, packet{})
	if l.underway.Next() != never {
		t.Error("a closed line keeps a packet")
	}
	if _, err := l.receive(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("receive: %v", err)
	}
}

// TestLimitBoundsMemory checks that surplus does not pile up when nobody ever
// receives.
func TestLimitBoundsMemory(t *testing.T) {
	l := newDelayLine(startClock())
	l.setLimit(10)
	for range 1000 {
		l.push(0, 0, packet{data: []byte("x")})
	}
	if kept := l.underway.Len() + l.inbox.len(); kept > 11 {
		t.Errorf("%d packets kept, want 10 and the last", kept)
	}
}
