package bench

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/tools/bench/channelsim"
)

// OurMessages are the channels of this repository, the default window first.
func OurMessages() (peers []MessagePeer) {
	for _, window := range []int{channel.DefaultWindow, 512, 2048} {
		for _, kind := range []channel.Kind{channel.Ordered, channel.Unordered} {
			peers = append(peers, channelTalk(kind, window))
		}
	}
	return peers
}

// channelTalk is one channel over the packet layer.
func channelTalk(kind channel.Kind, window int) MessagePeer {
	name := fmt.Sprintf("%v channel, W %d", kind, window)
	note := fmt.Sprintf("ours: an %v channel, windows of %d messages; what is due goes at once, at any rate", kind, window)
	return MessagePeer{Name: name, Note: note, Ordered: kind == channel.Ordered, Connect: func(_ context.Context, p *path) (*talk, error) {
		cfg := channel.Config{Kind: kind, Format: channel.Format{Window: window}}
		server, err := newChannelEnd(cfg, p.server, clientAddr)
		if err != nil {
			return nil, err
		}
		client, err := newChannelEnd(cfg, p.client, serverAddr)
		if err != nil {
			return nil, err
		}
		go server.run(func([]byte) {})
		return &talk{send: server.send, receive: client.run, sent: server.sent, close: func() {
			server.close()
			client.close()
		}}, nil
	}}
}

// channelEnd is the host of the simulations on a socket.
type channelEnd struct {
	socket net.PacketConn
	peer   net.Addr
	start  time.Time

	mu    sync.Mutex
	host  *channelsim.Host
	timer *time.Timer
}

func newChannelEnd(cfg channel.Config, socket net.PacketConn, peer net.Addr) (*channelEnd, error) {
	// It ticks all the time: new messages go at once.
	host, err := channelsim.NewHost(channel.MuxConfig{Channels: []channel.Config{cfg}}, packet.Config{}, 1)
	if err != nil {
		return nil, err
	}
	e := &channelEnd{socket: socket, peer: peer, start: time.Now(), host: host}
	e.timer = time.AfterFunc(patience, e.wake)
	return e, nil
}

// run takes datagrams until the socket is closed.
func (e *channelEnd) run(deliver func(message []byte)) {
	buf := make([]byte, 1<<11)
	for {
		n, _, err := e.socket.ReadFrom(buf)
		if err != nil {
			return
		}
		e.mu.Lock()
		e.host.Handle(e.now(), slices.Clone(buf[:n]))
		e.read(deliver)
		e.flush()
		e.mu.Unlock()
	}
}

func (e *channelEnd) read(deliver func(message []byte)) {
	for {
		m, ok := e.host.Mux.Read(e.now(), 0, nil)
		if !ok {
			return
		}
		deliver(m.Data)
	}
}

func (e *channelEnd) wake() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.flush()
}

// flush sends what is due, and comes back when more is.
func (e *channelEnd) flush() {
	for {
		d, ok := e.host.Poll(e.now())
		if !ok {
			break
		}
		_, _ = e.socket.WriteTo(d, e.peer) // an error is a loss
	}
	if at := e.host.Deadline(); at != core.Never {
		e.timer.Reset(time.Until(e.start.Add(at.Duration())))
	}
}

func (e *channelEnd) now() core.Micros { return core.FromDuration(time.Since(e.start)) }

func (e *channelEnd) send(frame [][]byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range frame {
		if err := e.host.Mux.Send(e.now(), 0, m, 0); err != nil {
			return err
		}
	}
	e.flush()
	return nil
}

func (e *channelEnd) sent() sent {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.host.Mux.SenderStats(0)
	return sent{s.Sent - s.Resent, s.Sent}
}

func (e *channelEnd) close() {
	e.timer.Stop()
	_ = e.socket.Close()
}
