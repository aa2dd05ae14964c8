package bench

import (
	"context"
	"net"
	"slices"
	"time"

	"github.com/sandertv/go-raknet"
)

// raknetPeer is the RakNet of Minecraft: Bedrock Edition, in Go.
func raknetPeer() Peer {
	return Peer{Name: "go-raknet", Note: "reliable, ordered; a packet of 256 KiB, which it fragments", Connect: connectRaknet}
}

// upstream hands the simulated sockets to RakNet.
type upstream struct{ p *path }

func (u upstream) ListenPacket(string, string) (net.PacketConn, error) { return u.p.server, nil }
func (u upstream) DialContext(context.Context, string, string) (net.Conn, error) {
	return connected{u.p.client, serverAddr}, nil
}

func connectRaknet(ctx context.Context, p *path) (*pipe, error) {
	listener, err := raknet.ListenConfig{UpstreamPacketListener: upstream{p}}.Listen(serverAddr.String())
	if err != nil {
		return nil, err
	}
	client, err := raknet.Dialer{UpstreamDialer: upstream{p}}.DialContext(ctx, serverAddr.String())
	if err != nil {
		return nil, err
	}
	server, err := listener.Accept()
	if err != nil {
		return nil, err
	}
	return &pipe{
		push: func(block []byte) error {
			for packet := range slices.Chunk(block, 256<<10) {
				if _, err := server.Write(packet); err != nil {
					return err
				}
			}
			return nil
		},
		fetch: func(n int) (block []byte, err error) {
			for len(block) < n {
				packet, err := client.ReadPacket()
				if err != nil {
					return nil, err
				}
				block = append(block, packet...)
			}
			return block, nil
		},
		close: func() {
			_ = server.Close()
			_ = client.Close()
			time.Sleep(10 * time.Second) // it says goodbye for up to 5 s
			_ = listener.Close()
		},
	}, nil
}
