// Package channels declares the machines of channels (CHO-1), with adapters for the product
// and the oracle, the words of their scripts, and what their fuzzing needs.
package channels

import "github.com/chunkwire/chunkwire/conform"

// Receiver is the operation channel_receiver (CHO-7, CHO-8).
var Receiver = &conform.Op{
	Name:   "channel_receiver",
	Doc:    "a trace of the receiver of a reliable channel",
	Config: ReceiverConfig{Kind: "ordered", Format: Format{Window: 32, Data: 8, Group: 4}, GiveUp: 10_000_000},
	Events: []conform.Kind{
		{Name: "record", Of: Record{}, Doc: "a record of the sender: MESSAGE, FRAGMENT, SKIP or STATUS"},
		{Name: "read", Of: Read{}, Doc: "the application reads"},
		{Name: "poll", Of: Poll{}, Doc: "a packet is composed"},
		{Name: "path", Of: ReceiverPath{}, Doc: "what the packet layer measured; no event of the table, and without a time of its own"},
	},
	Step:    ReceiverStep{},
	Words:   conform.Dialect{Event: recordOfWords, Say: wordsOfRecord, Step: receiverSaid},
	Product: newProductReceiver,
	Oracle:  newOracleReceiver,
}

// Format is what both ends of a channel have in common (CHP-1).
type Format struct {
	Window int64 `json:"window" in:"32 64 128 256 512 1024 2048 4096 8192 16384"`
	Data   int64 `json:"data" range:"1 1024"`
	Group  int64 `json:"group" range:"2 64"`
}

// ReceiverConfig sets up a receiver.
type ReceiverConfig struct {
	Kind string `json:"kind" in:"ordered unordered"`
	Format
	First  int64 `json:"first" range:"0 4294967296"`
	GiveUp int64 `json:"give_up" range:"1000000 3600000000" unit:"us"`
}

type (
	// Record gives the receiver a record.
	Record struct {
		Hex conform.Bytes `json:"hex" size:"1 65535" doc:"one record of channel 0"`
	}
	// Read reads.
	Read struct{}
	// Poll asks for a report.
	Poll struct {
		Space int64 `json:"space" range:"0 65535" default:"1160" doc:"the bytes that are left in the packet"`
	}
	// ReceiverPath is what was measured.
	ReceiverPath struct {
		SRTT conform.Opt[int64] `json:"srtt" range:"0 1099511627776" unit:"us" doc:"null while nothing is measured"`
	}
)

// ReceiverStep is what a receiver did.
type ReceiverStep struct {
	Row      conform.Opt[string]        `json:"row" pattern:"^V([1-9]|1[0-9]|2[01])$" doc:"null for path"`
	State    string                     `json:"state" in:"OPEN FAILED"`
	Read     conform.Opt[Got]           `json:"read"`
	Report   conform.Opt[conform.Bytes] `json:"report" size:"1 65535"`
	Deadline conform.Opt[int64]         `json:"deadline" range:"0 9223372036854775807"`
}

// Got is what a read gave: data, or that a sequence was skipped.
type Got struct {
	Sequence uint16        `json:"sequence" doc:"of a group its first"`
	Data     conform.Bytes `json:"data,omitempty" size:"1 65535"`
	Skipped  bool          `json:"skipped,omitempty"`
}
