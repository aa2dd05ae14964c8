// Package udp moves datagrams for package transport: over a *net.UDPConn without
// allocations and with segmentation offload, over any other net.PacketConn or
// net.Conn by its methods. It knows no protocol.
package udp
