package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/conform/sim/connection"
)

// runConnections runs the world of whole connections of a seed (conform/sim/connection): a server and
// some clients over a path with faults; both ends restart, addresses change, and a forger sends
// what it saw or made up. Then all is good. It has judges of its own. A panic is a failure.
func runConnections(seed uint64, l *log) (c connection.WorldCounts, err error) {
	defer recovered(&err)
	c, err = connection.RunWorld(seed, l.note())
	l.mark(uint64(c.Connections), uint64(c.Messages), uint64(c.Read), uint64(c.ChunksRead), uint64(c.Datagrams), uint64(c.Lost), uint64(c.Refused), uint64(c.Time))
	return c, err
}

// printConnections prints what happened in all worlds of whole connections.
func printConnections(w io.Writer, c *connection.WorldCounts) {
	virtual := func(us int64) time.Duration { return time.Duration(us) * time.Microsecond }
	printRow(w, "whole", "%d worlds with %d clients and %d connections, %v of virtual time", c.Worlds, c.Clients, c.Connections, virtual(int64(c.Time)))
	printRow(w, "services", "%d messages sent, %d read; %d chunks sent, %d read", c.Messages, c.Read, c.Chunks, c.ChunksRead)
	printRow(w, "troubles", "%d moves, %d of them seen by the server; %d servers and %d clients restarted, %d closed, %d replaced", c.Moves, c.Moved, c.Restarts, c.Crashes, c.Closes, c.Replaced)
	printRow(w, "envelopes", "%d datagrams, %d lost; %d forged, %d refused", c.Datagrams, c.Lost, c.Forged, c.Refused)
	printRow(w, "ends", "%s; all over at most %v after the faults", ends(c.Ends), virtual(int64(c.LongestEnd)))
}

// ends returns how often clients ended, by the kind of their errors.
func ends(counts map[string]int64) string {
	texts := []string{}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		texts = append(texts, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return strings.Join(texts, ", ")
}
