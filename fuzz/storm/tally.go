package main

import (
	"fmt"
	"io"
	"time"
)

// tally counts what happened, in a world or in all of them.
type tally struct {
	worlds, connections, refounded         int64
	submitted, reported, delivered, giveUp int64
	datagrams, arrived, acks, resent       int64
	lost, duplicated, reordered, overflown int64
	refused, mixed                         int64
	troubles                               [numTroubles]int64
	corrupted, backward, badSubmits        int64
	virtual                                micros
}

func (t *tally) add(o tally) {
	for i, n := range o.numbers() {
		*t.fields()[i] += n
	}
	for i, n := range o.troubles {
		t.troubles[i] += n
	}
}

// fields are all counters but those of the troubles.
func (t *tally) fields() []*int64 {
	return []*int64{
		&t.worlds, &t.connections, &t.refounded, &t.submitted, &t.reported, &t.delivered, &t.giveUp,
		&t.datagrams, &t.arrived, &t.acks, &t.resent, &t.lost, &t.duplicated, &t.reordered, &t.overflown,
		&t.refused, &t.mixed, &t.corrupted, &t.backward, &t.badSubmits, &t.virtual,
	}
}

func (t *tally) numbers() (n []int64) {
	for _, f := range t.fields() {
		n = append(n, *f)
	}
	return n
}

func (t *tally) print(w io.Writer) {
	row := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-13s %s\n", name, fmt.Sprintf(format, args...))
	}
	row("worlds", "%d, %v of virtual time", t.worlds, time.Duration(t.virtual)*time.Microsecond)
	row("connections", "%d, of them %d begun after another between the same two; %d ended by giving up", t.connections, t.refounded, t.giveUp)
	row("chunks", "%d submitted, %d reported as delivered, %d read; %d refused as they should be", t.submitted, t.reported, t.delivered, t.badSubmits)
	row("mixed", "%d read that nobody had submitted: the price of a restart with the same id", t.mixed)
	row("datagrams", "%d sent: %d slices resent, %d acks; %d arrived", t.datagrams, t.resent, t.acks, t.arrived)
	row("network", "%d lost, %d doubled, %d held back, %d corrupted, %d met a full buffer", t.lost, t.duplicated, t.reordered, t.corrupted, t.overflown)
	row("decoders", "%d refused what was changed, foreign or no datagram at all", t.refused)
	row("clocks", "%d times gone back", t.backward)
	for i, trouble := range troubles {
		row(trouble.name, "%d", t.troubles[i])
	}
}
