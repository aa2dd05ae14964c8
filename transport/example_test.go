package transport_test

import (
	"bytes"
	"context"
	"errors"
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
	keys := map[uint64]session.Key{player: secret}
	world := bytes.Repeat([]byte("world "), 40_000)

	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{
		Keys: func(_ context.Context, identity uint64) (session.Key, error) { return keys[identity], nil },
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
		Keys: func(context.Context, uint64) (session.Key, error) { return session.Key{}, nil },
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

// What a client says first decides whether it gets in: a version, a name, a ticket. Who does not get in has the reason as
// an error with a code, which is the application's.
func ExampleServer_Accept() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	const banned = 256 // codes of the application begin here
	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{
		Admit: func(ctx context.Context, p *transport.Peer) error {
			hello, err := p.Channel(1).Recv(ctx)
			if err != nil {
				return err // it said nothing in time
			}
			if name := string(hello); name == "mallory" {
				return &transport.ClosedError{Code: banned, Text: "banned until Monday"}
			}
			p.Value = string(hello)
			return nil
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	enter := func(name string) {
		peer, err := transport.Dial(ctx, "udp", server.Addr().String(), transport.Config{})
		if err != nil {
			fmt.Println(err)
			return
		}
		defer peer.Close(0, "")
		_ = peer.Channel(1).Send([]byte(name))
		peer.SendNow()
		welcome, err := peer.Channel(1).Recv(ctx)
		var closed *transport.ClosedError
		if errors.As(err, &closed) && closed.Code == banned {
			fmt.Println(name, "is refused:", closed.Text)
			return
		}
		fmt.Printf("%s: %s, %v\n", name, welcome, err)
	}
	go func() {
		for peer, err := server.Accept(ctx); err == nil; peer, err = server.Accept(ctx) {
			_ = peer.Channel(1).Send([]byte("welcome, " + peer.Value.(string)))
		}
	}()
	enter("mallory")
	enter("ann")
	// Output:
	// mallory is refused: banned until Monday
	// ann: welcome, ann, <nil>
}
