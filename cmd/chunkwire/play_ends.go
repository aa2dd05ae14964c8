package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport"
)

// How often an end sends what.
const (
	positionsPerSecond = 60
	chatEvery          = 15 // ticks
	inventoryEvery     = 6
)

// ticks calls a function 60 times a second until no more is to be sent.
func (g *game) ticks(each func(n int)) {
	tick := time.NewTicker(time.Second / positionsPerSecond)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-tick.C:
			each(n)
		case <-g.stopped.Done():
			return
		}
	}
}

// reading passes the messages that arrive on a channel of an end to a function.
func (g *game) reading(ctx context.Context, peer *transport.Peer, on uint8, t *tally, use func(body []byte)) {
	g.tasks.Go(func() {
		for {
			message, err := peer.Channel(on).Recv(ctx)
			if err != nil {
				return // why a connection ended is judged at the end
			}
			g.handling.Lock()
			if body := t.receive(message); body != nil {
				use(body)
			}
			g.handling.Unlock()
		}
	})
}

// say sends a message. What a full queue refuses, and what an end that is over does, was
// never sent; else the channel would have broken its promise.
func (g *game) say(peer *transport.Peer, on uint8, t *tally, body []byte) {
	err := t.send(body, peer.Channel(on).Send)
	if err != nil && peer.Err() == nil && !(t.kind == channel.Unreliable && errors.Is(err, transport.ErrQueueFull)) {
		g.fault("%s: %v", t.name, err)
	}
}

func ignore([]byte) {}

// playClient sends and receives as a client does.
func (g *game) playClient(ctx context.Context, l *gameLink, client *transport.Peer) {
	for on := range uint8(numChannels) {
		g.reading(ctx, client, on, l.down[on], ignore)
	}
	g.tasks.Go(func() {
		for {
			got, err := client.Chunks().Recv(ctx)
			if err != nil {
				return
			}
			g.takeWorld(l, got)
		}
	})
	g.tasks.Go(func() {
		g.ticks(func(n int) {
			if l.isKilled() {
				return
			}
			g.say(client, onPositions, l.up[onPositions], l.player.position(n))
			if n%chatEvery == l.player.number%chatEvery {
				line := fmt.Sprintf("client %d says: %d", l.player.number, n)
				g.say(client, onChat, l.up[onChat], []byte(line))
			}
			if n%inventoryEvery == l.player.number%inventoryEvery {
				change := simulate.Pattern(16+n%256, uint64(n))
				g.say(client, onInventory, l.up[onInventory], change)
			}
		})
	})
}

// position returns where a player is: on a circle.
func (p *player) position(n int) []byte {
	angle := float64(n)/positionsPerSecond + float64(p.number)
	b := []byte{byte(p.number)}
	for _, v := range []float64{100 * math.Cos(angle), 100 * math.Sin(angle), angle} {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}

// serve accepts clients, and takes what they send.
func (g *game) serve(ctx context.Context) {
	for {
		peer, err := g.server.Accept(ctx)
		if err != nil {
			return
		}
		if l := g.linkOf(peer); l != nil {
			g.playServer(ctx, l, peer)
		} else {
			g.fault("the server accepted %016x, which did not begin a connection", peer.Identity())
		}
	}
}

// linkOf returns the connection that a peer of the server is the other end of: the first
// of its player's that has none.
func (g *game) linkOf(peer *transport.Peer) *gameLink {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.players {
		for _, l := range p.links {
			if p.identity == peer.Identity() && l.meet(peer) {
				return l
			}
		}
	}
	return nil
}

// meet gives a connection its other end, if it has none.
func (l *gameLink) meet(server *transport.Peer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.server != nil {
		return false
	}
	l.server = server
	return true
}

// playServer takes what a client sends: it passes chat on to all, and answers each
// change of the inventory.
func (g *game) playServer(ctx context.Context, l *gameLink, server *transport.Peer) {
	g.reading(ctx, server, onPositions, l.up[onPositions], func([]byte) { g.noteMove(l, server) })
	g.reading(ctx, server, onInventory, l.up[onInventory], func(change []byte) {
		g.say(server, onInventory, l.down[onInventory], change)
	})
	g.reading(ctx, server, onChat, l.up[onChat], func(line []byte) {
		for _, to := range g.links() {
			if peer := to.atServer(); peer != nil && !to.isKilled() {
				g.say(peer, onChat, to.down[onChat], line)
			}
		}
	})
	g.mu.Lock()
	begun := g.begun
	g.mu.Unlock()
	if begun {
		g.sendWorld(ctx, l, server)
	}
}

// sendStates sends all positions to all clients, 60 times a second.
func (g *game) sendStates() {
	g.ticks(func(n int) {
		var state []byte
		for _, p := range g.players {
			state = append(state, p.position(n)...)
		}
		for _, l := range g.links() {
			if server := l.atServer(); server != nil && server.Err() == nil {
				g.say(server, onPositions, l.down[onPositions], state)
			}
		}
	})
}
