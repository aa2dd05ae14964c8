package transport_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/flynn/noise"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

// The keys of connections can come from a Noise handshake, here of the pattern IK by
// the library flynn/noise: each player knows the server's public key, the server knows
// the players', and each session has a key of its own.
var suite = noise.NewCipherSuite(noise.DH25519, noise.CipherChaChaPoly, noise.HashBLAKE2s)

// The sizes of the two messages: an ephemeral key, in the first one the encrypted static
// key, and an encrypted text, which is empty in the first.
const firstNoise, secondNoise = 32 + 48 + 16, 32 + 8 + 16

// handshake returns the state of one end.
func handshake(initiator bool, own noise.DHKey, server []byte) (*noise.HandshakeState, error) {
	return noise.NewHandshakeState(noise.Config{
		CipherSuite: suite, Pattern: noise.HandshakeIK, Initiator: initiator, StaticKeypair: own, PeerStatic: server,
		Prologue: []byte("my game, version 1"),
	})
}

// lobby is where players get a number and a key, over any stream of bytes.
type lobby struct {
	own     noise.DHKey
	players map[string]uint64 // by public key

	mu   sync.Mutex
	keys map[uint64]session.Key
}

// serve does the handshake with one player.
func (l *lobby) serve(stream io.ReadWriter) error {
	state, err := handshake(false, l.own, nil)
	if err != nil {
		return err
	}
	first := make([]byte, firstNoise)
	if _, err := io.ReadFull(stream, first); err != nil {
		return err
	}
	if _, _, _, err := state.ReadMessage(nil, first); err != nil {
		return err
	}
	identity, known := l.players[string(state.PeerStatic())]
	if !known {
		return fmt.Errorf("an unknown player")
	}
	second, toServer, _, err := state.WriteMessage(nil, fmt.Appendf(nil, "%08d", identity))
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.keys[identity] = session.Key(toServer.UnsafeKey()) // it is used for nothing else
	l.mu.Unlock()
	_, err = stream.Write(second)
	return err
}

// key is for transport.Config.Keys.
func (l *lobby) key(_ context.Context, identity uint64) (session.Key, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.keys[identity], nil
}

// enter is the player's part of the handshake.
func enter(stream io.ReadWriter, own noise.DHKey, server []byte) (cfg transport.Config, err error) {
	state, err := handshake(true, own, server)
	if err != nil {
		return cfg, err
	}
	first, _, _, err := state.WriteMessage(nil, nil)
	if err != nil {
		return cfg, err
	}
	if _, err := stream.Write(first); err != nil {
		return cfg, err
	}
	second := make([]byte, secondNoise)
	if _, err := io.ReadFull(stream, second); err != nil {
		return cfg, err
	}
	number, toServer, _, err := state.ReadMessage(nil, second)
	if err != nil {
		return cfg, err
	}
	_, err = fmt.Sscanf(string(number), "%08d", &cfg.Identity)
	cfg.Key = session.Key(toServer.UnsafeKey())
	return cfg, err
}

// A player gets a key for one session by a Noise handshake over TCP, and then connects
// with it.
func Example_noise() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	ofServer, err1 := suite.GenerateKeypair(rand.Reader)
	ofPlayer, err2 := suite.GenerateKeypair(rand.Reader)
	if err1 != nil || err2 != nil {
		fmt.Println(err1, err2)
		return
	}

	l := &lobby{own: ofServer, players: map[string]uint64{string(ofPlayer.Public): 7}, keys: map[uint64]session.Key{}}
	there, here := net.Pipe() // a TCP connection, elsewhere
	go l.serve(there)
	cfg, err := enter(here, ofPlayer, ofServer.Public)
	if err != nil {
		fmt.Println(err)
		return
	}

	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{Keys: l.key})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	peer, err := transport.Dial(ctx, "udp", server.Addr().String(), cfg)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer peer.Close(0, "")
	player, err := server.Accept(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = player.Channel(1).Send([]byte("welcome"))
	line, err := peer.Channel(1).Recv(ctx)
	fmt.Printf("%s, player %d, %v, %v\n", line, player.Identity(), peer.Stats().Strength, err)
	// Output: welcome, player 7, aead, <nil>
}
