// Package connections declares the operation of one end of a connection (CXO-12, CXO-13), and has its
// machines: the product's and the oracle's.
package connections

import (
	"encoding/json"
	"errors"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/chunks"
)

// Op is the operation connection (CXO-12, CXO-13).
var Op = &conform.Op{
	Name:   "connection",
	Doc:    "a trace of one end of a connection",
	Config: Usual().Sided(Client, conform.Ascending(0x01, 32), conform.Ascending(0x41, 32)),
	Events: []conform.Kind{
		{Name: "poll", Of: Poll{}, Doc: "polled until no datagram comes"},
		{Name: "receive", Of: Receive{}, Doc: "a datagram arrives"},
		{Name: "send", Of: Send{}, Doc: "the application sends a message"},
		{Name: "read", Of: Read{}, Doc: "the application reads a message"},
		{Name: "send_chunk", Of: SendChunk{}, Doc: "the application sends a chunk of TRC-1"},
		{Name: "read_chunk", Of: ReadChunk{}, Doc: "the application reads a chunk"},
		{Name: "close", Of: Close{}, Doc: "the application closes"},
		{Name: "tick", Of: Tick{}, Doc: "a tick of the application ends"},
	},
	Step:    Step{},
	Words:   dialect,
	Product: newProduct, Oracle: newOracle,
}

// The sides, and the extension of marks.
const (
	Client = "client"
	Server = "server"
	ECN    = 1
	Clocks = 2
)

// Config sets up one end.
type Config struct {
	Side        string                     `json:"side" in:"client server"`
	Mode        string                     `json:"mode" in:"crc mac aead"`
	SendKey     conform.Bytes              `json:"send_key" size:"32 32" doc:"of the direction"`
	ReceiveKey  conform.Bytes              `json:"receive_key" size:"32 32"`
	Link        int64                      `json:"link" range:"1 4294967295"`
	Lanes       int64                      `json:"lanes" range:"0 16"`
	Timeout     int64                      `json:"timeout" range:"10 36000" doc:"in units of 100 ms"`
	Begin       int64                      `json:"begin" range:"0 4611686018427387903" unit:"us" doc:"when it begins"`
	Tick        int64                      `json:"tick" range:"5000 100000" unit:"us"`
	MessageRate int64                      `json:"message_rate" range:"64000 8000000000" doc:"bits a second"`
	Channels    []Channel                  `json:"channels"`
	Variant     int64                      `json:"variant,omitempty" range:"1 2" doc:"of the chunks; 1 if it is absent"`
	Extensions  int64                      `json:"extensions,omitempty" range:"0 65535" doc:"that were agreed"`
	Profile     Profile                    `json:"profile" doc:"of the scheduler of each lane"`
	Seed        conform.Opt[conform.Bytes] `json:"seed,omitzero" size:"16 16" doc:"of the numbers that are left out; none is if it is absent"`
}

// Channel is a channel. One that is not reliable has no more than its id, kind and priority.
type Channel struct {
	ID        int64              `json:"id" range:"0 63"`
	Kind      string             `json:"kind" in:"unreliable latest ordered unordered"`
	Window    conform.Opt[int64] `json:"window,omitzero" in:"32 64 128 256 512 1024 2048 4096 8192 16384"`
	Data      conform.Opt[int64] `json:"data,omitzero" range:"1 1024"`
	Group     conform.Opt[int64] `json:"group,omitzero" range:"2 64"`
	SendQueue conform.Opt[int64] `json:"send_queue,omitzero" range:"1 32768"`
	GiveUp    conform.Opt[int64] `json:"give_up,omitzero" range:"1000000 3600000000" unit:"us"`
	Priority  int64              `json:"priority" range:"0 255"`
}

// Profile is the profile of a variant.
type Profile struct {
	Base Base              // of variant 1
	Rule conform.Opt[Rule] // of variant 2
}

// Base and Rule are the profiles of the senders of chunks.
type (
	Base = chunks.Base
	Rule = chunks.Rule
)

// OneOf is what it is in JSON.
func (p Profile) OneOf() []any { return []any{Base{}, Rule{}} }

// MarshalJSON writes the profile of the variant.
func (p Profile) MarshalJSON() ([]byte, error) {
	if p.Rule.Is {
		return json.Marshal(p.Rule.V)
	}
	return json.Marshal(p.Base)
}

// UnmarshalJSON reads it. Only the rule says whether it is fixed.
func (p *Profile) UnmarshalJSON(text []byte) error {
	*p = Profile{}
	if conform.Decode(text, &p.Rule.V) == nil {
		p.Rule.Is = true
		return nil
	}
	return conform.Decode(text, &p.Base)
}

