package bench

// Result is what one command measured: everything that RESULTS.md shows.
type Result struct {
	Commit string // what was measured
	Note   string `json:",omitempty"` // how, where it was not as this module is
	Seeds  int
	Rows   []Row
	Maps   []SliceMap `json:",omitempty"`
}

// block is the size of the blocks that are measured, in bytes.
const block = 256 << 10

// Row is one peer in one cell of one experiment.
type Row struct {
	Experiment string
	Cell       string
	X          float64 // where the cell stands on a plot's axis: loss in percent, or RTT in ms
	Peer       string
	Size       int // bytes of a block
	Summary
	Messages *MessageFigures `json:",omitempty"`
	Services *ServiceFigures `json:",omitempty"`
	Beside   *BesideFigures  `json:",omitempty"`
}

// BesideFigures is what two streams on one link have.
type BesideFigures struct {
	Mbits   [2]float64 // that came to the client of each, with headers
	Dropped float64    // datagrams that the queue down dropped, over those sent
}

// SliceMap is when each slice of a chunk was sent, in one run of ours.
type SliceMap struct {
	Cell, Peer string
	Events     []SliceEvent
}

// SliceEvent is one thing that happened to a slice.
type SliceEvent struct {
	AtMicros int64
	Slice    int
	Kind     string // "sent", "resent" or "acked"
}

// The experiments.
const (
	Blocks    = "blocks"    // all of the following up to maps
	Cold      = "cold"      // the first block of a connection
	Warm      = "warm"      // the second one
	ByRTT     = "rtt"       // S1 at 1 % loss, over round trips
	Streaming = "streaming" // 16 MiB
	Trouble   = "trouble"   // outages and other accidents
	Together  = "together"  // two transfers on one link
	Beside    = "beside"    // two streams on one link
	Maps      = "maps"      // every slice of a few runs
	Messages  = "messages"  // small messages, many a second
	Services  = "services"  // game packets while a block goes out
)

// Experiments are all of them, in the order in which they run.
var Experiments = []string{Blocks, Cold, Warm, ByRTT, Streaming, Trouble, Together, Beside, Maps, Messages, Services}
