package bench

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Flow is a connection beside others, and what it moves.
type Flow struct {
	Peer  Peer
	Begin time.Duration // after the others
	Load
}

// Load is what a connection moves: blocks, one after the other.
type Load struct {
	Sizes  []int         // of the blocks, in bytes
	Again  bool          // the same ones until the run ends
	Queued bool          // a block is pushed before the client has the one before
	Gap    time.Duration // else: from when the client has a block until the next is pushed
	Pause  time.Duration // what the client waits before it takes a block
	Both   bool          // the client pushes the same, at the same time
}

// FlowPlan is several connections on one path.
type FlowPlan struct {
	Cell  Cell
	Flows []Flow
	For   time.Duration // the run ends then; 0: when all blocks have arrived
	// Trouble, when not nil, is called at the beginning, as in [Plan].
	Trouble func(p *path)
	Sample  time.Duration // between two samples, 0 is none
}

// FlowRun is what one connection moved one way.
type FlowRun struct {
	Took []time.Duration // of each block, from its push until the client has it
	At   []time.Duration // when the client had it, after the beginning of the run
	Err  error
}

// FlowsRun is one run of a plan.
type FlowsRun struct {
	Flows   []FlowRun // of each flow, and behind them of the ways back
	All     time.Duration
	Bytes   int64 // all flows, both ways, with headers
	Sent    int64 // datagrams, both ways
	Dropped int64 // of them, by queues and policers
	Samples []Sample
}

// Sample is a moment of a run.
type Sample struct {
	AtMillis  int64
	WaitMicro int64   // in the queue on the way down
	Bytes     []int64 // that came to each client so far, with headers
}

// runFlows runs a plan once, in virtual time. The peers shake hands on the cell without
// its faults. The flows begin a second later and up to 100 ms more, another time for each
// seed: those whose timers are ticks are met at any phase.
func runFlows(t *testing.T, plan FlowPlan, seed uint64) (r FlowsRun) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		paths := newPaths(plan.Cell.quiet(), seed, len(plan.Flows))
		conns := make([]*pipe, len(paths))
		for i, way := range paths {
			defer way.close()
			conn, err := plan.Flows[i].Peer.Connect(ctx, way)
			if err != nil {
				t.Fatalf("%s: %v", plan.Flows[i].Peer.Name, err)
			}
			defer conn.close()
			conns[i] = conn
		}
		time.Sleep(settle + time.Duration(seed*37%100)*time.Millisecond)
		w := &flowWorld{plan: plan, seed: seed, paths: paths, conns: conns, start: time.Now(), over: make(chan struct{})}
		r = w.run()
	})
	return r
}

// flowWorld is a run.
type flowWorld struct {
	plan  FlowPlan
	seed  uint64
	paths []*path
	conns []*pipe
	start time.Time
	over  chan struct{} // closed when the run ends

	pushers sync.WaitGroup
}

func (w *flowWorld) run() (r FlowsRun) {
	first := w.paths[0]
	first.set(w.plan.Cell)
	if w.plan.Trouble != nil {
		w.plan.Trouble(first)
	}
	before := w.sums()
	late := time.AfterFunc(w.limit(), w.end)
	defer late.Stop()
	sampled := w.sample()
	r.Flows = w.flows()
	r.All = time.Since(w.start)
	w.settle()
	w.pushers.Wait()
	after := w.sums()
	r.Bytes, r.Sent, r.Dropped = after.bytes-before.bytes, after.sent-before.sent, after.dropped-before.dropped
	r.Samples = sampled()
	return r
}

func (w *flowWorld) limit() time.Duration {
	if w.plan.For > 0 {
		return w.plan.For
	}
	return patience
}

// end closes all connections.
func (w *flowWorld) end() {
	close(w.over)
	for _, c := range w.conns {
		c.close()
	}
}

// settle waits until the lines are quiet, if the connections are not closed.
func (w *flowWorld) settle() {
	select {
	case <-w.over:
	default:
		time.Sleep(settle)
	}
}

// flows moves everything.
func (w *flowWorld) flows() []FlowRun {
	n := len(w.conns)
	runs := make([]FlowRun, 2*n)
	var all sync.WaitGroup
	for i, conn := range w.conns {
		f := w.plan.Flows[i]
		all.Go(func() { runs[i] = w.flow(conn, conn, f) })
		if f.Both {
			all.Go(func() { runs[n+i] = w.flow(conn.back, conn, f) })
		}
	}
	all.Wait()
	if !w.plan.Flows[0].Both {
		runs = runs[:n]
	}
	return runs
}

