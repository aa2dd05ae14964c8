package bench

import (
	"context"
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
