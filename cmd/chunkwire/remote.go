package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport/file"
)

// remote is the other end of a transfer, over a connection or with --plain over the
// plain chunk protocol.
type remote interface {
	file.Conn
	Send(ctx context.Context, chunk []byte) error
	Done() <-chan struct{}
	Err() error
	ReceiverStats() statemachine.ReceiverStats
	Receiving() lanes.Progress

	// repaired reports whether chunks go as repair slices.
	repaired() bool
	// socket returns what the socket did that it is reached by.
	socket() socketStats
	// linger goes on answering an end that cannot know that it is done: until it
	// leaves or is quiet.
	linger(ctx context.Context, quiet time.Duration)
	// part ends it; the other end gets the reason, where the protocol can do that.
	part(ctx context.Context, why farewell)
}

// gate is where recv waits for remotes.
type gate interface {
	Addr() net.Addr
	Close() error

	accept(ctx context.Context) (remote, error)
	socket() socketStats
	// misfits returns why ends can try in vain; empty if there are
	// no such reasons.
	misfits() string
}

// protocol makes remotes and gates.
type protocol interface {
	dial(ctx context.Context, address string) (remote, error)
	listen(address string) (gate, error)
	// explain returns, for a remote that has failed, what happened and how far the
	// transfer had come. Other errors stay as they are.
	explain(err error, peer net.Addr, far course, st socketStats) error
}

// socketStats are the statistics of either protocol's socket.
type socketStats struct {
	datagramsOut   int64
	undecodable    int64
	writeErrors    int64 // datagrams that the system did not take
	lastWriteError error

	readBuffer, writeBuffer, bufferWanted int
}

// local returns what a sentence about a silent remote says of this end's own failures.
func (s socketStats) local() string {
	if s.writeErrors == 0 {
		return ""
	}
	return fmt.Sprintf("; this system could not send %s: %v", countOf(s.writeErrors, "datagram"), s.lastWriteError)
}

// nothingSent reports whether this system took none of the datagrams.
func (s socketStats) nothingSent() bool { return s.writeErrors > 0 && s.writeErrors == s.datagramsOut }

// farewell is why an end leaves: a code of connections, and a text for people.
type farewell struct {
	code uint16
	text string
}

// What the ends of a transfer say when they leave.
var (
	farewellDone        = farewell{0, ""}
	farewellInterrupted = farewell{256, "interrupted"}
	farewellFailed      = farewell{257, "failed"}
	farewellBusy        = farewell{258, "another sender was first"}
	farewellNoFile      = farewell{259, "no file came"}
	farewellTooLarge    = farewell{260, "the file is too large"}
)

// farewellOf returns what to say at the end of a transfer.
func farewellOf(ctx context.Context, err error) farewell {
	switch {
	case err == nil:
		return farewellDone
	case ctx.Err() != nil:
		return farewellInterrupted
	}
	return farewellFailed
}

// warnOfSmallBuffers says when the system gives less than was asked for: a burst
// then loses slices before they reach the wire.
func warnOfSmallBuffers(w io.Writer, s socketStats) {
	for _, b := range []struct {
		name  string
		bytes int
	}{{"receive", s.readBuffer}, {"send", s.writeBuffer}} {
		if b.bytes > 0 && b.bytes < s.bufferWanted {
			fmt.Fprintf(w, "chunkwire: note: the system gives a %s buffer of %s, not %s; a burst can lose slices (on Linux, raise net.core.rmem_max and wmem_max)\n",
				b.name, formatBytes(float64(b.bytes)), formatBytes(float64(s.bufferWanted)))
		}
	}
}
