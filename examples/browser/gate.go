package main

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/quic-go/webtransport-go"
)

// gate is the WebTransport sessions of pages as one socket, for transport.New: the address of a page is the one of its
// session. Datagrams that there is no room for are lost, as on any path; some are dropped on purpose.
type gate struct {
	local   net.Addr
	arrived chan datagram
	closed  context.Context
	close   context.CancelFunc

	mu       sync.Mutex
	sessions map[string]*webtransport.Session
	loss     float64 // percent
	random   *rand.Rand
}

type datagram struct {
	data []byte
	from net.Addr
}

func newGate(local net.Addr, loss float64, seed uint64) *gate {
	g := &gate{local: local, arrived: make(chan datagram, 1024), sessions: map[string]*webtransport.Session{}, loss: loss, random: rand.New(rand.NewPCG(seed, 1))}
	g.closed, g.close = context.WithCancel(context.Background())
	return g
}

// enter lets a session in, until it ends.
func (g *gate) enter(session *webtransport.Session) {
	from := session.RemoteAddr()
	g.mu.Lock()
	g.sessions[from.String()] = session
	g.mu.Unlock()
	for {
		data, err := session.ReceiveDatagram(g.closed)
		if err != nil {
			break
		}
		if g.lost() {
			continue
		}
		select {
		case g.arrived <- datagram{data, from}:
		default:
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sessions[from.String()] == session {
		delete(g.sessions, from.String())
	}
}

func (g *gate) lost() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.random.Float64()*100 < g.loss
}

// ReadFrom returns a datagram of any page.
func (g *gate) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case d := <-g.arrived:
		return copy(b, d.data), d.from, nil
	case <-g.closed.Done():
		return 0, nil, net.ErrClosed
	}
}

// WriteTo sends a datagram to a page; to one that has gone it is lost.
func (g *gate) WriteTo(b []byte, to net.Addr) (int, error) {
	g.mu.Lock()
	session := g.sessions[to.String()]
	g.mu.Unlock()
	if session != nil && !g.lost() {
		_ = session.SendDatagram(bytes.Clone(b))
	}
	return len(b), nil
}

func (g *gate) LocalAddr() net.Addr { return g.local }

func (g *gate) Close() error {
	g.close()
	return nil
}

// Deadlines are not needed: Close ends a ReadFrom.
func (g *gate) SetDeadline(time.Time) error      { return nil }
func (g *gate) SetReadDeadline(time.Time) error  { return nil }
func (g *gate) SetWriteDeadline(time.Time) error { return nil }