// flow moves the blocks of one flow one way.
func (w *flowWorld) flow(way, conn *pipe, f Flow) (r FlowRun) {
	if !w.wait(f.Begin) {
		return r
	}
	m := &mover{way: way, load: f.Load, seed: w.seed, pushed: make(chan time.Time, 1<<12), taken: make(chan struct{}, 1)}
	ended := make(chan error, 1)
	w.pushers.Go(func() {
		err := m.push()
		if err != nil {
			conn.close() // so that the client does not wait
		}
		ended <- err
	})
	r.Err = m.take(func(took time.Duration) {
		r.Took, r.At = append(r.Took, took), append(r.At, time.Since(w.start))
	})
	if m.load.Again && w.isOver() {
		r.Err = nil // that is how it ends
	}
	if r.Err != nil {
		conn.close()
		if err := <-ended; err != nil {
			r.Err = err
		}
	}
	return r
}

// wait returns false if the run ends first.
func (w *flowWorld) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-w.over:
		return false
	}
}

func (w *flowWorld) isOver() bool {
	select {
	case <-w.over:
		return true
	default:
		return false
	}
}

// mover moves the blocks of one load.
type mover struct {
	way    *pipe
	load   Load
	seed   uint64
	pushed chan time.Time // when each block was pushed
	taken  chan struct{}  // the client has one
}

// blocks yields the blocks in order.
func (m *mover) blocks(yield func(block []byte) bool) {
	made := make(map[int][]byte) // one of each size
	for {
		for _, size := range m.load.Sizes {
			if made[size] == nil {
				made[size] = content(size, m.seed)
			}
			if !yield(made[size]) {
				return
			}
		}
		if !m.load.Again {
			return
		}
	}
}

func (m *mover) push() (err error) {
	for block := range m.blocks {
		m.pushed <- time.Now()
		if err = m.way.push(block); err != nil {
			return err
		}
		if !m.load.Queued {
			if _, ok := <-m.taken; !ok {
				return nil // the client has failed
			}
			time.Sleep(m.load.Gap)
		}
	}
	return nil
}

// take takes the blocks at the client, and calls done with how long each took.
func (m *mover) take(done func(took time.Duration)) error {
	for block := range m.blocks {
		time.Sleep(m.load.Pause)
		got, err := m.way.fetch(len(block))
		if err != nil {
			close(m.taken)
			return err
		}
		if !bytes.Equal(got, block) {
			close(m.taken)
			return errCorrupt
		}
		done(time.Since(<-m.pushed))
		if !m.load.Queued {
			m.taken <- struct{}{}
		}
	}
	return nil
}

type flowSums struct{ bytes, sent, dropped int64 }

func (w *flowWorld) sums() flowSums {
	down, up := w.paths[0].links()
	return flowSums{
		bytes:   w.paths[0].bytes(),
		sent:    down.Sent + up.Sent,
		dropped: down.LostQueue + down.LostPolicer + up.LostQueue + up.LostPolicer,
	}
}

// sample takes samples until the function that it returns is called.
func (w *flowWorld) sample() (stop func() []Sample) {
	if w.plan.Sample == 0 {
		return func() []Sample { return nil }
	}
	var samples []Sample
	stopped, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(w.plan.Sample)
		defer tick.Stop()
		for {
			select {
			case <-stopped:
				return
			case <-tick.C:
				samples = append(samples, w.now())
			}
		}
	}()
	return func() []Sample {
		close(stopped)
		<-done
		return samples
	}
}

func (w *flowWorld) now() Sample {
	first := w.paths[0]
	s := Sample{AtMillis: time.Since(w.start).Milliseconds(), WaitMicro: first.net.Wait(first.down[0], first.down[1]).Microseconds()}
	for _, way := range w.paths {
		s.Bytes = append(s.Bytes, way.toClient.Load())
	}
	return s
}

// rates returns what each flow has moved between two moments, in Mbit/s.
func (r FlowsRun) rates(plan FlowPlan, from, to time.Duration) (mbits []float64) {
	for i, f := range r.Flows {
		sizes, moved := plan.Flows[i%len(plan.Flows)].Sizes, 0
		for k, at := range f.At {
			if from < at && at <= to {
				moved += sizes[k%len(sizes)]
			}
		}
		mbits = append(mbits, float64(moved)*8/(to-from).Seconds()/1e6)
	}
	return mbits
}

// jain is Jain's index of fairness: 1 where all are the same, 1/n where one has all.
func jain(values []float64) float64 {
	var sum, squares float64
	for _, v := range values {
		sum, squares = sum+v, squares+v*v
	}
	if squares == 0 {
		return 0
	}
	return sum * sum / (float64(len(values)) * squares)
}

// failures returns the flows that failed, and the first reason.
func (r FlowsRun) failures() (n int, first error) {
	for _, f := range r.Flows {
		if f.Err != nil {
			n++
			if first == nil {
				first = f.Err
			}
		}
	}
	if first != nil {
		first = fmt.Errorf("%d of %d flows: %w", n, len(r.Flows), first)
	}
	return n, first
}
