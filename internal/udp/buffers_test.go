package udp

import (
	"errors"
	"net"
	"runtime"
	"testing"
)

// plain is a wrapper that shows nothing of what it wraps.
type plain struct{ net.PacketConn }

// open is one that does.
type open struct{ plain }

func (w open) Unwrap() net.PacketConn { return w.PacketConn }

// session is a net.Conn over another, as package crypto/tls has it.
type session struct {
	net.Conn
	below net.Conn
}

func (s session) NetConn() net.Conn { return s.below }

type unwrapped struct{ session }

func (s unwrapped) Unwrap() net.Conn { return s.below }

// loop wraps itself.
type loop struct{ net.PacketConn }

func (l loop) Unwrap() net.PacketConn { return l }

// The buffers of a socket are found through what wraps it, and it is reported when
// they are not.
func TestBuffersOfWrappers(t *testing.T) {
	const bytes = 100_000
	pipe, _ := net.Pipe()
	for _, c := range []struct {
		name  string
		conn  func(udp *net.UDPConn) any
		found bool
	}{
		{"the socket", func(udp *net.UDPConn) any { return udp }, true},
		{"embeds the type", func(udp *net.UDPConn) any { return struct{ *net.UDPConn }{udp} }, true},
		{"embeds the interface", func(udp *net.UDPConn) any { return plain{udp} }, false},
		{"with Unwrap", func(udp *net.UDPConn) any { return open{plain{udp}} }, true},
		{"two with Unwrap", func(udp *net.UDPConn) any { return open{plain{open{plain{udp}}}} }, true},
		{"Unwrap, then no way", func(udp *net.UDPConn) any { return open{plain{plain{udp}}} }, false},
		{"wraps itself", func(udp *net.UDPConn) any { return loop{udp} }, false},
		{"with NetConn", func(udp *net.UDPConn) any { return session{pipe, udp} }, true},
		{"a net.Conn with Unwrap", func(udp *net.UDPConn) any { return unwrapped{session{pipe, udp}} }, true},
		{"without a socket", func(*net.UDPConn) any { return pipe }, false},
		{"over nothing", func(*net.UDPConn) any { return open{} }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := SizeBuffers(c.conn(listenLocal(t)), bytes)
			if (got.Err == nil) != c.found || !c.found && !errors.Is(got.Err, errors.ErrUnsupported) {
				t.Errorf("error %v", got.Err)
			}
			want := 0
			if c.found {
				want = bytes
			}
			if runtime.GOOS == "linux" && (got.Read != want || got.Write != want) {
				t.Errorf("buffers of %d and %d bytes, want %d", got.Read, got.Write, want)
			}
		})
	}
}
