package bench

import (
	"errors"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
)

// The bench moves bytes through sockets, goroutines and the codec; `chunkwire
// simulate` moves values through the machines alone. Their figures agree.
func TestSimulateAndBenchAgree(t *testing.T) {
	const seeds = 40
	for _, c := range []Cell{Networks[0].with(0), Networks[0].with(5), Networks[1].with(1), Networks[2].with(0), Networks[3].with(20)} {
		var sockets, machines []Run
		for seed := range uint64(seeds) {
			sockets = append(sockets, measure(t, Ours()[0], Plan{Cell: c, Size: block, Warm: 1}, seed+1))
			machines = append(machines, simulate(t, c, seed+1))
		}
		bench, simulated := summarize(sockets, block), summarize(machines, block)
		t.Logf("%v: bench %v / %v, simulate %v / %v", c, bench.Median, bench.P95, simulated.Median, simulated.P95)
		tolerance := simulated.Median / 10 // other draws of chance
		if c.Loss == 0 {
			tolerance = time.Millisecond // the driver's own
		}
		if d := bench.Median - simulated.Median; d.Abs() > tolerance {
			t.Errorf("%v: the bench says %v, simulate %v", c, bench.Median, simulated.Median)
		}
	}
}

// simulate is the second chunk of a connection, as `chunkwire simulate --warm`
// measures it.
func simulate(t *testing.T, c Cell, seed uint64) (r Run) {
	scheduler, err1 := rateless.New(rateless.Default())
	down, err2 := netsim.NewLink(c.down(), 2*seed)
	up, err3 := netsim.NewLink(c.up(), 2*seed+1)
	conv, err4 := chunk.NewConversation(statemachine.SenderConfig{Kind: codec.Repair, Scheduler: scheduler}, statemachine.ReceiverConfig{Kind: codec.Repair}, down, up)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		moved, err := conv.Transfer(content(block, seed), core.FromDuration(patience))
		if err != nil {
			t.Fatalf("%v, seed %d: %v", c, seed, err)
		}
		r.Took = moved.Delivered.Duration()
	}
	return r
}
