package udp

import (
	"context"
	"net"
)

// ListenMany returns so many sockets at one address, over which the system spreads
// what arrives. It fails with errors.ErrUnsupported if the system cannot do that for
// more than one.
func ListenMany(network, address string, sockets int) (all []net.PacketConn, err error) {
	var cfg net.ListenConfig
	if sockets > 1 {
		cfg.Control = reusePort
	}
	for range max(1, sockets) {
		pc, err := cfg.ListenPacket(context.Background(), network, address)
		if err != nil {
			for _, pc := range all {
				pc.Close()
			}
			return nil, err
		}
		all = append(all, pc)
		address = pc.LocalAddr().String() // with the port that the system chose
	}
	return all, nil
}
