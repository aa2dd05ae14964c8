//go:build !linux

package udp

import "net"

// hasControl is true where a read gives the messages that readControl reads.
const hasControl = false

// batchReader is for systems that give several datagrams a call.
type batchReader struct{}

func newBatchReader(*net.UDPConn, Addr) *batchReader           { return nil }
func (*batchReader) read(func([]Arrival)) (ok bool, err error) { return false, nil }
func (*batchReader) hasRoom() bool                             { return false }
func (a *Arrival) readControl([]byte)                          {}
