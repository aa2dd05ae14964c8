//go:build !plan9

package transport

import (
	"errors"
	"runtime"
	"syscall"
)

// wsaEMsgSize is what Windows calls a message that is too long. The syscall
// package has no name for it.
const wsaEMsgSize = syscall.Errno(10040)

// messageTooLong reports whether a read failed since the datagram did not fit.
func messageTooLong(err error) bool {
	return errors.Is(err, syscall.EMSGSIZE) || runtime.GOOS == "windows" && errors.Is(err, wsaEMsgSize)
}
