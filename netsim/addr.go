package netsim

import "net"

// Addr is the name of an endpoint on a [Network]. Any string will do. Addresses
// can be compared with ==, also as [net.Addr].
type Addr string

var _ net.Addr = Addr("")

// Network returns "netsim".
func (a Addr) Network() string { return "netsim" }

// String returns the name.
func (a Addr) String() string { return string(a) }
