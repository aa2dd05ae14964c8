package packetoracle

import "github.com/chunkwire/chunkwire/conform/layout"

// The codes of an endpoint (rows P2 to P10, and PKF-3). They lie in no byte.
const (
	Stale             = "stale"
	Duplicate         = "duplicate"
	Dead              = "dead"
	FragmentCount     = "fragment_count"
	FragmentDuplicate = "fragment_duplicate"
	ReassemblyFull    = "reassembly_full"
	PayloadSize       = "payload_size"
	PayloadRefused    = "refused" // by the layer above
)

// Nowhere is the place of a fault that lies in no byte.
const Nowhere = -1

// Error is a refusal. Its place is the byte, or Nowhere.
type Error = layout.Fault
