package bench

import (
	"context"
	"encoding/binary"
	"net"
	"sync"

	"github.com/xtaci/kcp-go/v5"
)

// kcpMessages is kcp-go as a stream, a frame in one call.
func kcpMessages(name, note string, data, parity int, tune func(*kcp.UDPSession)) MessagePeer {
	streaming := func(s *kcp.UDPSession) {
		tune(s)
		s.SetStreamMode(true)
	}
	return kcpTalk(name, note+"; stream mode, "+prefixes, data, parity, streaming, func(c *kcpConn) *talk {
		return &talk{
			send: func(frame [][]byte) error {
				_, err := c.server.Write(prefixed(frame))
				return err
			},
			receive: func(deliver func([]byte)) { readPrefixed(c.client, deliver) },
		}
	})
}

// kcpSegments is kcp-go with a segment for each message, a frame in one call: what is
// written at once is read at once.
func kcpSegments(name, note string, tune func(*kcp.UDPSession)) MessagePeer {
	return kcpTalk(name, note+"; a segment for each message", 0, 0, tune, func(c *kcpConn) *talk {
		return &talk{
			send: func(frame [][]byte) error {
				_, err := c.server.WriteBuffers(frame)
				return err
			},
			receive: func(deliver func([]byte)) {
				buf := make([]byte, 1<<11)
				for {
					n, err := c.client.Read(buf)
					if err != nil {
						return
					}
					deliver(buf[:n])
				}
			},
		}
	})
}

func kcpTalk(name, note string, data, parity int, tune func(*kcp.UDPSession), over func(*kcpConn) *talk) MessagePeer {
	return MessagePeer{Name: name, Note: note, Ordered: true, Connect: func(_ context.Context, p *path) (*talk, error) {
		counted := &kcpCounter{PacketConn: p.server, seen: make(map[uint32]bool)}
		c, err := connectKCP(&path{net: p.net, server: counted, client: p.client}, data, parity, tune)
		if err != nil {
			return nil, err
		}
		t := over(c)
		t.sent, t.close = counted.sent, c.close
		return t, nil
	}}
}

// kcpCounter is a socket that counts the segments with data that are sent through it.
// kcp-go itself counts those of all connections together, acks among them.
type kcpCounter struct {
	net.PacketConn

	mu   sync.Mutex
	seen map[uint32]bool // numbers of segments
	all  int64
}

// Where a segment has what, and what precedes the first one where there is FEC.
const (
	kcpCommand, kcpNumber, kcpLength = 4, 12, 20
	kcpParity, kcpFEC                = 0xf2, 8
)

func (c *kcpCounter) WriteTo(b []byte, to net.Addr) (int, error) {
	c.count(b)
	return c.PacketConn.WriteTo(b, to)
}

func (c *kcpCounter) count(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if b[kcpCommand] == kcpParity {
		return
	}
	if b[kcpCommand] == kcpParity-1 {
		b = b[kcpFEC:]
	}
	for len(b) >= kcp.IKCP_OVERHEAD {
		if b[kcpCommand] == kcp.IKCP_CMD_PUSH {
			c.seen[binary.LittleEndian.Uint32(b[kcpNumber:])] = true
			c.all++
		}
		b = b[kcp.IKCP_OVERHEAD+binary.LittleEndian.Uint32(b[kcpLength:]):]
	}
}

func (c *kcpCounter) sent() sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return sent{int64(len(c.seen)), c.all}
}

func kcpMessagePeers() []MessagePeer {
	return []MessagePeer{
		kcpMessages("kcp", "as it comes: windows of 32 packets, a tick of 100 ms", 0, 0, func(*kcp.UDPSession) {}),
		kcpMessages("kcp turbo", "NoDelay(1,10,2,1), windows of 1024", 0, 0, kcpTurbo),
		kcpMessages("kcp turbo, acks at once", "the same with SetACKNoDelay", 0, 0, kcpTurboAckAtOnce),
		kcpSegments("kcp turbo, segments", "the same", kcpTurboAckAtOnce),
		kcpMessages("kcp turbo, FEC 10/3", "acks at once, 3 parity packets for every 10", 10, 3, kcpTurboAckAtOnce),
	}
}
