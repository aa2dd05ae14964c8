//go:build linux

package main

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/transport"
)

var background = context.Background()

// patience is longer than any experiment: on a busy machine nothing is to give up.
const patience = 10 * time.Minute

// makeWorld returns the 256 KiB that everybody fetches.
func makeWorld() []byte {
	world := make([]byte, codec.MaxChunkSize)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(world)
	return world
}

// paces are how a server sends, by name.
var paces = map[string]func(*transport.Config){
	"adaptive":     func(*transport.Config) {},
	"named slices": func(c *transport.Config) { c.Variants = session.VariantSlices },
	"redundant":    func(c *transport.Config) { c.Profile = transport.Redundant },
	"burst":        func(c *transport.Config) { c.Profile = transport.Burst },
	"unlimited":    func(c *transport.Config) { c.Profile, c.MaxRate = transport.Fixed, mostRate },
}

const mostRate = 8_000_000_000

// keyOf returns the key of a client.
func keyOf(_ context.Context, identity uint64) (key session.Key, err error) {
	binary.LittleEndian.PutUint64(key[:], identity)
	return key, nil
}

// newServer returns a server that sends the world to all its clients, on demand.
func newServer(t task) (*figures, orders, error) {
	cfg := transport.Config{
		Keys: keyOf, MaxPeers: 2 * t.Conns, MaxPerAddress: 2 * t.Conns, Timeout: patience, SocketBuffer: 4 << 20,
		ServerRate: mostRate,
	}
	paces[t.Pace](&cfg)
	s, err := transport.Listen("udp4", "127.0.0.1:0", cfg)
	if err != nil {
		return nil, nil, err
	}
	all := &crowd{task: t, peers: make([]*transport.Peer, t.Conns), world: makeWorld()}
	f := &figures{Address: s.Addr().String()}
	f.count = func(f *figures) {
		st := s.Stats()
		f.Datagrams, f.DatagramsIn, f.Bytes, f.Failed = st.DatagramsOut, st.DatagramsIn, st.BytesOut, st.WriteErrors
		all.count(f)
	}
	return f, orders{
		orderConnect: func() (err error) {
			for i := range all.peers {
				if all.peers[i], err = s.Accept(background); err != nil {
					return err
				}
			}
			return nil
		},
		orderFetch: func() (err error) {
			f.Median, f.Slowest, err = all.send()
			return err
		},
		orderEcho:  func() error { return all.each(func(p *transport.Peer) error { return all.fetch(p, 1) }) },
		orderBegin: all.begin,
	}, nil
}

// crowd is one end of many connections.
type crowd struct {
	task  task
	peers []*transport.Peer
	world []byte
}

// count adds up what the ends have sent.
func (c *crowd) count(f *figures) {
	f.Slices, f.Resent = 0, 0
	for _, p := range c.peers {
		if p != nil {
			st := p.Chunks().SenderStats()
			f.Slices += st.SlicesSent
			f.Resent += st.SlicesResent
		}
	}
}

// each does something with all ends at the same time.
func (c *crowd) each(do func(p *transport.Peer) error) error {
	failed := make(chan error, len(c.peers))
	for _, p := range c.peers {
		go func() { failed <- do(p) }()
	}
	for range c.peers {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

// send sends the world to everybody as often as the task says, and returns when half, and all, had it.
func (c *crowd) send() (median, slowest time.Duration, err error) {
	stopProfile, err := startProfile(c.task.Profile)
	if err != nil {
		return 0, 0, err
	}
	defer stopProfile()
	began := time.Now()
	var mu sync.Mutex
	var times []time.Duration
	err = c.each(func(p *transport.Peer) error {
		for range c.task.Rounds {
			if err := p.Chunks().Send(background, c.world); err != nil {
				return err
			}
		}
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Since(began))
		return nil
	})
	if err != nil {
		return 0, 0, err
	}
	slices.Sort(times)
	return times[len(times)/2], times[len(times)-1], nil
}

// begin gives everybody a world to send. It waits until slices of each are under way.
func (c *crowd) begin() error {
	before := make([]int64, len(c.peers))
	for i, p := range c.peers {
		before[i] = p.Chunks().SenderStats().SlicesSent
		if _, err := p.Chunks().Enqueue(background, c.world); err != nil {
			return err
		}
	}
	for i, p := range c.peers {
		for p.Chunks().SenderStats().SlicesSent == before[i] {
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// startProfile begins to write a processor profile, unless the path is empty.
func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(f)
}
