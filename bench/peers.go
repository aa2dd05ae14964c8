package bench

import (
	"github.com/chunkwire/chunkwire/statemachine"
)

// AllPeers returns everything that is compared, ours first.
func AllPeers() []Peer {
	return append(Ours(), Others()...)
}

// Ours are the profiles of this repository.
func Ours() []Peer {
	return []Peer{
		chunkwire("base burst", "the base algorithm that every port has", func() statemachine.Scheduler {
			return statemachine.NewBase(statemachine.Burst())
		}),
	}
}

// Others are the protocols that people use instead.
func Others() []Peer {
	return append(kcpPeers(), quicPeer(), raknetPeer(), sctpPeer())
}

// StreamingPeers leaves out what no one would stream 16 MiB with: kcp's default
// windows.
func StreamingPeers() []Peer {
	return append(Ours(), Others()[1:]...)
}
