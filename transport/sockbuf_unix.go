//go:build unix

package transport

import (
	"net"
	"syscall"
)

// readBackBuffers returns the sizes that the system reports, in bytes. Linux
// reports twice what it was asked for, since it counts its own bookkeeping.
func readBackBuffers(pc net.PacketConn) (read, write int) {
	conn, ok := pc.(syscall.Conn)
	if !ok {
		return 0, 0
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, 0
	}
	raw.Control(func(fd uintptr) {
		read = option(fd, syscall.SO_RCVBUF)
		write = option(fd, syscall.SO_SNDBUF)
	})
	return read, write
}

// option reads a socket option, 0 if it cannot.
func option(fd uintptr, name int) int {
	value, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, name)
	if err != nil {
		return 0
	}
	return value
}
