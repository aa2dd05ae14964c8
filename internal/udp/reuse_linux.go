package udp

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// reusePort lets several sockets have one address, and the system spread datagrams
// over them by their source.
func reusePort(_, _ string, conn syscall.RawConn) error { return setOption(conn, unix.SO_REUSEPORT) }
