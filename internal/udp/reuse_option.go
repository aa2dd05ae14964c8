//go:build linux || freebsd

package udp

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func setOption(conn syscall.RawConn, option int) error {
	var refused error
	err := conn.Control(func(fd uintptr) {
		refused = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1)
	})
	return errors.Join(err, os.NewSyscallError("setsockopt", refused))
}
