package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// This file is not for copying: it runs the whole game on one machine, through a bad network, with players that play
// themselves, and checks that everything arrives as promised.

// show is a game whose players play themselves.
type show struct {
	listen func() (net.PacketConn, error)
	print  func(format string, args ...any)
	start  time.Time
	keys   map[uint64]session.Key
	game   *Game
	relay  net.Addr

	mu      sync.Mutex
	chat    []string // all that the server said to all
	faults  []string
	players []playerReport // of those who were there at the end
}

var (
	cast = []string{"ann", "bob", "cleo", "dan"}
	path = netsim.Path{Delay: 25 * time.Millisecond, Loss: 5} // each way
)

const (
	sayEvery   = 15 // ticks
	settleTime = 20 * time.Second
)

// actor is a connection of a player.
type actor struct {
	show   *show
	name   string
	socket net.PacketConn
	peer   *transport.Peer
	client *Client
	level  time.Duration // that loading took
	ping   time.Duration

	// Guarded by show.mu.

	lines []string
	lists int // of positions that came
	ticks int
	most  int // positions in one list
	end   string
}

func (s *show) event(format string, args ...any) {
	s.print("%5.1f s  %s", time.Since(s.start).Seconds(), fmt.Sprintf(format, args...))
}

func (s *show) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// run plays for a while. It fails if anything was not as promised.
func (s *show) run(ctx context.Context, d time.Duration) error {
	s.start, s.keys = time.Now(), map[uint64]session.Key{}
	names := map[uint64]string{}
	for _, name := range cast {
		var key session.Key
		_, _ = rand.Read(key[:])
		s.keys[identity(name)], names[identity(name)] = key, name
	}
	pc, err := s.listen()
	if err != nil {
		return err
	}
	cfg := config()
	cfg.Keys = func(_ context.Context, id uint64) (session.Key, error) { return s.keys[id], nil }
	cfg.Admit = admit(names)
	server, err := transport.New(pc, cfg)
	if err != nil {
		return err
	}
	front, err := s.listen()
	if err != nil {
		return errors.Join(err, server.Close())
	}
	s.relay = front.LocalAddr()
	relay, err := netsim.NewRelay(netsim.RelayConfig{Listen: front, Server: server.Addr(), Dial: s.listen, Up: path, Down: path, Seed: 1})
	if err != nil {
		return errors.Join(err, server.Close())
	}
	defer relay.Close()
	level := make([]byte, 1<<20)
	_, _ = rand.Read(level)
	s.game = NewGame(server, level, names, s.said)
	s.print("%d players, %v of round trip, %v %% loss each way, all on this machine", len(cast), 2*path.Delay, path.Loss)
	return s.perform(ctx, d)
}

// said notes what the server says to all.
func (s *show) said(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chat = append(s.chat, fmt.Sprintf(format, args...))
}

// perform goes through the parts of the game.
func (s *show) perform(ctx context.Context, d time.Duration) error {
	var playing sync.WaitGroup
	open, shut := context.WithCancel(ctx) // the server
	talk, quiet := context.WithCancel(ctx)
	defer quiet()
	playing.Go(func() { s.game.Run(open, goodNight) })
	actors := make([]*actor, len(cast))
	enter := func(i int) { actors[i] = s.enter(ctx, talk, &playing, cast[i]) }
	var joining sync.WaitGroup
	for i := range cast {
		joining.Go(func() { enter(i) })
	}
	joining.Wait()
	wait := func(part time.Duration) {
		select {
		case <-time.After(part):
		case <-ctx.Done():
		}
	}
	wait(d * 3 / 10)
	s.move(actors[0])
	wait(d * 2 / 10)
	gone := actors[3]
	if gone != nil {
		s.event("%s is killed", gone.name)
		_ = gone.socket.Close() // as kill -9 does: nothing is said to the server
	}
	wait(d * 2 / 10)
	enter(3)
	wait(d * 3 / 10)
	quiet()
	s.settle(ctx, actors)
	shut()
	playing.Wait()
	for _, a := range actors {
		s.judge(a)
	}
	if text := strings.Join(s.chat, "\n"); gone != nil && !strings.Contains(text, strings.Join(gone.lines, "\n")) {
		s.fault("%s, who was killed, did not get the chat in order and once until then", gone.name)
	}
	return s.verdict(ctx, actors, gone)
}

// enter lets a player join, and then play until the game ends.
func (s *show) enter(ctx, talk context.Context, playing *sync.WaitGroup, name string) *actor {
	a := &actor{show: s, name: name}
	began := time.Now()
	if err := a.join(ctx); err != nil {
		s.fault("%s did not join: %v", name, err)
		return nil
	}
	a.level = time.Since(began)
	s.event("%s has the level after %.1f s", name, a.level.Seconds())
	playing.Go(func() { a.play(talk) })
	return a
}

func (a *actor) join(ctx context.Context) (err error) {
	if a.socket, err = a.show.listen(); err != nil {
		return err
	}
	cfg := config()
	cfg.Identity = identity(a.name)
	cfg.Key = a.show.keys[cfg.Identity]
	if a.peer, err = transport.Over(ctx, a.socket, a.show.relay, cfg); err != nil {
		return err
	}
	a.client, err = NewClient(ctx, a.peer, nil)
	return err
}

