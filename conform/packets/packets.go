// Package packets declares the machines of the packet layer, an endpoint and congestion
// avoidance (PKO-1), with adapters for the product and the oracle, and the words of their
// scripts.
package packets

import (
	"slices"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/oracle/packetoracle"
)

// Endpoint is the operation packet_endpoint (PKO-4, PKO-5).
var Endpoint = &conform.Op{
	Name:   "packet_endpoint",
	Doc:    "a trace of an end of the packet layer",
	Config: EndpointConfig{FragmentSize: 8, MaxFragments: 16, FragmentAbove: 8},
	Events: []conform.Kind{
		{Name: "send", Of: Send{}, Doc: "the application sends a payload"},
		{Name: "receive", Of: Receive{}, Doc: "a datagram comes"},
		{Name: "poll", Of: Poll{}, Doc: "the driver polls until no datagram comes"},
	},
	Step:    EndpointStep{},
	Words:   conform.Dialect{Event: endpointEvent, Say: endpointWords, Step: endpointSaid},
	Product: newProductEndpoint,
	Oracle:  newOracleEndpoint,
}

// EndpointConfig sets up an endpoint. The two numbers are what its counters, which never
// wrap, begin with.
type EndpointConfig struct {
	FragmentSize  int   `json:"fragment_size" range:"1 1160"`
	MaxFragments  int   `json:"max_fragments" range:"2 256"`
	FragmentAbove int   `json:"fragment_above" range:"1 1160" doc:"at least fragment_size"`
	NextToSend    int64 `json:"next_to_send" range:"0 4294967296"`
	NextToReceive int64 `json:"next_to_receive" range:"0 4294967296"`
}

// Fit cuts no payload that goes into one fragment.
func (c EndpointConfig) Fit() any {
	c.FragmentAbove = max(c.FragmentAbove, c.FragmentSize)
	return c
}

type (
	// Send sends a payload.
	Send struct {
		Payload conform.Bytes `json:"payload"`
	}
	// Receive gives the endpoint a datagram.
	Receive struct {
		Datagram conform.Bytes `json:"datagram"`
	}
	// Poll polls.
	Poll struct{}
)

// Whole is an endpoint with what the contract leaves out: rings of other sizes, both profiles,
// quiet packets, and a layer above that does not take each payload.
var Whole = &conform.Op{
	Name:   "packet_endpoint, whole",
	Config: WholeConfig{EndpointConfig: Endpoint.Config.(EndpointConfig), Profile: "default"},
	Events: append(slices.Clip(Endpoint.Events),
		conform.Kind{Name: "quiet", Of: Quiet{}, Doc: "the application sends a payload that asks for no ack"},
		conform.Kind{Name: "above", Of: Above{}, Doc: "what the layer above says from now on"}),
	Step:    EndpointStep{},
	Words:   Endpoint.Words,
	Product: newProductEndpoint,
	Oracle:  newOracleEndpoint,
}

// WholeConfig sets up an endpoint.
type WholeConfig struct {
	EndpointConfig
	Profile string `json:"profile" in:"default article"`
	Rings   int    `json:"rings" range:"0 6"`  // which of rings
	Honest  bool   `json:"honest"`             // datagrams of a conversation arrive as the other end sent them
	Held    int    `json:"held" range:"0 255"` // less 1: the bytes in reassembly beyond MAX_PACKET; 0: as usual
}

// rings are windows that a short trace passes. The first is used by all traces.
var rings = [...]packetoracle.Rings{
	{},
	{Received: 64, SentMax: 256, Reassembly: 2, ReassemblyPackets: 2},
	{Received: 64, SentMax: 256, Reassembly: 32, ReassemblyPackets: 32},
	{Received: 128, SentMax: 512, Reassembly: 1, ReassemblyPackets: 1},
	{SequenceBits: 5, Received: 4, SentMax: 8, Reassembly: 2, ReassemblyPackets: 1},
	{SequenceBits: 8, Received: 64, SentMax: 16, Reassembly: 8, ReassemblyPackets: 2},
	{Received: 16384, SentMax: 16384, Reassembly: 8192, ReassemblyPackets: 3},
}

// Fit cuts no payload that goes into one fragment.
func (c WholeConfig) Fit() any {
	c.EndpointConfig = c.EndpointConfig.Fit().(EndpointConfig)
	return c
}

// whole is what a configuration of either operation means, for the oracle.
func whole(config any) (c packetoracle.Config, ok bool) {
	w, is := config.(WholeConfig)
	if !is {
		w.EndpointConfig, w.Profile = config.(EndpointConfig), "default"
	}
	c = packetoracle.Config{
		Limits:        packetoracle.Limits{FragmentSize: w.FragmentSize, MaxFragments: w.MaxFragments},
		FragmentAbove: w.FragmentAbove, NextToSend: w.NextToSend, NextToReceive: w.NextToReceive,
		Profile: w.Profile, Rings: rings[w.Rings],
	}
	if w.Held > 0 {
		c.ReassemblyBytes = c.MaxPacket() + w.Held - 1
	}
	return c, w.FragmentAbove >= w.FragmentSize
}

type (
	// Quiet sends a payload quietly.
	Quiet struct {
		Payload conform.Bytes `json:"payload"`
	}
	// Above says what becomes of payloads.
	Above struct {
		Says string `json:"says" in:"take quietly refuse"`
	}
)

// EndpointStep is what an endpoint did.
type EndpointStep struct {
	Datagrams []conform.Bytes              `json:"datagrams" pattern:"^([0-9a-f]{2})+$"`
	Delivered conform.Opt[Delivered]       `json:"delivered"`
	Acked     []uint16                     `json:"acked"`
	Lost      []uint16                     `json:"lost"`
	Refused   conform.Opt[conform.Refused] `json:"refused"`
}

// Delivered is a payload that was given up.
type Delivered struct {
	Sequence uint16        `json:"sequence"`
	Payload  conform.Bytes `json:"payload" size:"1 1048576"`
}

// Congestion is the operation packet_congestion (PKO-6).
var Congestion = &conform.Op{
	Name:    "packet_congestion",
	Doc:     "a trace of congestion avoidance",
	Config:  CongestionConfig{Profile: "article"},
	Events:  []conform.Kind{{Of: Conditions{}, Doc: "the conditions at a time"}},
	Step:    CongestionStep{},
	Words:   conform.Dialect{Event: congestionEvent, Say: congestionWords, Step: congestionSaid},
	Product: newProductCongestion,
	Oracle:  newOracleCongestion,
}

// CongestionConfig is a profile.
type CongestionConfig struct {
	Profile string `json:"profile" in:"article default"`
}

// Conditions are those that are evaluated.
type Conditions struct {
	SRTT   conform.Opt[int64] `json:"srtt" range:"0 1099511627776" unit:"us" doc:"null while nothing is measured"`
	Silent bool               `json:"silent"`
	MinRTT conform.Opt[int64] `json:"min_rtt,omitzero" range:"0 1099511627776" unit:"us" doc:"0 if it is absent"`
}

// CongestionStep is the state after them.
type CongestionStep struct {
	Mode     string `json:"mode" in:"good bad"`
	Recovery int64  `json:"recovery" range:"1000000 60000000"`
}
