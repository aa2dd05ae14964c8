//go:build !plan9

package udp

import (
	"errors"
	"runtime"
	"syscall"
)

// Errors of Windows for which package syscall has no names.
const (
	wsaEMsgSize   = syscall.Errno(10040)
	wsaEConnReset = syscall.Errno(10054)
)

// MessageTooLong reports whether a read failed because the datagram did not fit.
func MessageTooLong(err error) bool {
	return errors.Is(err, syscall.EMSGSIZE) || runtime.GOOS == "windows" && errors.Is(err, wsaEMsgSize)
}

// PortUnreachable reports whether a read or a write failed because of an ICMP
// message which says that nobody listens at the peer's port. The message is about
// a datagram that was sent before. Only a connected socket gets it on every
// system.
func PortUnreachable(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || runtime.GOOS == "windows" && errors.Is(err, wsaEConnReset)
}
