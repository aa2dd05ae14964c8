package udp

import (
	"iter"
	"slices"
)

// MaxRun is the most bytes of a Run: the largest payload of UDP over IPv4.
const MaxRun = 1<<16 - 1 - 20 - 8

// Run is one or more datagrams on their way out to one peer. They lie one after
// the other in Data and have Size bytes each, but the last can have fewer: what
// UDP segmentation offload takes in one call.
type Run struct {
	Data []byte
	Size int
	To   Addr
	ECT  bool // they go with ECT(0), where the socket can
}

// Count returns how many datagrams the run has.
func (r *Run) Count() int { return (len(r.Data) + r.Size - 1) / r.Size }

// Datagrams returns them one by one.
func (r *Run) Datagrams() iter.Seq[[]byte] { return slices.Chunk(r.Data, r.Size) }
