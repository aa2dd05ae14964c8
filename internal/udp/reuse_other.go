//go:build !linux && !freebsd

package udp

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
)

func reusePort(_, _ string, _ syscall.RawConn) error {
	return fmt.Errorf("%w: %s does not spread datagrams over several sockets at one address", errors.ErrUnsupported, runtime.GOOS)
}
