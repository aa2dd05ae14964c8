package main

import (
	"fmt"
	"io"
	"time"
)

// counts are of what happened, in a world or in all of them.
type counts struct {
	worlds, connections, reconnected       int64
	submitted, reported, delivered, gaveUp int64
	datagrams, arrived, acks, extra        int64
	lost, duplicated, reordered, overflown int64
	refused, mixed                         int64
	faults                                 [numFaults]int64
	corrupted, backward, badSubmits        int64
	virtual                                int64 // us
}

func (c *counts) add(o counts) {
	for i, n := range o.numbers() {
		*c.fields()[i] += n
	}
	for i, n := range o.faults {
		c.faults[i] += n
	}
}

// fields are all counters but those of the faults.
func (c *counts) fields() []*int64 {
	return []*int64{
		&c.worlds, &c.connections, &c.reconnected, &c.submitted, &c.reported, &c.delivered, &c.gaveUp,
		&c.datagrams, &c.arrived, &c.acks, &c.extra, &c.lost, &c.duplicated, &c.reordered, &c.overflown,
		&c.refused, &c.mixed, &c.corrupted, &c.backward, &c.badSubmits, &c.virtual,
	}
}

func (c *counts) numbers() (n []int64) {
	for _, f := range c.fields() {
		n = append(n, *f)
	}
	return n
}

// printRow prints a name and what is said of it.
func printRow(w io.Writer, name, format string, args ...any) {
	fmt.Fprintf(w, "%-13s %s\n", name, fmt.Sprintf(format, args...))
}

func (c *counts) print(w io.Writer) {
	row := func(name, format string, args ...any) { printRow(w, name, format, args...) }
	row("worlds", "%d, %v of virtual time", c.worlds, time.Duration(c.virtual)*time.Microsecond)
	row("connections", "%d, of them %d begun after another between the same two; %d ended by giving up", c.connections, c.reconnected, c.gaveUp)
	row("chunks", "%d submitted, %d reported as delivered, %d read; %d refused as they should be", c.submitted, c.reported, c.delivered, c.badSubmits)
	row("mixed", "%d read that nobody had submitted: the price of a restart with the same id", c.mixed)
	row("datagrams", "%d sent: %d slices resent or repair slices, %d acks; %d arrived", c.datagrams, c.extra, c.acks, c.arrived)
	row("network", "%d lost, %d duplicated, %d reordered, %d corrupted, %d met a full buffer", c.lost, c.duplicated, c.reordered, c.corrupted, c.overflown)
	row("decoders", "%d refused what was changed, foreign or no datagram at all", c.refused)
	row("clocks", "%d times that went back", c.backward)
	for i, fault := range faults {
		row(fault.name, "%d", c.faults[i])
	}
}
