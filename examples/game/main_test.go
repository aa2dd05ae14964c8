package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/transport"
)

// table is a game in virtual time, over 25 ms each way.
type table struct {
	t      *testing.T
	net    *netsim.Network
	game   *Game
	stop   func()
	over   chan struct{}
	log    []string
	peers  []*transport.Peer
	dialed int
}

const each = 25 * time.Millisecond

func play(t *testing.T, path netsim.Path, f func(*table)) {
	synctest.Test(t, func(t *testing.T) {
		b := &table{t: t, net: netsim.NewNetwork(1), over: make(chan struct{})}
		b.net.SetDefault(path)
		pc, err := b.net.Listen("server")
		if err != nil {
			t.Fatal(err)
		}
		cfg := config()
		cfg.Keys = func(_ context.Context, id uint64) (session.Key, error) { return keyOf(id), nil }
		names := map[uint64]string{identity("ann"): "ann", identity("bob"): "bob"}
		cfg.Admit = admit(names)
		server, err := transport.New(pc, cfg)
		if err != nil {
			t.Fatal(err)
		}
		b.game = NewGame(server, bytes.Repeat([]byte("level"), 1<<20/5), names, func(format string, args ...any) {
			b.log = append(b.log, fmt.Sprintf(format, args...))
		})
		ctx, cancel := context.WithCancel(context.Background())
		b.stop = cancel
		go func() {
			b.game.Run(ctx, "good night")
			close(b.over)
		}()
		f(b)
		cancel()
		<-b.over
		for _, p := range b.peers {
			_ = p.Close(CodeBye, "")
		}
	})
}

func keyOf(id uint64) session.Key { return session.Key{31: byte(id) | 1} }

// dial connects a player, from an address of its own each time.
func (b *table) dial(name string) (*transport.Peer, error) {
	b.dialed++
	pc, err := b.net.Listen(netsim.Addr(fmt.Sprint(name, b.dialed)))
	if err != nil {
		b.t.Fatal(err)
	}
	cfg := config()
	cfg.Identity = identity(name)
	cfg.Key = keyOf(cfg.Identity)
	peer, err := transport.Over(context.Background(), pc, netsim.Addr("server"), cfg)
	if err == nil {
		b.peers = append(b.peers, peer)
	}
	return peer, err
}

// join is a player that has loaded the level.
func (b *table) join(name string) *Client {
	b.t.Helper()
	peer, err := b.dial(name)
	if err != nil {
		b.t.Fatal(err)
	}
	var bar []int64
	c, err := NewClient(context.Background(), peer, func(done, total int64) { bar = append(bar, done) })
	if err != nil || !bytes.Equal(c.Level, b.game.level) || len(bar) < 3 || !slices.IsSorted(bar) {
		b.t.Fatalf("%v, %d bytes, progress %v", err, len(c.Level), bar)
	}
	return c
}

// ticks plays so many ticks of a player.
func (b *table) ticks(c *Client, n int) (lines []string) {
	b.t.Helper()
	for range n {
		if err := c.Tick(); err != nil {
			b.t.Fatal(err)
		}
		lines = append(lines, c.Lines...)
		time.Sleep(Tick)
	}
	return lines
}

func (b *table) want(what string, lines []string, text string) {
	b.t.Helper()
	if !slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, text) }) {
		b.t.Errorf("%s: %q is not in %q", what, text, lines)
	}
}

// A whole game: two join, play and chat; one is killed and is back, one leaves, and the server ends with a reason.
func TestGame(t *testing.T) {
	play(t, netsim.Path{Delay: each, Loss: 5}, func(b *table) {
		ann, bob := b.join("ann"), b.join("bob")
		_ = bob.Say("hello")
		b.want("chat", b.ticks(ann, 30), "bob: hello")
		b.ticks(bob, 30)
		if len(ann.Others) == 0 || len(bob.Others) != 2 {
			t.Errorf("they see %d and %d", len(ann.Others), len(bob.Others))
		}
		if ping, ok := ann.peer.RTT(); !ok || ping < 2*each || ping > 2*each+2*time.Millisecond {
			t.Errorf("ping is %v, %v", ping, ok)
		}

		b.net.SetPath(netsim.Addr("bob2"), "server", netsim.Path{Loss: 100}) // kill -9: nothing is heard of him any more
		bob = b.join("bob")
		b.want("a player that was killed is back", b.ticks(ann, 30), "bob is here")

		_ = bob.peer.Close(CodeBye, "bye")
		b.want("leaving", b.ticks(ann, 30), "bob has left: bye")

		b.stop()
		var err error
		for range 100 {
			if err = ann.Tick(); err != nil {
				break
			}
			time.Sleep(Tick)
		}
		if err == nil || whyLeft(err) != "good night" {
			t.Errorf("the end: %v", err)
		}
	})
}

