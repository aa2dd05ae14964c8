package bench

import (
	"context"

	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// chunkwire is this repository, over the same simulated sockets as the others.
func chunkwire(name, note string, cfg plain.Config) Peer {
	p := Peer{Name: name, Note: note, Connect: func(ctx context.Context, p *path) (*pipe, error) {
		return connectChunkwire(ctx, p, cfg)
	}}
	p.observed = func(observe eventlog.Log) Peer {
		cfg := cfg
		cfg.Log = observe
		return chunkwire(name, note, cfg)
	}
	return p
}

func connectChunkwire(ctx context.Context, p *path, cfg plain.Config) (*pipe, error) {
	server, err := plain.New(p.server, cfg)
	if err != nil {
		return nil, err
	}
	client, err := plain.New(p.client, cfg)
	if err != nil {
		return nil, err
	}
	toClient, err := server.Dial(clientAddr)
	if err != nil {
		return nil, err
	}
	toServer, err := client.Dial(serverAddr)
	if err != nil {
		return nil, err
	}
	return &pipe{
		push:  func(block []byte) error { return pushChunks(ctx, toClient, block) },
		fetch: func(n int) ([]byte, error) { return fetchChunks(ctx, toServer, n) },
		back: &pipe{
			push:  func(block []byte) error { return pushChunks(ctx, toServer, block) },
			fetch: func(n int) ([]byte, error) { return fetchChunks(ctx, toClient, n) },
		},
		close: func() {
			_ = server.Close()
			_ = client.Close()
		},
	}, nil
}

// pushChunks sends a block as chunks, the next one queued before the one before
// is through.
func pushChunks(ctx context.Context, c *plain.Conn, block []byte) error {
	for len(block) > 0 {
		n := min(len(block), 256<<10)
		if _, err := c.Enqueue(ctx, block[:n]); err != nil {
			return err
		}
		block = block[n:]
	}
	return nil
}

func fetchChunks(ctx context.Context, c *plain.Conn, n int) (block []byte, err error) {
	for len(block) < n {
		chunk, err := c.Recv(ctx)
		if err != nil {
			return nil, err
		}
		block = append(block, chunk...)
	}
	return block, nil
}
