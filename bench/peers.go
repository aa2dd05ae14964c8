package bench

import (
	"fmt"

	"github.com/chunkwire/chunkwire/recovery"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport"
)

// AllPeers returns everything that is compared, ours first.
func AllPeers() []Peer {
	return append(Ours(), Others()...)
}

// Ours are the profiles of this repository, the default first.
func Ours() []Peer {
	return []Peer{
		chunkwire("adaptive", "our default: follows the rate of the path", of(recovery.Adaptive())),
		chunkwire("burst", "ours: the first flight goes out at 100 Mbit/s, whatever the path", of(recovery.Burst())),
		chunkwire("redundant", "ours: adaptive with more copies where slices get lost", of(recovery.Redundant())),
		chunkwire("base", "ours: the base algorithm that every port has, its profile burst", func() statemachine.Scheduler {
			return statemachine.NewBase(statemachine.Burst())
		}),
	}
}

func of(p recovery.Profile) func() statemachine.Scheduler {
	return func() statemachine.Scheduler { return recovery.New(p) }
}

// OurStreams are those, and the default with several chunks in flight.
func OurStreams() []Peer {
	streams := Ours()
	for _, n := range []int{2, 4, 8} {
		streams = append(streams, chunkwireWith(fmt.Sprintf("adaptive, %d lanes", n), fmt.Sprintf("ours: %d chunks in flight", n),
			transport.Config{ProtocolID: 1, NewScheduler: of(recovery.Adaptive()), Lanes: n}))
	}
	return streams
}

// Others are the protocols that people use instead.
func Others() []Peer {
	return append(kcpPeers(), quicPeer(), raknetPeer(), sctpPeer())
}

// StreamingPeers leaves out what no one would stream 16 MiB with: kcp's default
// windows.
func StreamingPeers() []Peer {
	return append(OurStreams(), Others()[1:]...)
}
