package chunk

import (
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
)

// What the chunk protocol shares with its variant, conform/sim/repair: worlds and transfers of
// which P are the packets, S the senders and R the receivers.

// Outbound is a sender as a world uses it.
type Outbound[P any] interface {
	sim.End[P]
	Submit(now core.Micros, chunk []byte) error
	Sending() bool     // a chunk is in flight
	SlicesSent() int64 // packets
	Err() error
}

// Inbound is a receiver as a world uses it.
type Inbound[P any] interface {
	sim.End[P]
	Read(now core.Micros, dst []byte) ([]byte, error)
	Ready() bool // a complete chunk waits to be read
	Err() error
}

// Variant is how the machines of a variant are used.
type Variant[P, S, R any] struct {
	Outbound func(S) Outbound[P]
	Inbound  func(R) Inbound[P]
	// Judged puts new machines, with these times to give up, in front of judges.
	Judged func(s S, r R, giveUps [2]core.Micros, pace Pace, fail Fail) (S, R)
}
