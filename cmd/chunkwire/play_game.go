package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/tools/simulate"
	"github.com/chunkwire/chunkwire/transport"
)

// The channels of the game: the default ones of a connection.
const (
	onPositions = iota
	onChat
	onInventory
	numChannels
)

var channelKinds = [numChannels]channel.Kind{channel.Unreliable, channel.Ordered, channel.Unordered}

// When the parts of the game happen, in parts of its duration.
const (
	moveAt   = 0.2 // the first client has another address
	worldAt  = 0.5 // every client gets the world
	killAt   = 0.6 // the last client is killed
	returnAt = 0.8 // and comes back
)

// game is the server, the clients, and the relay between them.
type game struct {
	flags     *play
	view      playView
	world     []byte
	server    *transport.Server
	relay     *netsim.Relay
	relayAddr net.Addr
	players   []*player
	start     time.Time
	tasks     sync.WaitGroup
	stopped   context.Context // ends when no more is sent
	stop      context.CancelFunc

	handling sync.Mutex // while a message is counted and answered

	mu      sync.Mutex
	begun   bool // worlds go to who comes
	faults  []string
	moved   time.Duration // until the server heard the client that moved; 0: not yet
	revived time.Duration // until the client that was killed had a connection again
}

// player is a client with its identity.
type player struct {
	number int // from 1
	credential
	links []*gameLink // its connections, the present one last; guarded by game.mu
}

// link returns the present connection.
func (g *game) link(p *player) *gameLink {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(p.links) == 0 {
		return nil
	}
	return p.links[len(p.links)-1]
}

// links returns all connections that there were.
func (g *game) links() (all []*gameLink) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.players {
		all = append(all, p.links...)
	}
	return all
}

// gameLink is a connection: both its ends, and its traffic.
type gameLink struct {
	player   *player
	number   int // which of the player's, from 1
	socket   *movingSocket
	up, down [numChannels]*tally

	mu        sync.Mutex
	client    *transport.Peer // once it has a connection
	server    *transport.Peer // once it was accepted
	killed    bool
	movedAt   time.Time // if the server has not heard the client since; else zero
	movedFrom string
	worldAt   time.Time // when the server began to send the world
	worldMS   float64   // until the client had it
	worldOK   bool
}

// name says whose connection it is.
func (l *gameLink) name() string {
	if l.number == 1 {
		return fmt.Sprintf("client %d", l.player.number)
	}
	return fmt.Sprintf("client %d, connection %d", l.player.number, l.number)
}

func newGameLink(p *player, number int) *gameLink {
	l := &gameLink{player: p, number: number}
	names := [numChannels]string{"positions", "chat", "inventory"}
	for i, kind := range channelKinds {
		l.up[i] = &tally{name: l.name() + ", " + names[i] + " to the server", kind: kind}
		l.down[i] = &tally{name: l.name() + ", " + names[i] + " from the server", kind: kind}
	}
	return l
}

func (l *gameLink) atServer() *transport.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

func (l *gameLink) atClient() *transport.Peer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client
}

func (l *gameLink) isKilled() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.killed
}

// isAway reports whether the server has not heard the client since its address changed.
func (l *gameLink) isAway() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.movedAt.IsZero()
}

func (p *play) setUp(view playView) (_ *game, err error) {
	g := &game{flags: p, view: view, world: simulate.Pattern(int(p.world), p.seed), start: time.Now()}
	g.stopped, g.stop = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			g.close()
		}
	}()
	for i := range p.clients {
		g.players = append(g.players, &player{number: i + 1, credential: newCredential()})
	}
	if err := g.listen(); err != nil {
		return nil, err
	}
	front, err := p.listen()
	if err != nil {
		return nil, err
	}
	g.relayAddr = front.LocalAddr()
	g.relay, err = netsim.NewRelay(netsim.RelayConfig{
		Listen: front, Server: g.server.Addr(), Dial: p.listen,
		Up: p.path(), Down: p.path(), Seed: p.seed, MaxClients: 2*mostClients + 2,
	})
	if err != nil {
		return nil, errors.Join(err, front.Close())
	}
	return g, nil
}

// listen opens the server, which knows the clients by their keys.
func (g *game) listen() error {
	socket, err := g.flags.listen()
	if err != nil {
		return err
	}
	cfg := g.flags.config()
	var all []credential
	for _, p := range g.players {
		all = append(all, p.credential)
	}
	cfg.Keys = keysOf(all)
	g.server, err = transport.New(socket, cfg)
	return err
}

