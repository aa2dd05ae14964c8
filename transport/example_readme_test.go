package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

// The example of README.md, both ends.
func Example_readme() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	key := session.Key([]byte("32 random bytes, from the lobby."))
	keys := func(identity uint64) (session.Key, bool) { return key, identity == 7 }
	address, served := make(chan string, 1), make(chan string, 1)
	go func() { served <- readmeServer(ctx, keys, address) }()
	readmePlayer(ctx, <-address, key)
	fmt.Println(<-served)
	// Output:
	// the player has the world: 200000 bytes, <nil>
	// the player has left: <nil>
	// the server hears "hello", <nil>, and that the player has left: true
}

func readmeServer(ctx context.Context, keys func(uint64) (session.Key, bool), address chan<- string) (heard string) {
	world, positions := bytes.Repeat([]byte("world"), 40_000), []byte{1, 2, 3}
	server, err := transport.Listen("udp", "127.0.0.1:0", transport.Config{Keys: keys})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	address <- server.Addr().String()

	player, err := server.Accept(ctx)
	if err != nil {
		panic(err)
	}
	err = player.Chunks().Send(ctx, world)
	if err != nil {
		panic(err)
	}
	err = player.Unreliable().Send(positions)
	if err != nil {
		panic(err)
	}
	line, err := player.Channel(1).Recv(ctx)
	<-player.Done()
	left := errors.Is(player.Err(), transport.ErrClosedRemotely)
	return fmt.Sprintf("the server hears %q, %v, and that the player has left: %v", line, err, left)
}

func readmePlayer(ctx context.Context, address string, key session.Key) {
	peer, err := transport.Dial(ctx, "udp", address, transport.Config{Identity: 7, Key: key})
	if err != nil {
		panic(err)
	}
	world, err := peer.Chunks().Recv(ctx)
	fmt.Printf("the player has the world: %d bytes, %v\n", len(world), err)
	err = peer.Channel(1).Send([]byte("hello"))
	if err != nil {
		panic(err)
	}
	err = peer.Flush(ctx)
	if err != nil {
		panic(err)
	}
	err = peer.Close(0, "bye")
	fmt.Printf("the player has left: %v\n", err)
}

// Each line of the example in README.md is in Example_readme, but for its addresses.
func TestReadmeIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```go\n")
	block, _, found := strings.Cut(block, "```")
	source, err := os.ReadFile("example_readme_test.go")
	if err != nil || !found {
		t.Fatal(err, found)
	}
	inAddress := regexp.MustCompile(`"[0-9.]*:[0-9]+"`)
	here := map[string]bool{}
	for line := range strings.Lines(string(source)) {
		here[strings.TrimSpace(inAddress.ReplaceAllString(line, "address"))] = true
	}
	lines := 0
	for line := range strings.Lines(block) {
		code, _, _ := strings.Cut(line, "//")
		code = strings.TrimSpace(inAddress.ReplaceAllString(code, "address"))
		if code != "" {
			lines++
			if !here[code] {
				t.Errorf("not in the example: %s", code)
			}
		}
	}
	if lines < 8 || lines > 12 {
		t.Errorf("the example has %d lines", lines)
	}
}
