package packet

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// Stats counts the events of an endpoint.
type Stats struct {
	Sent          int64 // packets, those that only ack among them
	AcksSent      int64 // packets that only ack
	DatagramsSent int64
	BytesSent     int64 // of datagrams
	Acked         int64
	Lost          int64
	Late          int64 // acked after they were lost

	DatagramsReceived int64
	Received          int64 // packets taken
	Fragments         int64 // fragments stored
	Abandoned         int64 // reassemblies that ended without a packet

	Incomplete      int // packets in reassembly now
	IncompleteBytes int // of their fragments

	refused refusals
}

// refusals counts by code, in the order of codes.
type refusals [len(codes)]int64

func (r *refusals) add(code core.Code) { r[slices.Index(codes[:], code)]++ }

// Refused returns how many datagrams were refused with a code.
func (s *Stats) Refused(code core.Code) int64 {
	if i := slices.Index(codes[:], code); i >= 0 {
		return s.refused[i]
	}
	return 0
}

// Stats returns the counts so far.
func (e *Endpoint) Stats() Stats {
	s := e.stats
	s.Incomplete, s.IncompleteBytes = len(e.parts.list), e.parts.bytes
	return s
}
