package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/transport"
)

// What page and server agree on.
const (
	protocolID = 0x77656231
	positions  = 0 // the newest of each player
	chat       = 1 // each line once, in order
	tick       = time.Second / 30
)

// Codes with which the server ends a connection.
const (
	codeShutdown = 256
	codeTooSlow  = 257
)

func config() transport.Config {
	return transport.Config{ProtocolID: protocolID, Channels: []channel.Config{{ID: positions, Kind: channel.Latest, Priority: 1}, {ID: chat, Kind: channel.Ordered}}}
}

// game is a server of players, each of which has a dot on the same island.
type game struct {
	server *transport.Server
	island *erasure.Encoded // once for all: its repair slices are shared
	joined chan *player
}

type player struct {
	peer   *transport.Peer
	number uint32
	at     [8]byte // x and y, two float32: a page's, and not trusted
}

func newGame(server *transport.Server, island []byte) *game {
	return &game{server: server, island: erasure.Encode(island), joined: make(chan *player)}
}

// run plays until ctx ends, and then tells all pages.
func (g *game) run(ctx context.Context) {
	go g.accept(ctx)
	var players []*player
	ticks := time.NewTicker(tick)
	defer ticks.Stop()
	for {
		select {
		case p := <-g.joined:
			players = append(players, p)
			g.say(fmt.Sprintf("player %d is here", p.number))
		case <-ticks.C:
			players = g.tick(players)
		case <-ctx.Done():
			limited, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			_ = g.server.Shutdown(limited, codeShutdown, "the server goes to sleep")
			return
		}
	}
}

// accept sends the island to each page that comes.
func (g *game) accept(ctx context.Context) {
	for number := uint32(1); ; number++ {
		peer, err := g.server.Accept(ctx)
		if err != nil {
			return
		}
		go func() {
			began := time.Now()
			err := peer.Chunks().SendEncoded(ctx, g.island)
			slog.Info("island", "player", number, "after", time.Since(began).Round(time.Millisecond), "error", err)
			if err != nil {
				return
			}
			_ = peer.Channel(chat).Send(fmt.Appendf(nil, "you are player %d", number))
			g.joined <- &player{peer: peer, number: number}
		}()
	}
}

// tick reads what came, and sends to all where all are.
func (g *game) tick(players []*player) []*player {
	var living []*player
	var all []byte
	for _, p := range players {
		if p.peer.Err() != nil {
			g.say(fmt.Sprintf("player %d has left", p.number))
			continue
		}
		living = append(living, p)
		for line, ok := p.peer.Channel(chat).TryRecv(); ok; line, ok = p.peer.Channel(chat).TryRecv() {
			g.say(fmt.Sprintf("player %d: %.200s", p.number, line))
		}
		if b, ok := p.peer.Channel(positions).TryRecv(); ok && len(b) == len(p.at) && isFinite(b[:4]) && isFinite(b[4:]) {
			p.at = [8]byte(b)
		}
		all = append(binary.LittleEndian.AppendUint32(all, p.number), p.at[:]...)
	}
	g.server.Broadcast(positions, all)
	g.server.SendNow()
	return living
}

func isFinite(b []byte) bool {
	v := float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	return v-v == 0
}

func (g *game) say(line string) {
	for _, p := range g.server.Broadcast(chat, []byte(line)) {
		_ = p.Close(codeTooSlow, "your connection is too slow") // thousands of lines wait for it
	}
}

// side is how many points an island has each way: a byte is the height of one.
const side = 512

// newIsland makes an island of hills, which a seed decides.
func newIsland(seed uint64) []byte {
	island := make([]byte, side*side)
	for i := range island {
		x, y := float64(i%side)/side-0.5, float64(i/side)/side-0.5
		h := 1 - 3.2*math.Hypot(x, y)
		for octave := range 5 {
			f, phase := float64(int(3)<<octave), float64(seed)*1.7+float64(octave)*2.1
			h += 0.5 / float64(int(1)<<octave) * math.Sin(f*(x+0.4*y)+phase+2*math.Sin(f*y)) * math.Cos(f*(y-0.3*x)-phase)
		}
		island[i] = byte(255 * min(max(0.35+h/2, 0), 1))
	}
	return island
}
