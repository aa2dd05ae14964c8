package main

import (
	"io"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/flows/crowd"
)

// runFlows runs the world of several flows of a seed (conform/sim/flows/crowd): ours, and models of
// other protocols, over one path that changes, and is good in the end. It has judges of its
// own. A panic is a failure. With a log, a world that fails is made smaller.
func runFlows(seed uint64, l *log) (c crowd.WorldCounts, err error) {
	defer recovered(&err)
	c, err = crowd.RunWorld(seed, l.note())
	l.mark(uint64(c.Chunks), uint64(c.Datagrams), uint64(c.LostQueue), uint64(c.LostPolicer), uint64(c.Time))
	if err != nil && l.verbose() {
		l.add(0, nil, "smaller:\n%v", crowd.Draw(seed).Shrink())
	}
	return c, err
}

// printFlows prints what happened in all worlds of several flows.
func printFlows(w io.Writer, c *crowd.WorldCounts) {
	printRow(w, "flows", "%d worlds with %d flows of ours and %d beside them, %v of virtual time", c.Worlds, c.Ours, c.Beside, time.Duration(c.Time)*time.Microsecond)
	printRow(w, "crowds", "%d chunks delivered; %d datagrams, queues dropped %d, policers %d; %d flows gave up on one of %d bad paths", c.Chunks, c.Datagrams, c.LostQueue, c.LostPolicer, c.Failed, c.Stretches)
	printRow(w, "judges", "delivery of %d flows, load of %d links, shares of %d worlds, speed of %d", c.ByDelivery, c.ByLoad, c.ByShares, c.BySpeed)
}