// close ends what is left. Nothing of the game goes on behind it.
func (g *game) close() {
	g.stop()
	for _, l := range g.links() {
		if client := l.atClient(); client != nil {
			_ = client.Close(0, "")
		}
	}
	if g.server != nil {
		_ = g.server.Close()
	}
	if g.relay != nil {
		_ = g.relay.Close()
	}
	g.tasks.Wait()
}

func (g *game) fault(format string, args ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.faults = append(g.faults, fmt.Sprintf(format, args...))
}

// run plays the game to its end.
func (g *game) run(ctx context.Context) error {
	defer context.AfterFunc(ctx, g.stop)()
	g.tasks.Go(func() { g.serve(ctx) })
	g.tasks.Go(g.sendStates)
	for _, p := range g.players {
		if err := g.join(ctx, p); err != nil {
			return err
		}
	}
	g.start = time.Now()
	seconds := g.showSeconds()
	err := g.act(ctx)
	g.stop()
	if err == nil {
		err = g.settle(ctx)
	}
	seconds()
	if err == nil {
		g.part()
	}
	return err
}

// act goes through the parts of the game.
func (g *game) act(ctx context.Context) error {
	first, last := g.players[0], g.players[len(g.players)-1]
	for _, part := range []struct {
		at float64
		do func() error
	}{
		{moveAt, func() error { return g.move(g.link(first)) }},
		{worldAt, func() error { g.sendWorlds(ctx); return nil }},
		{killAt, func() error { g.kill(g.link(last)); return nil }},
		{returnAt, func() error { return g.revive(ctx, last) }},
		{1, func() error { return nil }},
	} {
		at := g.start.Add(time.Duration(part.at * float64(g.flags.duration)))
		select {
		case <-time.After(time.Until(at)):
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := part.do(); err != nil {
			return err
		}
	}
	return nil
}

// join connects a player, and lets it play.
func (g *game) join(ctx context.Context, p *player) error {
	cfg := g.flags.config()
	cfg.Identity, cfg.Key = p.identity, p.key
	l := newGameLink(p, len(p.links)+1)
	g.mu.Lock()
	p.links = append(p.links, l) // the server can accept it before Over returns
	g.mu.Unlock()
	client, err := g.connect(ctx, l, cfg)
	if err != nil {
		return fmt.Errorf("%s: %w", l.name(), err)
	}
	l.mu.Lock()
	l.client = client
	l.mu.Unlock()
	g.playClient(ctx, l, client)
	return nil
}

// connect tries until there is a connection: with much loss a handshake can fail.
func (g *game) connect(ctx context.Context, l *gameLink, cfg transport.Config) (*transport.Peer, error) {
	limited, cancel := withTimeout(ctx, g.flags.linkFor, fmt.Sprintf("no connection within %v", g.flags.linkFor))
	defer cancel()
	for {
		socket, err := newMovingSocket(g.flags.listen)
		if err != nil {
			return nil, err
		}
		l.socket = socket
		client, err := transport.Over(limited, socket, g.relayAddr, cfg)
		if !errors.Is(err, transport.ErrTimeout) || limited.Err() != nil {
			return client, err
		}
	}
}

// move changes the address of a client. Until the server has heard from the new one, no
// position can arrive.
func (g *game) move(l *gameLink) error {
	server := l.atServer()
	if server == nil {
		return nil // it has not been heard yet: there is nothing to move
	}
	l.mu.Lock()
	l.movedAt, l.movedFrom = time.Now(), server.RemoteAddr().String()
	l.mu.Unlock()
	l.up[onPositions].setAway(true)
	l.down[onPositions].setAway(true)
	g.event(l.player, "has another address now")
	return l.socket.move()
}

// noteMove ends the time without positions once the server has heard a client that has
// another address. It returns false until then.
func (g *game) noteMove(l *gameLink, server *transport.Peer) bool {
	l.mu.Lock()
	away := l.movedAt
	if away.IsZero() || server.RemoteAddr().String() == l.movedFrom {
		l.mu.Unlock()
		return away.IsZero()
	}
	l.movedAt = time.Time{}
	l.mu.Unlock()
	l.up[onPositions].setAway(false)
	l.down[onPositions].setAway(false)
	g.mu.Lock()
	g.moved = time.Since(away)
	g.mu.Unlock()
	g.event(l.player, fmt.Sprintf("is heard from there after %.0f ms", milliseconds(time.Since(away))))
	return true
}

// kill ends a client without a word to the server.
func (g *game) kill(l *gameLink) {
	l.socket.kill()
	l.mu.Lock()
	l.killed = true
	l.movedAt = time.Time{}
	l.mu.Unlock()
	for i := range numChannels {
		l.up[i].end()
		l.down[i].end()
	}
	client := l.atClient()
	g.tasks.Go(func() { _ = client.Close(0, "") })
	g.event(l.player, "is killed")
}

// revive lets a player that was killed begin again, under the same identity.
func (g *game) revive(ctx context.Context, p *player) error {
	old, began := g.link(p), time.Now()
	if err := g.join(ctx, p); err != nil {
		return err
	}
	took := time.Since(began)
	g.mu.Lock()
	g.revived = took
	g.mu.Unlock()
	g.event(p, fmt.Sprintf("is back after %.0f ms", milliseconds(took)))
	g.tasks.Go(func() { g.awaitReplaced(ctx, old) })
	return nil
}

// awaitReplaced checks that the server's end of a connection that was killed ends when
// the identity comes back.
func (g *game) awaitReplaced(ctx context.Context, l *gameLink) {
	server := l.atServer()
	if server == nil {
		return
	}
	select {
	case <-server.Done():
		if err := server.Err(); !errors.Is(err, transport.ErrReplaced) {
			g.fault("%s was not replaced at the server, but ended with: %v", l.name(), err)
		}
	case <-time.After(playTimeout):
		g.fault("%s is still there at the server, although its identity has another connection", l.name())
	case <-ctx.Done():
	}
}

// sendWorlds sends the world to all clients, and from now on to each that comes.
func (g *game) sendWorlds(ctx context.Context) {
	g.mu.Lock()
	g.begun = true
	g.mu.Unlock()
	for _, l := range g.links() {
		if server := l.atServer(); server != nil && !l.isKilled() {
			g.sendWorld(ctx, l, server)
		}
	}
}

func (g *game) sendWorld(ctx context.Context, l *gameLink, server *transport.Peer) {
	l.mu.Lock()
	again := !l.worldAt.IsZero()
	if !again {
		l.worldAt = time.Now()
	}
	l.mu.Unlock()
	if again {
		return
	}
	g.tasks.Go(func() {
		err := server.Chunks().Send(ctx, g.world)
		if err != nil && !l.isKilled() && !l.hasWorld() && ctx.Err() == nil {
			g.fault("%s did not get the world: %v", l.name(), err)
		}
	})
}

// takeWorld compares the world that came.
func (g *game) takeWorld(l *gameLink, got []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.worldAt.IsZero() || l.worldOK || !bytes.Equal(got, g.world) {
		g.fault("%s got a chunk that is not the world, or the world twice", l.name())
		return
	}
	l.worldOK, l.worldMS = true, milliseconds(time.Since(l.worldAt))
}

// settle waits until what is on its way has arrived.
func (g *game) settle(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !g.settled() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return ctx.Err()
			}
			return nil // the verdict says what is missing
		}
	}
	return nil
}

