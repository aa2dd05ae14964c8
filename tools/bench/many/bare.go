//go:build linux

package main

import (
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/net/ipv4"

	"github.com/chunkwire/chunkwire/codec"
)

// How datagrams go to the kernel without a protocol.
const (
	wayOne      = "one call a datagram"
	waySendmmsg = "sendmmsg"
	wayOffload  = "offload"
)

// What one call takes at most: as many datagrams as the transport puts into one.
const (
	perCall   = 61
	bareSize  = 38 + codec.SliceSize // a slice's datagram, sealed
	udpLevel  = 17                   // SOL_UDP
	udpOption = 103                  // UDP_SEGMENT
)

// newBare returns a sender of as many datagrams, as long, in the same order as of a server whose
// clients lose nothing: up to 61 to one receiver, then it is the next one's turn.
func newBare(t task) (*figures, orders, error) {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SetWriteBuffer(4 << 20); err != nil {
		return nil, nil, err
	}
	f := &figures{Address: conn.LocalAddr().String()}
	var peers []netip.AddrPort
	var send func(peer netip.AddrPort, n int) int64
	return f, orders{
		orderConnect: func() (err error) {
			if peers, err = hearHellos(conn, t.Conns); err != nil {
				return err
			}
			send, err = bareWay(conn, t.Way)
			return err
		},
		orderFetch: func() error {
			for range t.Rounds {
				for left := codec.MaxSlices; left > 0; left -= perCall {
					for _, peer := range peers {
						f.Failed += send(peer, min(left, perCall))
					}
				}
			}
			if f.Failed > 0 {
				return fmt.Errorf("the system did not take %d datagrams", f.Failed)
			}
			f.Slices = int64(t.Conns) * int64(t.Rounds) * codec.MaxSlices
			f.Datagrams, f.Bytes = f.Slices, f.Slices*bareSize
			return nil
		},
	}, nil
}

// hearHellos returns the addresses of n receivers, and answers each.
func hearHellos(conn *net.UDPConn, n int) (peers []netip.AddrPort, err error) {
	known := make(map[netip.AddrPort]bool)
	var hello [16]byte
	for len(peers) < n {
		size, from, err := conn.ReadFromUDPAddrPort(hello[:])
		if err != nil {
			return nil, err
		}
		if _, err := conn.WriteToUDPAddrPort(hello[:size], from); err != nil {
			return nil, err
		}
		if !known[from] {
			known[from] = true
			peers = append(peers, from)
		}
	}
	return peers, nil
}

// bareWay returns a function that sends n datagrams to a peer and returns how
// many the kernel did not take.
func bareWay(conn *net.UDPConn, way string) (func(peer netip.AddrPort, n int) int64, error) {
	data := make([]byte, perCall*bareSize)
	switch way {
	case wayOne:
		return func(peer netip.AddrPort, n int) (failed int64) {
			for i := range n {
				if _, err := conn.WriteToUDPAddrPort(data[i*bareSize:][:bareSize], peer); err != nil {
					failed++
				}
			}
			return failed
		}, nil
	case waySendmmsg:
		return sendmmsg(conn, data), nil
	case wayOffload:
		return func(peer netip.AddrPort, n int) int64 {
			if _, err := conn.WriteToUDPAddrPort(data[:n*bareSize], peer); err != nil {
				return int64(n)
			}
			return 0
		}, setSegmentSize(conn)
	}
	return nil, fmt.Errorf("no way %q", way)
}

func sendmmsg(conn *net.UDPConn, data []byte) func(netip.AddrPort, int) int64 {
	batch := ipv4.NewPacketConn(conn)
	messages := make([]ipv4.Message, perCall)
	for i := range messages {
		messages[i].Buffers = [][]byte{data[i*bareSize:][:bareSize]}
	}
	return func(peer netip.AddrPort, n int) (failed int64) {
		addr := net.UDPAddrFromAddrPort(peer)
		for i := range n {
			messages[i].Addr = addr
		}
		for rest := messages[:n]; len(rest) > 0; {
			sent, err := batch.WriteBatch(rest, 0)
			if err != nil {
				sent = 1
				failed++
			}
			rest = rest[sent:]
		}
		return failed
	}
}

// setSegmentSize makes the kernel cut all that is longer.
func setSegmentSize(conn *net.UDPConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), udpLevel, udpOption, bareSize)
	})
	if err != nil {
		return err
	}
	return failed
}
