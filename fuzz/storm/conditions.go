package main

import (
	"github.com/chunkwire/chunkwire/conform/sim"
	"time"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// conditions are what a world is like: how many peers, for how long there are
// faults, and how often each kind comes.
type conditions struct {
	peers      int
	badFor     core.Micros
	corruptPPM int
	clockPPM   int                    // how often a packet is handled with a time that has gone back
	every      [numFaults]core.Micros // mean time between two faults of a kind; 0: never
	uplink     netsim.Path            // of the server, shared by all
	origin     core.Micros            // the machines' times are so much later (2.2)
}

// latestOrigin leaves some days until times are too large.
const latestOrigin = 1<<62 - 1<<40

func drawConditions(d sim.Draw) conditions {
	c := conditions{peers: drawPeers(d), badFor: d.SpreadTime(2*second, 120*second)}
	if d.OneIn(2) {
		c.corruptPPM = int(d.Spread(100, 200_000))
	}
	if d.OneIn(3) {
		c.clockPPM = int(d.Spread(10_000, 500_000))
	}
	for i := range c.every {
		if !d.OneIn(3) {
			c.every[i] = d.SpreadTime(second/2, 60*second)
		}
	}
	if d.OneIn(3) {
		c.origin = d.SpreadTime(1, latestOrigin)
	}
	if d.OneIn(2) {
		c.uplink = drawBottleneck(d, 1_000_000)
	}
	return c
}

// drawPeers draws how many peers the server has: mostly few, so that a failure is
// easily read, sometimes many.
func drawPeers(d sim.Draw) int {
	switch n := d.IntN(100); {
	case n < 65:
		return d.Between(1, 3)
	case n < 93:
		return d.Between(4, 12)
	}
	return d.Between(13, 50)
}

// drawBottleneck draws a rate in bits a second and a queue of at most a second.
func drawBottleneck(d sim.Draw, slowest int64) netsim.Path {
	rate := d.Spread(slowest, 200_000_000)
	return netsim.Path{Rate: rate, Queue: int(d.Spread(3_000, max(20_000, rate/8))), Overhead: 28}
}

// drawPath draws one direction of a path with faults.
func drawPath(d sim.Draw) netsim.Path {
	p := netsim.Path{Overhead: 28}
	if d.OneIn(2) {
		p = drawBottleneck(d, 64_000)
	}
	if !d.OneIn(8) {
		p.Delay = time.Duration(d.Spread(1, int64(400*millisecond))) * time.Microsecond
	}
	if d.OneIn(2) {
		p.Jitter = time.Duration(d.Between(0, int(p.Delay)/2+int(5*time.Millisecond)))
	}
	if !d.OneIn(3) {
		p.Loss = percent(d, 600_000)
	}
	if d.OneIn(2) {
		p.Duplicate = percent(d, 300_000)
	}
	if d.OneIn(2) {
		p.Reorder = percent(d, 300_000)
		p.ReorderDelay = time.Duration(d.Spread(1, int64(300*millisecond))) * time.Microsecond
	}
	return p
}

// percent draws from 100 to most millionths.
func percent(d sim.Draw, most int64) float64 { return float64(d.Spread(100, most)) / 10_000 }

// goodPath is a path on which nothing is lost.
func goodPath(d sim.Draw) netsim.Path {
	return netsim.Path{Delay: time.Duration(d.Between(0, int(100*millisecond))) * time.Microsecond}
}

var outagePath = netsim.Path{Loss: 100}