func (g *game) settled() bool {
	g.handling.Lock()
	defer g.handling.Unlock()
	for _, l := range g.links() {
		if l.isKilled() {
			continue
		}
		if server := l.atServer(); server == nil || !g.noteMove(l, server) {
			return false
		}
		for i := range numChannels {
			if channelKinds[i] != channel.Unreliable && l.up[i].counts().missing()+l.down[i].counts().missing() > 0 {
				return false
			}
		}
		if !l.hasWorld() {
			return false
		}
	}
	return true
}

func (l *gameLink) hasWorld() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.worldOK
}

// part closes the connections from the clients' ends, and checks that the server hears
// it.
func (g *game) part() {
	var closing sync.WaitGroup
	for _, l := range g.links() {
		client, server := l.atClient(), l.atServer()
		if l.isKilled() || server == nil {
			continue
		}
		if err := client.Err(); err != nil {
			g.fault("%s ended before the game: %v", l.name(), err)
			continue
		}
		closing.Go(func() {
			_ = client.Close(codeOver, "the game is over")
			select {
			case <-server.Done():
			case <-time.After(playTimeout):
			}
			var end *transport.ClosedError
			if !errors.As(server.Err(), &end) || !end.Remote || end.Code != codeOver {
				g.fault("the server did not hear that %s has left, but: %v", l.name(), server.Err())
			}
		})
	}
	closing.Wait()
}

// codeOver is the code of the clients' close: an application's own begin with 256.
const codeOver = 256
