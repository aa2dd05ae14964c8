// Command game is a small multiplayer game without graphics: copy it, and put your own game into it.
//
//	go run ./examples/game play [--json]       # all of it on this machine, through a bad network
//	go run ./examples/game serve               # prints a key for each player
//	go run ./examples/game join ann KEY        # in other terminals; a line that is typed is chat
//
// A player loads a level of 1 MiB, then walks in circles; everybody sees everybody 30 times a second. A player who is
// killed with kill -9 and starts again is back at once. Ctrl-C at the server ends the game with a reason.
package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
	"github.com/chunkwire/chunkwire/transport/file"
)

// What both ends must agree on. A game whose channels or messages change takes another Protocol.
const (
	Protocol  = 0x67616d65
	Positions = 0 // the newest of each player; older ones are dropped
	Chat      = 1 // each line arrives once, in order
	Tick      = time.Second / 30
)

// Codes with which the server ends a connection; 256 and more are an application's.
const (
	CodeBye      = 0
	CodeShutdown = 256
	CodeRefused  = 257
)

func config() transport.Config {
	return transport.Config{
		ProtocolID: Protocol,
		Channels:   []channel.Config{{ID: Positions, Kind: channel.Latest, Priority: 1}, {ID: Chat, Kind: channel.Ordered}},
		Lanes:      8, // chunks of the level at once
	}
}

// Position is where a player is, and when that was by the player's clock.
type Position struct {
	Player uint64
	At     int64 // us
	X, Y   float32
}

const positionSize = 24

func encode(list []Position) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, list)
	return b.Bytes()
}

// decode takes what others sent: it must not trust it.
func decode(b []byte) (list []Position) {
	list = make([]Position, len(b)/positionSize)
	if len(b)%positionSize != 0 || binary.Read(bytes.NewReader(b), binary.LittleEndian, list) != nil {
		return nil
	}
	return list
}

// Game is a server with its players.
type Game struct {
	server *transport.Server
	level  []byte
	names  map[uint64]string // of those who have a key
	say    func(format string, args ...any)

	mu      sync.Mutex
	players map[uint64]*player // who have loaded the level
}

type player struct {
	peer *transport.Peer
	name string
	at   Position
}

// NewGame returns a game on a server, whose Config.Admit is admit with the same names.
func NewGame(server *transport.Server, level []byte, names map[uint64]string, say func(string, ...any)) *Game {
	return &Game{server: server, level: level, names: names, say: say, players: map[uint64]*player{}}
}

// Run lets players in and plays until ctx ends. Then it tells all why, and waits until they have heard it.
func (g *Game) Run(ctx context.Context, reason string) {
	var joining sync.WaitGroup
	defer joining.Wait()
	joining.Go(func() { g.accept(ctx, &joining) })
	tick := time.NewTicker(Tick)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			g.tick()
		case <-ctx.Done():
			g.shutdown(reason)
			return
		}
	}
}

func (g *Game) accept(ctx context.Context, joining *sync.WaitGroup) {
	for {
		peer, err := g.server.Accept(ctx)
		if err != nil {
			return
		}
		joining.Go(func() { g.join(ctx, peer) })
	}
}

// admit is for Config.Admit: who has a key and no name is banned. A game without keys would look at what the client says
// first, as the example of transport.Server.Accept does.
func admit(names map[uint64]string) func(context.Context, *transport.Peer) error {
	return func(_ context.Context, peer *transport.Peer) error {
		if _, known := names[peer.Identity()]; !known {
			return &transport.ClosedError{Code: CodeRefused, Text: "you are banned until Monday"}
		}
		return nil
	}
}

