//go:build linux

package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/transport"
)

// newClients returns clients, each with a socket of its own.
func newClients(t task) (*figures, orders, error) {
	all := &crowd{task: t, peers: make([]*transport.Peer, t.Share), world: makeWorld()}
	f := &figures{}
	f.count = func(f *figures) {
		f.Datagrams, f.DatagramsIn = 0, 0
		for _, p := range all.peers {
			if p != nil {
				st := p.Stats()
				f.Datagrams += st.DatagramsOut
				f.DatagramsIn += st.DatagramsIn
			}
		}
		all.count(f)
	}
	return f, orders{
		orderConnect: all.connect,
		orderFetch: func() error {
			stopProfile, err := startProfile(t.Profile)
			if err != nil {
				return err
			}
			defer stopProfile()
			return all.each(func(p *transport.Peer) error { return all.fetch(p, t.Rounds) })
		},
		orderEcho: func() error {
			return all.each(func(p *transport.Peer) error { return p.Chunks().Send(background, all.world) })
		},
		orderBegin: all.begin,
	}, nil
}

// connectAtOnce is how many clients of a process connect at the same time.
const connectAtOnce = 16

func (c *crowd) connect() error {
	gate := make(chan struct{}, connectAtOnce)
	failed := make(chan error, len(c.peers))
	for i := range c.peers {
		gate <- struct{}{}
		go func() {
			p, err := dial(c.task, i)
			c.peers[i] = p
			<-gate
			failed <- err
		}()
	}
	var err error
	for range c.peers {
		err = errors.Join(err, <-failed)
	}
	return err
}

// dial connects one client.
func dial(t task, i int) (*transport.Peer, error) {
	cfg := transport.Config{Identity: uint64(t.First + i), Timeout: patience, SocketBuffer: 1 << 20}
	cfg.Key, _ = keyOf(background, cfg.Identity)
	paces[t.Pace](&cfg)
	if t.Loss == 0 {
		return transport.Dial(background, "udp4", t.Server, cfg)
	}
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	server, err := net.ResolveUDPAddr("udp4", t.Server)
	if err != nil {
		return nil, err
	}
	return transport.Over(background, lossy{conn, t.Loss}, server, cfg)
}

// lossy loses some datagrams in both directions. It reads and writes one datagram a call.
type lossy struct {
	*net.UDPConn
	percent int
}

func (l lossy) unlucky() bool { return rand.IntN(100) < l.percent }

func (l lossy) ReadFrom(b []byte) (n int, from net.Addr, err error) {
	for {
		if n, from, err = l.UDPConn.ReadFrom(b); err != nil || !l.unlucky() {
			return n, from, err
		}
	}
}

func (l lossy) WriteTo(b []byte, to net.Addr) (n int, err error) {
	if l.unlucky() {
		return len(b), nil
	}
	return l.UDPConn.WriteTo(b, to)
}

// memory is what worlds are received into.
var memory = sync.Pool{New: func() any { return new([codec.MaxChunkSize]byte) }}

// fetch receives worlds, and compares them.
func (c *crowd) fetch(p *transport.Peer, worlds int) error {
	for range worlds {
		select {
		case <-p.Chunks().RecvReady():
		case <-p.Done():
			return p.Err()
		}
		m := memory.Get().(*[codec.MaxChunkSize]byte)
		got, err := p.Chunks().RecvAppend(background, m[:0])
		if err != nil {
			return err
		}
		if !bytes.Equal(got, c.world) {
			return errors.New("the world differs from the one that was sent")
		}
		memory.Put(m)
	}
	return nil
}

// newDiscard returns receivers that read and do nothing else.
func newDiscard(t task) (*figures, orders, error) {
	return &figures{}, orders{
		orderFetch: func() error { return nil },
		orderConnect: func() error {
			for range t.Share {
				conn, err := net.Dial("udp4", t.Server)
				if err != nil {
					return err
				}
				if err := conn.(*net.UDPConn).SetReadBuffer(1 << 20); err != nil {
					return err
				}
				if err := knock(conn); err != nil {
					return err
				}
				go discard(conn)
			}
			return nil
		},
	}, nil
}

// knock says hello until there is an answer.
func knock(conn net.Conn) error {
	for {
		if _, err := conn.Write([]byte("hello")); err != nil {
			return err
		}
		if err := conn.SetReadDeadline(time.Now().Add(100 * time.Millisecond)); err != nil {
			return err
		}
		_, err := conn.Read(make([]byte, 16))
		if err == nil {
			return conn.SetReadDeadline(time.Time{})
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}

func discard(conn net.Conn) {
	var datagram [codec.MaxDatagramSize]byte
	for {
		if _, err := conn.Read(datagram[:]); err != nil {
			return
		}
	}
}
