package main

import (
	"fmt"
	"io"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/channel"
)

// runChannels runs the world of channels of a seed (conform/sim/channel): two ends with several
// channels over the packet layer, a path with faults, then one without. It has judges of its
// own. A panic is a failure.
func runChannels(seed uint64, l *log) (c channel.WorldCounts, err error) {
	defer recovered(&err)
	c, err = channel.RunWorld(seed, l.note())
	l.mark(uint64(c.Messages), uint64(c.Records), uint64(c.Read), uint64(c.Datagrams), uint64(c.Lost), uint64(c.Time))
	return c, err
}

// recovered makes a panic a failure.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panic: %v", p)
	}
}

// note returns what adds a line of another world to a log; nil if nobody reads it.
func (l *log) note() func(format string, args ...any) {
	if !l.verbose() {
		return nil
	}
	return func(format string, args ...any) { l.add(0, nil, format, args...) }
}

// printChannels prints what happened in all worlds of channels.
func printChannels(w io.Writer, c *channel.WorldCounts) {
	printRow(w, "channels", "%d worlds with %d channels, %v of virtual time", c.Worlds, c.Channels, time.Duration(c.Time)*time.Microsecond)
	printRow(w, "messages", "%d sent, %d read, %d sequences skipped; %d refused as they should be", c.Messages, c.Read, c.Skipped, c.Refused)
	printRow(w, "records", "%d sequences sent, %d of them again; %d probes, %d reports; %d datagrams, %d lost", c.Records, c.Resent, c.Probes, c.Reports, c.Datagrams, c.Lost)
}
