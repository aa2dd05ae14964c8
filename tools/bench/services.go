package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A game's packets, which may be lost: 60 a second from the server to the client.
const (
	GameRate = 60
	GameSize = 60 // bytes

	gameWarm  = 6 * time.Second // before anything counts
	gameAlone = 2 * time.Second // measured before the block begins
)

// ServiceCells are the networks on which several services share a path.
func ServiceCells() (cells []Cell) {
	for _, n := range Networks {
		for _, loss := range []int{0, 1, 5} {
			cells = append(cells, n.with(loss))
		}
	}
	return cells
}

// ServicePeer is a way to have game packets and a block on one path.
type ServicePeer struct {
	Name    string
	Note    string // how it is set up
	Connect func(ctx context.Context, p *path) (*services, error)
}

// services is a connection that is ready: the server sends, the client takes.
type services struct {
	pipe
	say  func(packet []byte) error         // at the server; does not wait
	hear func(deliver func(packet []byte)) // at the client, until the connection ends
}

// ServiceRun is one run.
type ServiceRun struct {
	BlockAlone, Block time.Duration   // of 256 KiB, without and with game packets beside it
	Alone, Beside     []time.Duration // ages of game packets that arrived, before the block and while it was under way
	Sent, Arrived     int             // of game packets beside the block
	Bytes             int64           // both ways with headers, while the block was under way, and a second after
	Err               error
}

// measureServices runs a peer twice, in virtual time: a block alone, and one beside game
// packets, each the second block of its connection.
func measureServices(t *testing.T, p ServicePeer, c Cell, seed uint64) (r ServiceRun) {
	r.Err = serve(t, p, c, seed, func(s *services, way *path) error {
		one := transfer(&s.pipe, way, block, seed)
		r.BlockAlone = one.Took
		return one.Err
	})
	if r.Err != nil {
		return r
	}
	r.Err = serve(t, p, c, seed, func(s *services, way *path) error {
		g := newGame()
		go s.hear(g.take)
		stop := g.play(s.say)
		defer stop()
		time.Sleep(gameWarm)
		begun := time.Now()
		time.Sleep(gameAlone)
		started := time.Now()
		one := transfer(&s.pipe, way, block, seed)
		ended := started.Add(one.Took)
		r.Block, r.Bytes = one.Took, one.Bytes
		r.Alone, _ = g.ages(begun, started)
		r.Beside, r.Sent = g.ages(started, ended)
		r.Arrived = len(r.Beside)
		return errors.Join(one.Err, g.failure())
	})
	return r
}

// serve connects on the cell without its faults, moves a block that does not count, and
// calls what is to be measured.
func serve(t *testing.T, p ServicePeer, c Cell, seed uint64, measured func(*services, *path) error) (err error) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		way := newPath(c.quiet(), seed)
		defer way.close()
		s, failed := p.Connect(ctx, way)
		if failed != nil {
			err = fmt.Errorf("connecting: %w", failed)
			return
		}
		defer s.close()
		time.Sleep(settle)
		way.set(c)
		if one := transfer(&s.pipe, way, block, seed+1); one.Err != nil {
			err = one.Err
			return
		}
		err = measured(s, way)
	})
	return err
}

// game is the packets of a game, at both ends.
type game struct {
	mu   sync.Mutex
	sent []time.Time
	at   []time.Time // when each arrived first; zero: it did not
	err  error
}

func newGame() *game { return new(game) }

// play sends packets until stop is called.
func (g *game) play(say func([]byte) error) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second / GameRate)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if err := say(g.next()); err != nil {
					g.fail(err)
					return
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// next makes a packet, which begins with its index.
func (g *game) next() []byte {
	g.mu.Lock()
	defer g.mu.Unlock()
	p := bytes.Repeat([]byte{byte(len(g.sent))}, GameSize)
	binary.LittleEndian.PutUint32(p, uint32(len(g.sent)))
	g.sent, g.at = append(g.sent, time.Now()), append(g.at, time.Time{})
	return p
}

func (g *game) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
}

func (g *game) failure() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// take notes a packet that arrived.
func (g *game) take(p []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(p) != GameSize {
		g.err = errCorrupt
		return
	}
	if i := binary.LittleEndian.Uint32(p); g.at[i].IsZero() {
		g.at[i] = time.Now()
	}
}

// ages returns how old packets were when they arrived that were sent from one time to
// another, and how many were sent.
func (g *game) ages(from, to time.Time) (ages []time.Duration, sent int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, at := range g.sent {
		if at.Before(from) || at.After(to) {
			continue
		}
		sent++
		if !g.at[i].IsZero() {
			ages = append(ages, g.at[i].Sub(at))
		}
	}
	return ages, sent
}

// ServiceFigures are what many runs took.
type ServiceFigures struct {
	BlockAlone, Block time.Duration // medians
	Alone, Beside     time.Duration // 95th percentiles of the ages of all packets of all runs
	MedianBeside      time.Duration
	Arrived           float64 // of the packets beside the block
}

// summarizeServices sums up runs. One that failed is counted and has no figures.
func summarizeServices(runs []ServiceRun) (Summary, *ServiceFigures) {
	s := Summary{Runs: len(runs)}
	var blocks, alone, before, beside []time.Duration
	var bytes []int64
	var sent, arrived int
	for _, r := range runs {
		if r.Err != nil {
			s.Failed++
			continue
		}
		blocks, alone, bytes = append(blocks, r.Block), append(alone, r.BlockAlone), append(bytes, r.Bytes)
		before, beside = append(before, r.Alone...), append(beside, r.Beside...)
		sent, arrived = sent+r.Sent, arrived+r.Arrived
	}
	if len(blocks) == 0 {
		return s, nil
	}
	for _, list := range [][]time.Duration{blocks, alone, before, beside} {
		slices.Sort(list)
	}
	slices.Sort(bytes)
	s.Median, s.P95, s.Max = quantile(blocks, 50), quantile(blocks, 95), blocks[len(blocks)-1]
	s.Bytes = float64(quantile(bytes, 50)) / block
	f := &ServiceFigures{BlockAlone: quantile(alone, 50), Block: s.Median, Alone: quantile(before, 95), Arrived: float64(arrived) / float64(max(sent, 1))}
	if len(beside) > 0 {
		f.Beside, f.MedianBeside = quantile(beside, 95), quantile(beside, 50)
	}
	return s, f
}
