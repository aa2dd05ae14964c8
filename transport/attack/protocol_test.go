package attack

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chunkwire/chunkwire/transport/plain"
)

// protocol is the chunk protocol by itself, or connections: what an attack finds at
// the other end, and what can be sent to it by somebody who has seen nothing.
type protocol struct {
	name  string
	serve func(t testing.TB, pc net.PacketConn) server
	dial  func(t testing.TB, pc net.PacketConn, to net.Addr) peer

	begin []forgery                   // each of them might begin a connection
	stay  func(i int) [][]byte        // the i-th time that a forged source says something
	acks  func(i int) []byte          // the i-th of many acks of what was not received
	forge func(rng *rand.Rand) []byte // one of a flood
}

// forgery is a datagram of somebody who has seen nothing.
type forgery struct {
	name     string
	datagram []byte
}

// server is what a protocol listens with.
type server interface {
	Accept(ctx context.Context) (peer, error)
	Addr() net.Addr
}

// peer is one connection, as far as chunks go.
type peer interface {
	Send(ctx context.Context, chunk []byte) error
	Recv(ctx context.Context) ([]byte, error)
	Err() error
	Close() error
}

// protocols are the chunk protocol by itself and connections.
var protocols = []protocol{chunksAlone}

// onEach runs an attack on each protocol, all at the same time if it is on the
// system's sockets, and returns its figures.
func onEach[F any](t *testing.T, n network, attack func(t *testing.T, n network, p protocol) F) (figures []F) {
	t.Helper()
	figures = make([]F, len(protocols))
	var all sync.WaitGroup
	for i, p := range protocols {
		all.Go(func() { figures[i] = attack(t, n, p) })
	}
	all.Wait()
	return figures
}

// inVirtualTime is onEach in virtual time, each on a network of its own.
func inVirtualTime[F any](t *testing.T, attack func(t *testing.T, n network, p protocol) F) (figures []F) {
	t.Helper()
	for _, p := range protocols {
		virtual(t, func(t *testing.T, n network) { figures = append(figures, attack(t, n, p)) })
	}
	return figures
}

// chunksAlone is the chunk protocol by itself, as its zero Config has it.
var chunksAlone = protocol{
	name: "plain", serve: servePlain, dial: dialPlain,
	begin: []forgery{
		{"a slice, 255 of 256", firstSlice()},
		{"a whole chunk", wholeChunk()},
		{"an ack", blindAck(0, 256)},
	},
	stay: func(i int) [][]byte { return [][]byte{slice(255 - i)} },
	acks: func(i int) []byte { return blindAck(uint16(i/40), 256) },
	forge: func(rng *rand.Rand) []byte {
		switch rng.IntN(3) {
		case 0:
			return firstSlice()
		case 1:
			return blindAck(uint16(rng.Uint32()), 256)
		}
		return make([]byte, 1+rng.IntN(1200))
	},
}

type plainServer struct{ *plain.Endpoint }

func (s plainServer) Accept(ctx context.Context) (peer, error) {
	c, err := s.Endpoint.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func servePlain(t testing.TB, pc net.PacketConn) server {
	t.Helper()
	return plainServer{plainEndpoint(t, pc, plain.Config{})}
}

func dialPlain(t testing.TB, pc net.PacketConn, to net.Addr) peer {
	t.Helper()
	e := plainEndpoint(t, pc, plain.Config{})
	c, err := e.Dial(to)
	if err != nil {
		t.Fatal(err)
	}
	return plainClient{c, e}
}

// plainClient is a client whose socket ends with it.
type plainClient struct {
	*plain.Conn
	socket *plain.Endpoint
}

func (c plainClient) Close() error { return c.socket.Close() }

func plainEndpoint(t testing.TB, pc net.PacketConn, cfg plain.Config) *plain.Endpoint {
	t.Helper()
	e, err := plain.New(pc, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// pushes is the server of README's example: whoever Accept returns gets chunks, as
// many as it acks, up to a limit. It returns how many were acked.
func pushes(s server, chunk []byte, limit int) *atomic.Int64 {
	return whenever(s, func(p peer) bool { return true }, chunk, limit)
}

// answers is a server that waits for a first chunk, and then does the same.
func answers(s server, chunk []byte, limit int) *atomic.Int64 {
	return whenever(s, func(p peer) bool { _, err := p.Recv(background); return err == nil }, chunk, limit)
}

func whenever(s server, ready func(p peer) bool, chunk []byte, limit int) *atomic.Int64 {
	delivered := new(atomic.Int64)
	go func() {
		for {
			p, err := s.Accept(background)
			if err != nil {
				return
			}
			go func() {
				for i := 0; i < limit && ready(p) && p.Send(background, chunk) == nil; i++ {
					delivered.Add(1)
				}
			}()
		}
	}()
	return delivered
}
