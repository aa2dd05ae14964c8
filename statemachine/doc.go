// Package statemachine holds the two ends of the chunk protocol as explicit,
// deterministic state machines: [Sender] and [Receiver] (sections 7 and 8 of
// spec/PROTOCOL.md).
//
// A machine does no I/O, reads no clock, starts no goroutine, draws no random
// number and shares nothing. Packets and the time go in; packets and the next
// deadline come out:
//
//	for each packet that arrived: HandleAck, or HandleSlice
//	then, until it says no more:  Poll, and send what it returns
//	then sleep until Deadline, or until the next packet
//
// Packets come before Poll when both are due at the same time, so that news
// always beats a timer. Times are [Micros] of any clock that does not run
// backward, from 0 on; a time before the last one given counts as the last one.
//
// All transitions of a machine stand in one table, in sender_table.go and
// receiver_table.go, each row under its id in the specification. Which slice
// goes next, and when, is not in the table: it is the [Scheduler]'s to say.
// [Base] is the scheduler that section 9 describes; others take its place
// without a change to the machine.
//
// Once a machine is running no event allocates, but for memory that later chunks
// use again: a receiver's 1 KiB for each slice that arrives, a scheduler's notes
// on each slice of the largest chunk so far. A machine is not safe for
// concurrent use.
package statemachine

import (
	"errors"
	"math"
	"time"
)

// Micros is a time or a duration in microseconds. Which moment is 0 is the
// caller's choice, as long as no time is negative.
type Micros int64

// Never is the deadline of a machine that waits for no time.
const Never Micros = math.MaxInt64

// Common durations.
const (
	Millisecond Micros = 1000
	Second      Micros = 1000 * Millisecond
)

// FromDuration returns d in whole microseconds, rounded down.
func FromDuration(d time.Duration) Micros { return Micros(d.Microseconds()) }

// Duration returns m as a time.Duration. Never becomes the longest one.
func (m Micros) Duration() time.Duration {
	if m > math.MaxInt64/1000 {
		return math.MaxInt64
	}
	return time.Duration(m) * time.Microsecond
}

// DefaultGiveUp is how long a machine waits without progress before it fails
// (SND-15, RCV-15); it is the same for both ends (SND-17).
const DefaultGiveUp = 10 * Second

// giveUpAfter returns what a configured GiveUp stands for. It is capped so that
// no sum of it and a time overflows.
func giveUpAfter(configured Micros) Micros {
	if configured <= 0 {
		return DefaultGiveUp
	}
	return min(configured, 1<<61)
}

var (
	// ErrChunkSize refuses a chunk that is empty or larger than codec.MaxChunkSize.
	ErrChunkSize = errors.New("statemachine: a chunk has 1 to 262144 bytes")
	// ErrBusy refuses a chunk while another is in flight.
	ErrBusy = errors.New("statemachine: a chunk is already in flight")
	// ErrGaveUp is the end of a machine that saw no progress for too long.
	ErrGaveUp = errors.New("statemachine: gave up: no progress for too long")
	// ErrNothingToRead says that no complete chunk waits.
	ErrNothingToRead = errors.New("statemachine: no complete chunk to read")
)