type (
	// Poll polls.
	Poll struct{}
	// Receive gives the end a datagram.
	Receive struct {
		Hex conform.Bytes `json:"hex"`
		ECN string        `json:"ecn,omitempty" in:"ect1 ect0 ce" doc:"the field of its IP header; not-ECT if it is absent"`
	}
	// Send gives the end a message.
	Send struct {
		Channel  int64              `json:"channel" range:"0 255"`
		Data     conform.Bytes      `json:"data"`
		Lifetime conform.Opt[int64] `json:"lifetime" range:"1 1099511627776" unit:"us" default:"none"`
	}
	// Tick ends a tick of the application.
	Tick struct{}
	// Read reads a message.
	Read struct {
		Channel int64 `json:"channel" range:"0 255"`
	}
	// SendChunk gives the end a chunk.
	SendChunk struct {
		Size int64 `json:"size" range:"0 524288"`
	}
	// ReadChunk reads a chunk.
	ReadChunk struct{}
	// Close closes the connection.
	Close struct {
		Code int64  `json:"code" range:"0 65535"`
		Text string `json:"text"`
	}
)

// Step is what an end did.
type Step struct {
	Rows      []string                     `json:"rows" pattern:"^K[0-9]+$"`
	State     string                       `json:"state" in:"OPEN CLOSING CLOSED"`
	Refused   conform.Opt[conform.Refused] `json:"refused"`
	Datagrams []conform.Bytes              `json:"datagrams"`
	Read      conform.Opt[Got]             `json:"read"`
	Chunk     conform.Opt[chunks.Content]  `json:"chunk"`
	Ended     conform.Opt[Ended]           `json:"ended"`
	Deadline  conform.Opt[int64]           `json:"deadline"`
	ECN       conform.Opt[Marks]           `json:"ecn,omitzero" doc:"where marks were agreed on"`
	Clock     conform.Opt[Clock]           `json:"clock,omitzero" doc:"where clocks were agreed on, once the round trip is known"`
}

// Got is a message, or a sequence that was skipped.
type Got struct {
	Sequence uint16                     `json:"sequence"`
	Data     conform.Opt[conform.Bytes] `json:"data,omitzero"`
	Skipped  bool                       `json:"skipped,omitempty"`
}

// Ended is why a connection is CLOSED, or will be. Only one that was closed has a code and a text.
type Ended struct {
	Why    string              `json:"why" in:"closed timeout failed lied ended"`
	Code   conform.Opt[int64]  `json:"code,omitzero"`
	Text   conform.Opt[string] `json:"text,omitzero"`
	Remote conform.Opt[bool]   `json:"remote,omitzero" doc:"the other end closed it"`
}

// Clock is what an end knows of the other end's clock.
type Clock struct {
	RTT  int64 `json:"rtt" unit:"us"`
	Low  int64 `json:"low" unit:"us"`
	High int64 `json:"high" unit:"us"`
}

// Marks is which of the datagrams are to be sent with ECT(0), and how many marks the schedulers were
// told of.
type Marks struct {
	ECT    []bool `json:"ect"`
	Marked int64  `json:"marked"`
}

// errConfig is a configuration whose fields do not fit.
var errConfig = errors.New("connections: the fields of the configuration do not fit")

// fits reports whether the configuration has what its variant and its channels need. That the fields have
// values that go together is for the machines to say.
func (c *Config) fits() bool {
	for _, ch := range c.Channels {
		if ch.reliable() && !(ch.Window.Is && ch.Data.Is && ch.Group.Is && ch.SendQueue.Is && ch.GiveUp.Is) {
			return false
		}
	}
	return (c.Variant == repairVariant) == c.Profile.Rule.Is
}

func (ch *Channel) reliable() bool { return ch.Kind != unreliable && ch.Kind != latest }

const (
	unreliable    = "unreliable"
	latest        = "latest"
	repairVariant = 2
)

// Usual is what scripts begin with: channel 0 is unreliable, 1 ordered and 2 unordered.
func Usual() Config {
	reliable := func(id int64, kind string) Channel {
		some := conform.Some[int64]
		return Channel{ID: id, Kind: kind, Window: some(64), Data: some(1024), Group: some(16), SendQueue: some(256), GiveUp: some(20_000_000), Priority: 1}
	}
	return Config{
		Mode: "crc", Link: 0x55667788, Lanes: 1, Timeout: 100, Tick: 16_667, MessageRate: 8_000_000,
		Profile:  Profile{Base: Base{Rate: 125_000, Cap: 17_056, ResendDelayUS: 100_000}},
		Channels: []Channel{{ID: 0, Kind: unreliable, Priority: 2}, reliable(1, "ordered"), reliable(2, "unordered")},
	}
}

// Sided returns the configuration of a side, with the keys of its directions.
func (c Config) Sided(side string, toServer, toClient conform.Bytes) Config {
	c.Side, c.SendKey, c.ReceiveKey = side, toServer, toClient
	if side == Server {
		c.SendKey, c.ReceiveKey = toClient, toServer
	}
	return c
}
