package main

import (
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/testvectors/script"
)

// network is what becomes of the datagrams of two sides of a conversation.
type network struct {
	sent            [2]int
	lose, duplicate [2]func(int, int64) bool
	delay           int64
	jitter          func() int64
}

func newNetwork(c *script.Carriage) (n network) {
	n.delay, n.jitter = c.DelayUS, c.Jitter()
	for i := range n.lose {
		n.lose[i], n.duplicate[i] = c.Lose[i].Fate(), c.Duplicate[i].Fate()
	}
	return n
}

// carry plans the arrival of something, or two, unless it is lost.
func (n *network) carry(t *conform.Talk, at int64, from, rank int, arrive func(at int64)) {
	n.sent[from]++
	lost, twice := n.lose[from](n.sent[from], at), n.duplicate[from](n.sent[from], at)
	times := 1
	if twice {
		times = 2
	}
	if lost {
		times = 0
	}
	for range times {
		t.Add(at+n.delay+n.jitter(), rank, arrive)
	}
}
