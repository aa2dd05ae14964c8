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
	keys := func(_ context.Context, identity uint64) (session.Key, error) {
		return map[uint64]session.Key{7: key}[identity], nil
	}
	address, served := make(chan string, 1), make(chan string, 1)
	go func() { served <- readmeServer(ctx, keys, address) }()
	readmePlayer(ctx, <-address, key)
	fmt.Println(<-served)
	// Output:
	// the player has the world: 200000 bytes, <nil>
	// the player has left: <nil>
	// the server hears "hello", <nil>, and that the player has left: true
}

func readmeServer(ctx context.Context, keys func(context.Context, uint64) (session.Key, error), address chan<- string) (heard string) {
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

// Each line of Go in README.md is in an example that is run, but for addresses and the
// bodies of loops.
func TestReadmeIsTheExamples(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(string(readme), "```go\n")[1:]
	sources := []string{"../codec/example_test.go", "../statemachine/example_test.go", "example_readme_test.go"}
	if len(blocks) != len(sources) {
		t.Fatalf("README has %d blocks of Go, and %d sources", len(blocks), len(sources))
	}
	for i, source := range sources {
		here := map[string]bool{}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			here[essence(line)] = true
		}
		block, _, _ := strings.Cut(blocks[i], "```")
		lines := 0
		for line := range strings.Lines(block) {
			if code := essence(line); code != "" {
				lines++
				if !here[code] {
					t.Errorf("not in %s: %s", source, code)
				}
			}
		}
		if lines < 3 || lines > 12 {
			t.Errorf("block %d has %d lines", i, lines)
		}
	}
}

var inAddress = regexp.MustCompile(`"[0-9.]*:[0-9]+"`)

// essence is a line of Go without its comment, its addresses, and the body of its loop.
func essence(line string) string {
	code, _, _ := strings.Cut(line, "//")
	code, _, _ = strings.Cut(code, " {")
	return strings.TrimSpace(inAddress.ReplaceAllString(code, "address"))
}
