package attack

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// protocol is the chunk protocol by itself, or connections: what an attack finds at
// the other end, and what can be sent to it by somebody who has seen nothing.
type protocol struct {
	name  string
	serve func(t testing.TB, pc net.PacketConn) server
	dial  func(t testing.TB, pc net.PacketConn, to net.Addr) (peer, error)

	begin []forgery            // each of them might begin a connection
	take  func(i int) [][]byte // what the i-th of many forged sources says to take a place
	stay  func(i int) [][]byte // what each of them says the i-th time to keep it

	// proof is a PROOF that is right but for the address: a stranger has asked for its cookie at an address of his
	// own, which is closed then. Nil: there is no handshake.
	proof func(t testing.TB, n network, to net.Addr) []byte
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

// protocols are the chunk protocol by itself, and connections as they are by default and
// with keys.
var protocols = []protocol{chunksAlone, anonymous, keyed}

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
	take: func(int) [][]byte { return [][]byte{wholeChunk(), blindAck(0, 1)} },
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

func dialPlain(t testing.TB, pc net.PacketConn, to net.Addr) (peer, error) {
	t.Helper()
	e := plainEndpoint(t, pc, plain.Config{})
	c, err := e.Dial(to)
	return plainClient{c, e}, err
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

// anonymous is connections as the zero Config has them, keyed those with a key and
// an identity for each client.
var (
	anonymous = connections("anonymous", transport.Config{}, func() transport.Config { return transport.Config{} })
	keyed     = connections("keyed", transport.Config{Keys: anyKey}, newIdentity)

	identities atomic.Uint64
)

func keyOf(identity uint64) session.Key {
	return sha256.Sum256(binary.LittleEndian.AppendUint64(nil, identity))
}

// anyKey is a server's function that knows everybody.
func anyKey(_ context.Context, identity uint64) (session.Key, error) { return keyOf(identity), nil }

func newIdentity() transport.Config {
	identity := identities.Add(1)
	return transport.Config{Identity: identity, Key: keyOf(identity)}
}

// connections returns the protocol of a server's configuration and each client's.
func connections(name string, serving transport.Config, client func() transport.Config) protocol {
	return protocol{
		name: name,
		serve: func(t testing.TB, pc net.PacketConn) server {
			t.Helper()
			s, err := transport.New(pc, serving)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			return connectionServer{s}
		},
		dial: func(t testing.TB, pc net.PacketConn, to net.Addr) (peer, error) {
			t.Helper()
			p, err := transport.Over(background, pc, to, client())
			if err != nil {
				return nil, err
			}
			t.Cleanup(func() { p.Close(0, "") })
			return connectionPeer{p}, nil
		},
		begin: blind(),
		take:  someOfBlind,
		stay:  someOfBlind,
		proof: func(t testing.TB, n network, to net.Addr) []byte {
			v := n.manualClient(t, to, "127.9.0.1:9000", session.AEAD, 0)
			defer v.station.Close()
			return last(t, v.polls(), session.KindProof)
		},
		acks:  func(i int) []byte { return dataDatagram(session.CRC, uint32(i), 0, 60) },
		forge: newFlooder(session.CRC, 0).next,
	}
}

type connectionServer struct{ *transport.Server }

func (s connectionServer) Accept(ctx context.Context) (peer, error) {
	p, err := s.Server.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return connectionPeer{p}, nil
}

// connectionPeer is the chunks of a connection.
type connectionPeer struct{ *transport.Peer }

func (p connectionPeer) Send(ctx context.Context, chunk []byte) error {
	return p.Chunks().Send(ctx, chunk)
}
func (p connectionPeer) Recv(ctx context.Context) ([]byte, error) { return p.Chunks().Recv(ctx) }
func (p connectionPeer) Close() error                             { return p.Peer.Close(0, "") }

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
