//go:build unix

package udp

import (
	"runtime"
	"syscall"
)

// readBackBuffers returns the sizes that the system reports, in bytes that can
// be compared with what it was asked for.
func readBackBuffers(wrapper any) (read, write int) {
	conn, ok := find[syscall.Conn](wrapper)
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

// option reads a size in bytes from a socket, 0 if it cannot.
func option(fd uintptr, name int) int {
	value, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, name)
	if err != nil {
		return 0
	}
	if doubles {
		value /= 2
	}
	return value
}

// doubles is true where the system doubles the size that it is asked for, to make
// room for its own bookkeeping, and reports the double: on Linux, which Android is
// too.
const doubles = runtime.GOOS == "linux" || runtime.GOOS == "android"
