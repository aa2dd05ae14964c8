package bench

import (
	"fmt"

	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// AllPeers returns everything that is compared, ours first.
func AllPeers() []Peer {
	return append(Ours(), Others()...)
}

// Ours are the profiles of this repository, the default first.
func Ours() []Peer {
	return []Peer{
		chunkwire("adaptive", "our default: follows the rate of the path", of(adaptive.Adaptive())),
		chunkwire("burst", "ours: the first flight goes out at 100 Mbit/s, whatever the path", of(adaptive.Burst())),
		chunkwire("redundant", "ours: adaptive with more copies where slices get lost", of(adaptive.Redundant())),
		chunkwire("base", "ours: the base algorithm that every port has, its profile burst", func() (statemachine.Scheduler, error) {
			return base.New(base.Burst())
		}),
	}
}

func of(p adaptive.Profile) func() (statemachine.Scheduler, error) {
	return func() (statemachine.Scheduler, error) { return adaptive.New(p) }
}

// OurStreams are those, and the default with several chunks in flight.
func OurStreams() []Peer {
	streams := Ours()
	for _, n := range []int{2, 4, 8} {
		streams = append(streams, chunkwireWith(fmt.Sprintf("adaptive, %d lanes", n), fmt.Sprintf("ours: %d chunks in flight", n),
			plain.Config{ProtocolID: 1, NewScheduler: of(adaptive.Adaptive()), Lanes: n}))
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
