package bench

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// together measures two transfers that begin at once on one link.
func (b *bench) together() {
	ours := Ours()[0]
	couples := [][2]Peer{{ours, ours}, {ours, quicPeer()}, {quicPeer(), quicPeer()}, {ours, kcpPeers()[1]}}
	for _, couple := range couples {
		var first, second []Run
		for seed := range b.seeds {
			x, y := measureBoth(b.t, couple, Networks[1], uint64(seed+1))
			first, second = append(first, x), append(second, y)
		}
		cell := couple[0].Name + " beside " + couple[1].Name
		b.note(Together, cell, couple[0].Name, first)
		b.note(Together, cell, couple[1].Name, second)
	}
}

// measureBoth moves a block by each of two peers over one bottleneck.
func measureBoth(t *testing.T, couple [2]Peer, c Cell, seed uint64) (first, second Run) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ways := newPaths(c, seed, 2)
		var conns [2]*pipe
		for i, way := range ways {
			defer way.close()
			conn, err := couple[i].Connect(ctx, way)
			if err != nil {
				t.Fatalf("%s: %v", couple[i].Name, err)
			}
			defer conn.close()
			conns[i] = conn
		}
		time.Sleep(settle)
		done := make(chan Run, 1)
		go func() { done <- transfer(conns[1], ways[1], block, seed) }()
		first = transfer(conns[0], ways[0], block, seed)
		second = <-done
	})
	return first, second
}

// besideCells are the paths on which streams are compared, one with a queue below a bandwidth-delay product.
var besideCells = []struct {
	Cell
	long time.Duration
}{
	{Networks[1], 60 * time.Second},
	{Networks[2], 160 * time.Second},
	{Cell{Network: "20 Mbit/s, 30 ms, 64 KiB", Rate: 20e6, RTT: 30 * time.Millisecond, Queue: 64 << 10}, 40 * time.Second},
}

// beside measures two endless streams on one link, either of which begins first.
func (b *bench) beside() {
	quic, kcp := quicPeer(), kcpPeers()[1]
	couples := [][2]Peer{{quic, quic}}
	for _, ours := range ourFlows() {
		couples = append(couples, [2]Peer{ours, quic}, [2]Peer{quic, ours}, [2]Peer{ours, kcp}, [2]Peer{kcp, ours})
	}
	couples = append(couples, [2]Peer{quic, kcp}, [2]Peer{kcp, quic})
	for _, c := range besideCells {
		for _, couple := range couples {
			f := measureStreams(b.t, couple, c.Cell, c.long, 1)
			row := Row{Experiment: Beside, Cell: c.Network, Peer: couple[0].Name + ", then " + couple[1].Name, Beside: &f}
			b.t.Logf("%s, %s: %.2f : %.2f Mbit/s, %.2f %% dropped", row.Cell, row.Peer, f.Mbits[0], f.Mbits[1], 100*f.Dropped)
			b.result.Rows = append(b.result.Rows, row)
		}
	}
}

// measureStreams moves blocks without end by each of two peers over one bottleneck. The second begins when a 20th
// of the time is over; a quarter of it is not counted.
func measureStreams(t *testing.T, couple [2]Peer, c Cell, long time.Duration, seed uint64) (f BesideFigures) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		ways := newPaths(c, seed, 2)
		var conns [2]*pipe
		for i, way := range ways {
			defer way.close()
			conn, err := couple[i].Connect(ctx, way)
			if err != nil {
				t.Fatalf("%s: %v", couple[i].Name, err)
			}
			conns[i] = conn
		}
		time.Sleep(settle)
		var all sync.WaitGroup
		for i, conn := range conns {
			data := content(block, seed)
			all.Go(func() {
				time.Sleep(time.Duration(i) * long / 20)
				for conn.push(data) == nil {
				}
			})
			all.Go(func() {
				for err := error(nil); err == nil; {
					_, err = conn.fetch(block)
				}
			})
		}
		time.Sleep(long / 4)
		down, _ := ways[0].links()
		before := [2]int64{ways[0].toClient.Load(), ways[1].toClient.Load()}
		time.Sleep(long - long/4)
		after, _ := ways[0].links()
		for i, way := range ways {
			f.Mbits[i] = float64(way.toClient.Load()-before[i]) * 8e-6 / (long - long/4).Seconds()
		}
		f.Dropped = float64(after.LostQueue-down.LostQueue) / float64(after.Sent-down.Sent)
		for _, conn := range conns {
			conn.close()
		}
		all.Wait()
	})
	return f
}

// Streams of ours and of quic-go fill the link between them.
func TestStreamsBeside(t *testing.T) {
	f := measureStreams(t, [2]Peer{ourFlows()[0], quicPeer()}, Cell{Rate: 10e6, RTT: 40 * time.Millisecond, Queue: 64 << 10}, 8*time.Second, 1)
	if sum := f.Mbits[0] + f.Mbits[1]; sum < 8 || sum > 10.1 || min(f.Mbits[0], f.Mbits[1]) < 1 {
		t.Errorf("%+v", f)
	}
}
