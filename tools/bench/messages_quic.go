package bench

import (
	"context"
	"io"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// quicMessages are quic-go's ways: one stream, and a stream for each message.
func quicMessages() []MessagePeer {
	many := quicConfig()
	many.MaxIncomingUniStreams = 1 << 20
	kept := many.Clone()
	kept.RequireStreamCreditRelease = true // and nothing releases it
	return []MessagePeer{
		quicTalk("quic-go, one stream", "windows of 32 MiB; "+prefixes, quicConfig(), true, oneStream),
		quicTalk("quic-go, streams", "the same windows; a stream for each message, which ends with it, of 2^20 at once", many, false, manyStreams),
		quicTalk("quic-go, 2^20 streams", "the same; the client never allows more streams, as it does otherwise for each that ended", kept, false, manyStreams),
	}
}

func quicTalk(name, note string, cfg *quic.Config, ordered bool, over func(context.Context, *quicConn) (*talk, error)) MessagePeer {
	return MessagePeer{Name: name, Note: note, Ordered: ordered, Connect: func(ctx context.Context, p *path) (*talk, error) {
		cfg, counted := cfg.Clone(), &quicCounter{first: make(map[quic.StreamID]int64)}
		cfg.Tracer = func(_ context.Context, isClient bool, _ quic.ConnectionID) qlogwriter.Trace {
			if isClient {
				return nil
			}
			return counted
		}
		c, err := dialQUIC(ctx, p, cfg)
		if err != nil {
			return nil, err
		}
		t, err := over(ctx, c)
		if err != nil {
			return nil, err
		}
		t.sent, t.close = counted.sent, c.close
		return t, nil
	}}
}

// oneStream has all messages in one stream, a frame in one call.
func oneStream(ctx context.Context, c *quicConn) (*talk, error) {
	out, err := c.server.OpenUniStreamSync(ctx)
	if err != nil {
		return nil, err
	}
	return &talk{
		send: func(frame [][]byte) error {
			_, err := out.Write(prefixed(frame))
			return err
		},
		receive: func(deliver func([]byte)) {
			in, err := c.client.AcceptUniStream(ctx)
			if err != nil {
				return
			}
			readPrefixed(in, deliver)
		},
	}, nil
}

// manyStreams has a stream for each message.
func manyStreams(ctx context.Context, c *quicConn) (*talk, error) {
	return &talk{
		send: func(frame [][]byte) error {
			for _, m := range frame {
				out, err := c.server.OpenUniStreamSync(ctx)
				if err != nil {
					return err
				}
				if _, err := out.Write(m); err != nil {
					return err
				}
				if err := out.Close(); err != nil {
					return err
				}
			}
			return nil
		},
		receive: func(deliver func([]byte)) {
			for {
				in, err := c.client.AcceptUniStream(ctx)
				if err != nil {
					return
				}
				go func() {
					if m, err := io.ReadAll(in); err == nil {
						deliver(m)
					}
				}()
			}
		},
	}, nil
}

// quicCounter counts the bytes of streams that an end sends, by what quic-go gives a
// tracer.
type quicCounter struct {
	mu    sync.Mutex
	first map[quic.StreamID]int64 // of each stream, the bytes that were sent once at least
	all   int64
}

func (c *quicCounter) AddProducer() qlogwriter.Recorder { return c }
func (c *quicCounter) SupportsSchemas(string) bool      { return true }
func (c *quicCounter) Close() error                     { return nil }
func (c *quicCounter) RecordEvent(event qlogwriter.Event) {
	packet, ok := event.(qlog.PacketSent)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range packet.Frames {
		if s, ok := f.Frame.(*qlog.StreamFrame); ok {
			// A stream's bytes go in order for the first time.
			c.first[s.StreamID] = max(c.first[s.StreamID], s.Offset+s.Length)
			c.all += s.Length
		}
	}
}

func (c *quicCounter) sent() (s sent) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.first {
		s.first += n
	}
	s.all = c.all
	return s
}
