package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/connection/lanes/pace"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// stage is the server of the demonstration, the client, and the relay between them.
type stage struct {
	server    *plain.Endpoint
	client    *plain.Conn
	relay     *netsim.Relay
	relayAddr net.Addr
}

const loopback = "127.0.0.1:0"

func (d *demo) setUp(ctx context.Context, slices *sliceMap, p pace.Pace) (_ *stage, err error) {
	s := &stage{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	cfg := plain.Config{ProtocolID: defaultProtocolID, Repair: d.repair, Profile: p.Profile, MaxRate: p.Limit(), NewScheduler: p.Base}
	withMap := cfg
	withMap.Log = slices.note
	if events := d.events.fromNow(); events != nil {
		withMap.Log = func(e eventlog.Event) { slices.note(e); events(e) }
	}
	if s.server, err = plain.Listen("udp", loopback, withMap); err != nil {
		return nil, err
	}
	front, err := net.ListenPacket("udp", loopback)
	if err != nil {
		return nil, err
	}
	s.relayAddr = front.LocalAddr()
	s.relay, err = netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: s.server.Addr(),
		Dial: func() (net.PacketConn, error) { return net.ListenPacket("udp", loopback) },
		Up:   d.path(), Down: d.path(), Seed: d.seed,
	})
	if err != nil {
		return nil, errors.Join(err, front.Close())
	}
	cfg.Log = d.events.fromNow()
	s.client, err = plain.Dial(ctx, "udp", s.relayAddr.String(), cfg)
	return s, err
}

func (s *stage) close() {
	if s.client != nil {
		_ = s.client.Close()
	}
	if s.relay != nil {
		_ = s.relay.Close()
	}
	if s.server != nil {
		_ = s.server.Close()
	}
}

// pushed is the result of the transfer.
type pushed struct {
	got       []byte
	delivered time.Duration // until the client had it
	acked     time.Duration // until the server knew
	server    plain.Stats
	client    plain.Stats
	up, down  netsim.LinkStats // of the relay
}

// push lets the client join and the server answer with the world.
func (s *stage) push(ctx context.Context, world []byte) (p pushed, err error) {
	var began, delivered, acked time.Time
	serve := func(ctx context.Context) error {
		conn, err := s.server.Accept(ctx)
		if err != nil {
			return err
		}
		if _, err := conn.Recv(ctx); err != nil {
			return err
		}
		began = time.Now()
		err = conn.Send(ctx, world)
		acked, p.server = time.Now(), conn.Stats()
		return err
	}
	join := func(ctx context.Context) error { return s.client.Send(ctx, []byte("join")) }
	receive := func(ctx context.Context) (err error) {
		p.got, err = s.client.Recv(ctx)
		delivered = time.Now()
		return err
	}
	if err := together(ctx, serve, join, receive); err != nil {
		return p, err
	}
	p.delivered, p.acked, p.client = delivered.Sub(began), acked.Sub(began), s.client.Stats()
	p.up, p.down = s.relay.Stats()
	return p, nil
}

// together runs tasks at the same time. The first error ends all, and is
// returned.
func together(ctx context.Context, tasks ...func(context.Context) error) (first error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	var once sync.Once
	for _, task := range tasks {
		running.Go(func() {
			if err := task(ctx); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		})
	}
	running.Wait()
	return first
}