// play is what a player does; it talks until the context ends.
func (a *actor) play(talk context.Context) {
	tick := time.NewTicker(Tick)
	defer tick.Stop()
	defer a.peer.Close(CodeBye, "bye")
	for n := 0; ; n++ {
		<-tick.C
		a.client.Others = nil
		err := a.client.Tick()
		a.note(err)
		if err != nil {
			return
		}
		if n%sayEvery == 0 && talk.Err() == nil {
			_ = a.client.Say(fmt.Sprint("line ", n/sayEvery))
		}
	}
}

// note notes what a tick brought.
func (a *actor) note(err error) {
	a.show.mu.Lock()
	defer a.show.mu.Unlock()
	a.ticks++
	a.lines = append(a.lines, a.client.Lines...)
	a.most = max(a.most, len(a.client.Others))
	if a.client.Others != nil {
		a.lists++
	}
	if ping, ok := a.peer.RTT(); ok {
		a.ping = ping
	}
	if err != nil {
		a.end = whyLeft(err)
	}
}

// move gives a player another address.
func (s *show) move(a *actor) {
	if a == nil {
		return
	}
	pc, err := s.listen()
	if err == nil {
		err = a.peer.RebindOver(pc)
	}
	if s.event("%s has another address", a.name); err != nil {
		s.fault("%s: %v", a.name, err)
	}
}

// settle waits until all have the last line.
func (s *show) settle(ctx context.Context, actors []*actor) {
	has := func(a *actor) bool {
		return a == nil || len(a.lines) > 0 && a.lines[len(a.lines)-1] == s.chat[len(s.chat)-1]
	}
	for range settleTime / (100 * time.Millisecond) {
		time.Sleep(100 * time.Millisecond)
		s.mu.Lock()
		done := !slices.ContainsFunc(actors, func(a *actor) bool { return !has(a) })
		s.mu.Unlock()
		if done || ctx.Err() != nil {
			break
		}
	}
	time.Sleep(time.Second) // for what must not arrive twice
}

// judge checks what a player had until the end.
func (s *show) judge(a *actor) {
	if a == nil {
		return
	}
	if !bytes.Equal(a.client.Level, s.game.level) {
		s.fault("the level of %s is another one", a.name)
	}
	if len(a.lines) > len(s.chat) || !slices.Equal(a.lines, s.chat[len(s.chat)-len(a.lines):]) {
		s.fault("%s did not get the chat in order and once", a.name)
	}
	if a.most != len(cast) {
		s.fault("%s saw %d players", a.name, a.most)
	}
	if a.end != goodNight {
		s.fault("%s was told %q at the end", a.name, a.end)
	}
}

// verdict checks what the server said, and shows all.
func (s *show) verdict(ctx context.Context, actors []*actor, gone *actor) error {
	for _, a := range actors {
		if a == nil {
			continue
		}
		r := a.report()
		s.players = append(s.players, r)
		s.print("%-5s level %4.1f s   ping %3.0f ms   %2.0f positions a second   %2d lines of chat", r.Name, r.LevelMS/1000, r.PingMS, r.Positions, r.Lines)
		s.heard(a.name, gone)
	}
	if !slices.Contains(s.chat, "dan has left: back from another place") && gone != nil {
		s.fault("the server did not notice that dan is back")
	}
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	if len(s.faults) > 0 {
		return errors.New("not as promised: " + strings.Join(s.faults, "\n  "))
	}
	s.print("levels whole, chat in order and once, all told why it ended: as promised")
	return nil
}

// heard checks that the server had the lines of a player in order, and each once; of one that was killed, up to some line.
func (s *show) heard(name string, gone *actor) {
	next := 0
	for _, line := range s.chat {
		if said, ok := strings.CutPrefix(line, name+": "); ok {
			if gone != nil && name == gone.name && said == "line 0" {
				next = 0
			}
			if said != fmt.Sprint("line ", next) {
				s.fault("the server got %q of %s in place of line %d", said, name, next)
			}
			next++
		}
	}
	if next == 0 {
		s.fault("%s was not heard", name)
	}
}

// report is what --json prints.
type report struct {
	OK      bool           `json:"ok"`
	Error   string         `json:"error,omitempty"`
	Players []playerReport `json:"players"`
}

type playerReport struct {
	Name      string  `json:"name"`
	LevelMS   float64 `json:"level_ms"` // that loading took
	PingMS    float64 `json:"ping_ms"`
	Positions float64 `json:"positions_per_second"`
	Lines     int     `json:"chat_lines"`
}

func (a *actor) report() playerReport {
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	played := max(float64(a.ticks)*Tick.Seconds(), Tick.Seconds())
	return playerReport{a.name, ms(a.level), ms(a.ping), float64(a.lists) / played, len(a.lines)}
}

// playAlone runs a show with sockets. As JSON it prints one object, also after a failure, and nothing else.
func playAlone(ctx context.Context, d time.Duration, asJSON bool) error {
	s := show{
		listen: func() (net.PacketConn, error) { return net.ListenPacket("udp", "127.0.0.1:0") },
		print:  func(format string, args ...any) { fmt.Printf(format+"\n", args...) },
	}
	if asJSON {
		s.print = func(string, ...any) {}
	}
	err := s.run(ctx, d)
	if asJSON {
		err = errors.Join(err, s.write(os.Stdout, err))
	}
	return err
}

// write writes the result as JSON.
func (s *show) write(w io.Writer, err error) error {
	r := report{OK: err == nil, Players: s.players}
	if err != nil {
		r.Error = err.Error()
	}
	return json.NewEncoder(w).Encode(r)
}
