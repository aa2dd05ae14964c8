//go:build !linux

package udp

import "net"

// Only Linux has it in a form that needs no other package.
func canOffload(*net.UDPConn) bool             { return false }
func appendSegmentSize(b []byte, _ int) []byte { return b }
func segmentsRefused(error) bool               { return false }
