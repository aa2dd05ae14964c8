package udp

import (
	"errors"
	"fmt"
	"net"
)

// Buffers are the sizes of a socket's buffers in bytes.
type Buffers struct {
	// Read and Write are what the system reports, in the measure of what it was
	// asked for; 0 if that cannot be known.
	Read, Write int
	// Err says why a buffer could not be asked for. It matches
	// errors.ErrUnsupported if the connection has no method for it.
	Err error
}

// SizeBuffers asks for buffers of so many bytes. A burst of a whole chunk
// overflows the usual default, and what overflows is loss. The system can give
// less without an error.
//
// If the connection itself has no SetReadBuffer, SetWriteBuffer or SyscallConn,
// the methods of the connection that it wraps are used, as far as one is found by
// Unwrap or NetConn.
func SizeBuffers(conn any, bytes int) Buffers {
	var b Buffers
	if s, ok := find[interface{ SetReadBuffer(int) error }](conn); ok {
		b.Err = errors.Join(b.Err, s.SetReadBuffer(bytes))
	} else {
		b.Err = errors.Join(b.Err, noMethod(conn, "SetReadBuffer"))
	}
	if s, ok := find[interface{ SetWriteBuffer(int) error }](conn); ok {
		b.Err = errors.Join(b.Err, s.SetWriteBuffer(bytes))
	} else {
		b.Err = errors.Join(b.Err, noMethod(conn, "SetWriteBuffer"))
	}
	b.Read, b.Write = readBackBuffers(conn)
	return b
}

func noMethod(conn any, name string) error {
	return fmt.Errorf("%w: %T has neither %s nor a method Unwrap that leads to one", errors.ErrUnsupported, conn, name)
}

// find returns the first of a connection, the one that it wraps, and so on, that
// has the methods of T.
func find[T any](conn any) (found T, ok bool) {
	for range mostWrappers {
		if found, ok = conn.(T); ok || conn == nil {
			return found, ok
		}
		conn = unwrap(conn)
	}
	return found, false
}

// mostWrappers bounds the search, also if a connection wraps itself.
const mostWrappers = 16

func unwrap(conn any) any {
	switch w := conn.(type) {
	case interface{ Unwrap() net.PacketConn }:
		return w.Unwrap()
	case interface{ Unwrap() net.Conn }:
		return w.Unwrap()
	case interface{ NetConn() net.Conn }:
		return w.NetConn()
	}
	return nil
}
