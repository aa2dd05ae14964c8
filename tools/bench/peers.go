package bench

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
	"github.com/chunkwire/chunkwire/transport/plain"
)

// AllPeers returns everything that is compared, ours first.
func AllPeers() []Peer {
	return append(Ours(), Others()...)
}

// Ours are what this repository has for a block, the default first. All but the last two
// are repair slices.
func Ours() []Peer {
	return []Peer{
		chunkwire("repair", "our default: repair slices, at the rate of the path", repaired(lanes.Adaptive)),
		chunkwire("repair, burst", "ours: the first flight goes out at 100 Mbit/s, whatever the path", repaired(lanes.Burst)),
		chunkwire("repair, redundant", "ours: more repair slices at once", repaired(lanes.Redundant)),
		chunkwire("named", "ours, as other implementations have it: slices are resent by name, at the rate of the path", plain.Config{ProtocolID: 1}),
		chunkwire("base", "ours: the base algorithm that every port has, its profile burst", plain.Config{
			ProtocolID: 1, NewScheduler: func() (statemachine.Scheduler, error) { return base.New(base.Burst()) },
		}),
	}
}

func repaired(p lanes.Profile) plain.Config {
	return plain.Config{ProtocolID: 1, Repair: true, Profile: p}
}

// OurStreams are those, and the default with several chunks in flight.
func OurStreams() []Peer {
	streams := Ours()
	for _, n := range []int{2, 4, 8} {
		cfg := repaired(lanes.Adaptive)
		cfg.Lanes = n
		streams = append(streams, chunkwire(fmt.Sprintf("repair, %d lanes", n), fmt.Sprintf("ours: %d chunks in flight", n), cfg))
	}
	return append(streams, chunkwire("named, 8 lanes", "ours: 8 chunks in flight", plain.Config{ProtocolID: 1, Lanes: 8}))
}

// ourFlows are the two variants of ours with eight chunks in flight.
func ourFlows() (peers []Peer) {
	all := OurStreams()
	for _, name := range []string{"repair, 8 lanes", "named, 8 lanes"} {
		peers = append(peers, all[slices.IndexFunc(all, func(p Peer) bool { return p.Name == name })])
	}
	return peers
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
