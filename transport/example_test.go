package transport_test

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

// A server that knows its players' keys sends each the world, and hears chat. Nobody
// without a key gets in, and no address gets more than it sent before it has answered
// a challenge.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	const player = 7
	secret := session.Key([]byte("32 random bytes, from the lobby.")) // by a safe way, to both
	world := bytes.Repeat([]byte("world "), 40_000)

	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{
		Keys: func(identity uint64) (session.Key, bool) { return secret, identity == player },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	go func() {
		peer, err := server.Accept(ctx) // after the handshake
		if err != nil {
			return
		}
		_ = peer.Chunks().Send(ctx, world) // nil: the player has all of it
		for {
			line, err := peer.Channel(1).Recv(ctx)
			if err != nil {
				return
			}
			_ = peer.Channel(1).Send(append([]byte("you say "), line...))
		}
	}()

	peer, err := transport.Dial(ctx, "udp", server.Addr().String(), transport.Config{Identity: player, Key: secret})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer peer.Close(0, "bye")
	loaded, err := peer.Chunks().Recv(ctx)
	fmt.Println(len(loaded), "bytes,", err)
	_ = peer.Unreliable().Send([]byte("position 3, 4"))
	_ = peer.Channel(1).Send([]byte("hello"))
	answer, err := peer.Channel(1).Recv(ctx)
	fmt.Printf("%s, %v\n", answer, err)
	// Output:
	// 240000 bytes, <nil>
	// you say hello, <nil>
}

// A key that the server does not know is an error of Dial, with the reason.
func ExampleDial() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{
		Keys: func(uint64) (session.Key, bool) { return session.Key{}, false },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	_, err = transport.Dial(ctx, "udp", server.Addr().String(), transport.Config{Identity: 7, Key: session.Key{1}})
	fmt.Println(err != nil && context.Cause(ctx) == nil)
	for reason, n := range server.Stats().Refused {
		fmt.Println(reason, n > 0)
	}
	// Output:
	// true
	// identity true
}
