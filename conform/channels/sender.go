package channels

import "github.com/chunkwire/chunkwire/conform"

// Sender is the operation channel_sender (CHO-9, CHO-10).
var Sender = &conform.Op{
	Name:   "channel_sender",
	Doc:    "a trace of the sender of a reliable channel",
	Config: SenderConfig{Format: Format{Window: 32, Data: 8, Group: 4}, SendQueue: 4096, GiveUp: 10_000_000},
	Events: []conform.Kind{
		{Name: "send", Of: Send{}, Doc: "the application sends a message"},
		{Name: "report", Of: Report{}, Doc: "a report of the receiver"},
		{Name: "poll", Of: SenderPoll{}, Doc: "a packet is composed: polled until no record comes"},
		{Name: "path", Of: SenderPath{}, Doc: "what the packet layer measured; no event of the table, and without a time of its own"},
	},
	Step:    SenderStep{},
	Words:   conform.Dialect{Event: senderEventOfWords, Say: wordsOfSenderEvent, Step: senderSaid},
	Product: newProductSender,
	Oracle:  newOracleSender,
}

// SenderConfig sets up a sender.
type SenderConfig struct {
	Format
	SendQueue int64 `json:"send_queue" range:"2 32768" doc:"at least the smaller of group and window"`
	First     int64 `json:"first" range:"0 4294967296"`
	GiveUp    int64 `json:"give_up" range:"1000000 3600000000" unit:"us"`
}

// Fit lets the largest message into the queue.
func (c SenderConfig) Fit() any {
	c.SendQueue = max(c.SendQueue, min(c.Group, c.Window))
	return c
}

type (
	// Send sends a message.
	Send struct {
		Data     conform.Bytes      `json:"data"`
		Lifetime conform.Opt[int64] `json:"lifetime" range:"1 1099511627776" unit:"us" doc:"null: without end"`
	}
	// Report gives the sender a report.
	Report struct {
		Hex    conform.Bytes `json:"hex" size:"1 65535" doc:"one REPORT of channel 0"`
		Number int64         `json:"number" range:"0 4294967296" doc:"of its packet"`
		Ack    int64         `json:"ack" range:"-1 4294967296" doc:"what the header of its packet acks, -1 for nothing"`
	}
	// SenderPoll composes a packet.
	SenderPoll struct {
		Number int64 `json:"number" range:"0 4294967296" doc:"of the packet that is composed"`
		Space  int64 `json:"space" range:"0 65535" default:"1160" doc:"the bytes that are left in it"`
	}
	// SenderPath is what was measured.
	SenderPath struct {
		SRTT     conform.Opt[int64] `json:"srtt" range:"0 1099511627776" unit:"us" doc:"null while nothing is measured"`
		Patience int64              `json:"patience" range:"0 1099511627776" unit:"us" default:"0"`
	}
)

// SenderStep is what a sender did.
type SenderStep struct {
	Rows     []string            `json:"rows" pattern:"^D([1-9]|1[0-3])$" doc:"a poll is one for each record, and one that has none; none for path"`
	State    string              `json:"state" in:"OPEN FAILED"`
	Refused  conform.Opt[string] `json:"refused" in:"message_size queue_full failed"`
	Records  []conform.Bytes     `json:"records" pattern:"^([0-9a-f]{2})+$"`
	Base     int64               `json:"base" range:"0 9007199254740992"`
	Limit    int64               `json:"limit" range:"0 9007199254740992"`
	Deadline conform.Opt[int64]  `json:"deadline" range:"0 9223372036854775807"`
}