// Who may not play is told why: by the game, or by the server if the key is wrong.
func TestRefused(t *testing.T) {
	play(t, netsim.Path{Delay: each}, func(b *table) {
		peer, err := b.dial("mallory")
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewClient(context.Background(), peer, nil)
		if err == nil || whyLeft(err) != "you are banned until Monday" {
			t.Errorf("%v", err)
		}
	})
}

// A position is not older than its way and, at the median, half a tick of its receiver (SendNow, channel.Latest).
func TestAgeOfAPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := netsim.NewNetwork(1)
		n.SetDefault(netsim.Path{Delay: each})
		listen := func(at netsim.Addr) net.PacketConn {
			pc, err := n.Listen(at)
			if err != nil {
				t.Fatal(err)
			}
			return pc
		}
		server, err := transport.New(listen("server"), config())
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		peer, err := transport.Over(context.Background(), listen("client"), netsim.Addr("server"), config())
		if err != nil {
			t.Fatal(err)
		}
		defer peer.Close(CodeBye, "")
		here, err := server.Accept(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		client := &Client{peer: peer, start: time.Now()}
		over := make(chan struct{})
		go func() { // 30 times a second
			defer close(over)
			for range 1000 {
				_ = client.Tick()
				time.Sleep(Tick)
			}
		}()
		time.Sleep(6 * time.Second)        // until the path is known to be good
		const tick = 31 * time.Millisecond // of the receiver, who is not in step
		var ages []time.Duration
		for range 600 {
			if b, ok := here.Channel(Positions).TryRecv(); ok {
				ages = append(ages, time.Since(client.start)-time.Duration(decode(b)[0].At)*time.Microsecond)
			}
			time.Sleep(tick)
		}
		<-over
		slices.Sort(ages)
		median := ages[len(ages)/2]
		t.Logf("%d positions; the median age is %v", len(ages), median)
		if len(ages) < 500 || median > each+tick/2 {
			t.Errorf("the median age of %d positions is %v, more than %v", len(ages), median, each+tick/2)
		}
	})
}

// A player who is back before a tick has noticed that the connection before was replaced has left first, for all.
func TestBackBeforeATick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &table{t: t, net: netsim.NewNetwork(1)}
		pc, err := b.net.Listen("server")
		if err != nil {
			t.Fatal(err)
		}
		cfg := config()
		cfg.Keys = func(_ context.Context, id uint64) (session.Key, error) { return keyOf(id), nil }
		server, err := transport.New(pc, cfg)
		if err != nil {
			t.Fatal(err)
		}
		b.game = NewGame(server, []byte("level"), map[uint64]string{identity("ann"): "ann"}, func(format string, args ...any) {
			b.log = append(b.log, fmt.Sprintf(format, args...))
		})
		for range 2 {
			client, err := b.dial("ann")
			if err != nil {
				t.Fatal(err)
			}
			peer, err := server.Accept(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			go func() { _, _ = NewClient(t.Context(), client, nil) }()
			b.game.join(t.Context(), peer)
		}
		if got := strings.Join(b.log, "; "); got != "ann is here; ann has left: back from another place; ann is here" {
			t.Error(got)
		}
		for _, p := range b.peers {
			_ = p.Close(CodeBye, "")
		}
		_ = server.Close()
	})
}

// The game that plays itself passes its own verdict, which notices a line that is missing, twice, or at another place.
func TestPlay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := netsim.NewNetwork(1)
		var mu sync.Mutex
		sockets := 0
		var printed []string
		s := show{
			listen: func() (net.PacketConn, error) {
				mu.Lock()
				defer mu.Unlock()
				sockets++
				return network.Listen(netsim.Addr(fmt.Sprint("socket ", sockets)))
			},
			print: func(format string, args ...any) {
				mu.Lock()
				defer mu.Unlock()
				printed = append(printed, fmt.Sprintf(format, args...))
			},
		}
		if err := s.run(t.Context(), 10*time.Second); err != nil {
			t.Fatal(err)
		}
		for _, line := range printed {
			if len(line) > 79 {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
		var b bytes.Buffer
		var r report
		if err := errors.Join(s.write(&b, nil), json.Unmarshal(b.Bytes(), &r)); err != nil || !r.OK || len(r.Players) != len(cast) || r.Players[0].PingMS < 50 {
			t.Errorf("%v: %s", err, b.String())
		}
		if all := strings.Join(printed, "\n"); !strings.Contains(all, "dan is killed") || !strings.Contains(all, ": as promised") {
			t.Error(all)
		}
		for what, lines := range map[string][]string{"missing": {s.chat[0], s.chat[2]}, "twice": {s.chat[0], s.chat[0]}, "at another place": {s.chat[1], s.chat[0]}} {
			other := show{game: s.game, chat: s.chat[:3]}
			other.judge(&actor{client: &Client{Level: s.game.level}, lines: lines, most: len(cast), end: goodNight})
			if len(other.faults) != 1 {
				t.Errorf("a line is %s: %q", what, other.faults)
			}
		}
	})
}
