package bench

import (
	"context"
	"net"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

// ServicePeers returns what carries game packets and blocks on one path, ours first.
func ServicePeers() []ServicePeer {
	return []ServicePeer{
		ourServices("connection", "ours: a connection with AEAD; packets on its unreliable channel, the block as a chunk"),
		{Name: "quic-go", Note: "datagrams, and one stream for the block; windows of 32 MiB", Connect: quicServices},
		{Name: "kcp turbo and UDP", Note: "the block over kcp-go with NoDelay(1,10,2,1), windows of 1024 and acks at once; packets as bare datagrams beside it", Connect: kcpServices},
	}
}

func ourServices(name, note string) ServicePeer {
	return ServicePeer{Name: name, Note: note, Connect: func(ctx context.Context, p *path) (*services, error) {
		key := session.Key{1}
		server, err := transport.New(p.server, transport.Config{Keys: func(context.Context, uint64) (session.Key, error) { return key, nil }})
		if err != nil {
			return nil, err
		}
		client, err := transport.Over(ctx, p.client, serverAddr, transport.Config{Identity: 1, Key: key})
		if err != nil {
			return nil, err
		}
		peer, err := server.Accept(ctx)
		if err != nil {
			return nil, err
		}
		return &services{
			pipe: pipe{
				push: func(block []byte) error {
					_, err := peer.Chunks().Enqueue(ctx, block)
					return err
				},
				fetch: func(int) ([]byte, error) { return client.Chunks().Recv(ctx) },
				close: func() {
					_ = client.Close(0, "")
					_ = server.Close()
				},
			},
			say: peer.Unreliable().Send,
			hear: func(deliver func([]byte)) {
				for {
					p, err := client.Unreliable().Recv(ctx)
					if err != nil {
						return
					}
					deliver(p)
				}
			},
		}, nil
	}}
}

func quicServices(ctx context.Context, p *path) (*services, error) {
	cfg := quicConfig()
	cfg.EnableDatagrams = true
	c, out, in, err := quicStream(ctx, p, cfg)
	if err != nil {
		return nil, err
	}
	return &services{
		pipe: pipe{
			push: func(block []byte) error {
				_, err := out.Write(block)
				return err
			},
			fetch: func(n int) ([]byte, error) { return readBlock(in, n) },
			close: c.close,
		},
		say: c.server.SendDatagram,
		hear: func(deliver func([]byte)) {
			for {
				p, err := c.client.ReceiveDatagram(ctx)
				if err != nil {
					return
				}
				deliver(p)
			}
		},
	}, nil
}

// kcpServices has two flows on one path: kcp-go, and datagrams as they are.
func kcpServices(_ context.Context, p *path) (*services, error) {
	bare := p.beside(1)
	c, err := connectKCP(p, 0, 0, kcpTurboAckAtOnce)
	if err != nil {
		return nil, err
	}
	return &services{
		pipe: pipe{
			push: func(block []byte) error {
				_, err := c.server.Write(block)
				return err
			},
			fetch: func(n int) ([]byte, error) { return readBlock(c.client, n) },
			close: func() {
				c.close()
				bare.close()
			},
		},
		say: func(packet []byte) error {
			_, err := bare.server.WriteTo(packet, clientAddr)
			return err
		},
		hear: func(deliver func([]byte)) { readDatagrams(bare.client, deliver) },
	}, nil
}

func readDatagrams(socket net.PacketConn, deliver func([]byte)) {
	buf := make([]byte, 1<<11)
	for {
		n, _, err := socket.ReadFrom(buf)
		if err != nil {
			return
		}
		deliver(append([]byte(nil), buf[:n]...))
	}
}