// join loads the level into a player's machine. It takes a while, in which others play.
func (g *Game) join(ctx context.Context, peer *transport.Peer) {
	name := g.names[peer.Identity()]
	if err := file.Send(ctx, peer.Chunks(), bytes.NewReader(g.level), nil); err != nil {
		g.say("%s did not load the level: %v", name, err)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leftLocked(peer.Identity()) // the connection before, if no tick came since it was replaced
	g.players[peer.Identity()] = &player{peer: peer, name: name}
	g.chatLocked(name + " is here")
}

// leftLocked takes out a player whose connection has ended, and reports whether it has.
func (g *Game) leftLocked(id uint64) bool {
	p := g.players[id]
	if p == nil || p.peer.Err() == nil {
		return false
	}
	delete(g.players, id)
	g.chatLocked(fmt.Sprintf("%s has left: %s", p.name, whyLeft(p.peer.Err())))
	return true
}

// tick reads what came, and sends to all where all are.
func (g *Game) tick() {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []Position
	for id, p := range g.players {
		if g.leftLocked(id) {
			continue
		}
		for line, ok := p.peer.Channel(Chat).TryRecv(); ok; line, ok = p.peer.Channel(Chat).TryRecv() {
			g.chatLocked(p.name + ": " + string(line))
		}
		if b, ok := p.peer.Channel(Positions).TryRecv(); ok {
			if list := decode(b); len(list) == 1 {
				p.at = list[0]
				p.at.Player = id // nobody speaks for another
			}
		}
		all = append(all, p.at)
	}
	g.server.Broadcast(Positions, encode(all)) // those who still load get it, too: the newest is kept for them
	g.server.SendNow()                         // the tick is over
}

func (g *Game) chatLocked(line string) {
	g.say("%s", line)
	for _, p := range g.server.Broadcast(Chat, []byte(line)) {
		_ = p.Close(CodeRefused, "your connection is too slow") // thousands of lines wait for it
	}
}

func (g *Game) shutdown(reason string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = g.server.Shutdown(ctx, CodeShutdown, reason) // returns when the players have heard it
}

// whyLeft says why a connection has ended, for players.
func whyLeft(err error) string {
	var closed *transport.ClosedError
	switch {
	case errors.As(err, &closed):
		return closed.Text
	case errors.Is(err, transport.ErrReplaced):
		return "back from another place"
	case errors.Is(err, transport.ErrTimeout):
		return "lost the connection"
	}
	return err.Error()
}

// Client is a player's end of the game.
type Client struct {
	peer  *transport.Peer
	start time.Time
	Level []byte

	Others []Position // as of the latest tick
	Lines  []string   // of chat that came with the latest tick
}

// NewClient loads the level over a connection. Progress is for the loading bar.
func NewClient(ctx context.Context, peer *transport.Peer, progress func(done, total int64)) (*Client, error) {
	var level bytes.Buffer
	if _, err := file.Receive(ctx, peer.Chunks(), &level, &file.ReceiveOptions{MaxSize: 64 << 20, Progress: progress}); err != nil {
		return nil, err
	}
	return &Client{peer: peer, start: time.Now(), Level: level.Bytes()}, nil
}

// Say says a line to all.
func (c *Client) Say(line string) error { return c.peer.Channel(Chat).Send([]byte(line)) }

// Tick is one frame: it reads what came, moves, and sends where the player is. It fails when the game is over.
func (c *Client) Tick() error {
	if b, ok := c.peer.Channel(Positions).TryRecv(); ok {
		c.Others = decode(b)
	}
	c.Lines = c.Lines[:0]
	for line, ok := c.peer.Channel(Chat).TryRecv(); ok; line, ok = c.peer.Channel(Chat).TryRecv() {
		c.Lines = append(c.Lines, string(line))
	}
	sin, cos := math.Sincos(time.Since(c.start).Seconds())
	me := Position{At: time.Since(c.start).Microseconds(), X: float32(cos), Y: float32(sin)}
	err := c.peer.Channel(Positions).Send(encode([]Position{me}))
	c.peer.SendNow() // the frame is over
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "serve":
		err = serve(ctx)
	case len(args) == 3 && args[0] == "join":
		err = join(ctx, args[1], args[2])
	case len(args) == 1 && args[0] == "play", len(args) == 2 && args[0] == "play" && args[1] == "--json":
		err = playAlone(ctx, 10*time.Second, len(args) == 2)
	default:
		err = errors.New("usage: game serve, game join NAME KEY, or game play [--json]")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const (
	address   = "127.0.0.1:9000"
	goodNight = "the server goes to sleep"
)

// identity is who a name is. A lobby would give a player a number and a key over TLS.
func identity(name string) uint64 {
	var b [8]byte
	copy(b[:], name)
	return binary.LittleEndian.Uint64(b[:])
}

func serve(ctx context.Context) error {
	keys, names := map[uint64]session.Key{}, map[uint64]string{}
	for _, name := range []string{"ann", "bob", "cleo", "mallory"} {
		var key session.Key
		_, _ = rand.Read(key[:])
		keys[identity(name)] = key
		fmt.Printf("go run ./examples/game join %s %x\n", name, key)
		if name != "mallory" { // who is banned
			names[identity(name)] = name
		}
	}
	cfg := config()
	cfg.Keys = func(_ context.Context, id uint64) (session.Key, error) { return keys[id], nil }
	cfg.Admit = admit(names)
	server, err := transport.Listen("udp", address, cfg)
	if err != nil {
		return err
	}
	level := make([]byte, 1<<20)
	_, _ = rand.Read(level)
	NewGame(server, level, names, func(format string, args ...any) { fmt.Printf(format+"\n", args...) }).Run(ctx, goodNight)
	return nil
}

func join(ctx context.Context, name, key string) error {
	cfg := config()
	cfg.Identity = identity(name)
	if n, err := hex.Decode(cfg.Key[:], []byte(key[:min(len(key), 2*len(cfg.Key))])); err != nil || n != len(cfg.Key) {
		return errors.New("the key has 64 hexadecimal digits: copy the line that the server prints")
	}
	peer, err := transport.Dial(ctx, "udp", address, cfg)
	if err != nil {
		return err
	}
	defer peer.Close(CodeBye, "bye")
	client, err := NewClient(ctx, peer, func(done, total int64) {
		fmt.Printf("\rlevel [%-40s]", strings.Repeat("#", int(40*done/total)))
	})
	if err != nil {
		return err
	}
	fmt.Println()
	lines := make(chan string)
	go func() {
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			lines <- in.Text()
		}
	}()
	tick := time.NewTicker(Tick)
	defer tick.Stop()
	for {
		select {
		case line := <-lines:
			_ = client.Say(line) // the next tick fails if the connection has ended
		case <-tick.C:
			if err := client.Tick(); err != nil {
				return fmt.Errorf("the game is over: %s", whyLeft(err))
			}
			client.draw()
		case <-ctx.Done():
			return nil
		}
	}
}

// draw is a line for a screen.
func (c *Client) draw() {
	for _, line := range c.Lines {
		fmt.Printf("\r%-79s\n", line)
	}
	ping, _ := c.peer.RTT()
	fmt.Printf("\rping %-8v", ping.Round(time.Millisecond))
	for _, p := range c.Others {
		fmt.Printf(" (%5.2f %5.2f)", p.X, p.Y)
	}
}
