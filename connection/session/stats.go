package session

import (
	"slices"

	"github.com/chunkwire/chunkwire/core"
)

// ClientStats counts what a Client did.
type ClientStats struct {
	Links      int64 // LINK messages sent
	Proofs     int64 // PROOF messages sent
	Refused    int64 // datagrams that are no message
	Unexpected int64 // messages that were of no use: late, doubled, of another, or forged
}

// ServerStats counts what a Server did.
type ServerStats struct {
	Challenges int64
	Linked     int64 // LINKED messages
	Made       int64 // connections
	Moved      int64 // of them to another address
	Replaced   int64 // by a newer one
	HalfOpen   int64 // that were forgotten because no data came

	Living int // connections now
	Ended  int // entries of ended ones now

	silent  refusals
	refused [reasons + 1]int64
}

// refusals counts by code, in the order of codes.
type refusals [len(codes)]int64

func (r *refusals) add(code core.Code) { r[slices.Index(codes[:], code)]++ }

// Silent returns how many datagrams drew no answer for the reason that a code says.
func (s *ServerStats) Silent(code core.Code) int64 {
	if i := slices.Index(codes[:], code); i >= 0 {
		return s.silent[i]
	}
	return 0
}

// Refused returns how many REFUSED messages had a reason.
func (s *ServerStats) Refused(r Reason) int64 {
	if int(r) < len(s.refused) {
		return s.refused[r]
	}
	return 0
}
