//go:build !linux

package udp

import "net"

// Only Linux has it in a form that is used here.
func canMark(*net.UDPConn) bool         { return false }
func appendECT(b []byte, _ bool) []byte { return b }
