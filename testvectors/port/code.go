package port

import (
	"encoding/json"
	"reflect"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// Code is an operation that encodes or decodes by a layout of spec/formats.json (PRT-2).
type Code struct {
	Decodes bool
	Layout  string
	Member  string // where the values are; empty: beside the other members

	in parameters
}

// parameters are the members of a request that are no values of its layout, as they are declared.
type parameters interface{ of() layout.Parameters }

const (
	encodes = false
	decodes = true
)

// codes are the codes of all protocols (PKF-4, CHR-7, CHO-2, CHO-4, CHO-6, CXR-5, CXR-8).
var codes = map[string]Code{
	contract.OpEncodeBody:       {encodes, "chunk-body", "packet", nothing{}},
	contract.OpDecodeBody:       {decodes, "chunk-body", "packet", nothing{}},
	contract.OpEncodePacket:     {encodes, "chunk-datagram", "packet", protocolID{}},
	contract.OpDecodePacket:     {decodes, "chunk-datagram", "packet", protocolID{}},
	contract.OpRepairEncode:     {encodes, "repair-body", "packet", nothing{}},
	contract.OpRepairDecode:     {decodes, "repair-body", "packet", nothing{}},
	contract.OpPacketHeader:     {encodes, "packet-header", "", nothing{}},
	contract.OpPacketDecode:     {decodes, "packet", "packet", limits{}},
	contract.OpRecordsEncode:    {encodes, "channel-payload", "", nothing{}},
	contract.OpRecordsDecode:    {decodes, "channel-payload", "", nothing{}},
	contract.OpConnectionEncode: {encodes, "connection-payload", "", agreed{}},
	contract.OpConnectionDecode: {decodes, "connection-payload", "", agreed{}},
	contract.OpSessionEncode:    {encodes, "session-message", "message", nothing{}},
	contract.OpSessionDecode:    {decodes, "session-message", "message", nothing{}},
}

// CodeOf is the operation of a request, if it is one that encodes or decodes.
func CodeOf(q conform.Object) (c Code, is bool) {
	var op string
	_ = json.Unmarshal(q["op"], &op)
	c, is = codes[op]
	if _, is := q["protocol_id"]; is && c.Layout == "repair-body" {
		c = framed(c)
	}
	return c, is
}

// framed is the code of datagrams of an operation that has that of bodies, too (RPO-4).
func framed(c Code) Code {
	c.Layout, c.in = "repair-datagram", protocolID{}
	return c
}

type nothing struct{}

func (nothing) of() layout.Parameters { return nil }

// protocolID is no field of a packet: one that is out of range is a bad request.
type protocolID struct {
	ProtocolID uint32 `json:"protocol_id"`
}

func (q protocolID) of() layout.Parameters {
	return layout.Parameters{"PROTOCOL_ID": int64(q.ProtocolID)}
}

// limits are the limits of the packet layer (PKO-3). A decoder alone also takes one fragment at most (PKP-1).
type limits struct {
	FragmentSize int64 `json:"fragment_size" range:"1 1160"`
	MaxFragments int64 `json:"max_fragments" range:"1 256"`
}

func (q limits) of() layout.Parameters {
	return layout.Parameters{"FRAGMENT_SIZE": q.FragmentSize, "MAX_FRAGMENTS": q.MaxFragments}
}

// agreed is what both ends of a connection have agreed on (CXO-11, RPO-9).
type agreed struct {
	Lanes      int64  `json:"lanes" range:"0 16"`
	Variant    int64  `json:"variant,omitempty" range:"1 2"` // absent: 1
	Extensions uint16 `json:"extensions,omitempty"`
}

func (q agreed) of() layout.Parameters {
	return layout.Parameters{"LANES": q.Lanes, "REPAIR": q.Variant / 2, "MARKS": int64(q.Extensions & 1), "CLOCKS": int64(q.Extensions >> 1 & 1)}
}

// In are the parameters of a request.
func (c *Code) In(q conform.Object) (layout.Parameters, error) {
	in := reflect.New(reflect.TypeOf(c.in))
	if err := conform.ReadObject(q, in.Interface()); err != nil {
		return nil, err
	}
	return in.Elem().Interface().(parameters).of(), nil
}

// datagram is what a decoder is asked for, and body what it is of a bare body, whose type is given.
type (
	datagram struct {
		Hex conform.Bytes `json:"hex" size:"0 1073741824"`
	}
	body struct {
		Type string `json:"type" in:"slice ack"`
	}
)

// bytes are those that a request wants decoded. Of a bare body the type is given.
func (c *Code) bytes(q conform.Object) (b []byte, given layout.Values, err error) {
	var in datagram
	if err = conform.ReadObject(q, &in); err != nil || !c.isBody() {
		return []byte(in.Hex), nil, err
	}
	var bare body
	err = conform.ReadObject(q, &bare)
	return []byte(in.Hex), layout.Values{"type": bare.Type}, err
}

func (c *Code) isBody() bool { return c.Layout == "chunk-body" || c.Layout == "repair-body" }

// json is the layout of the values in JSON, which have their type.
func (c *Code) json() string {
	switch c.Layout {
	case "chunk-body":
		return "chunk-datagram"
	case "repair-body":
		return "repair-datagram"
	}
	return c.Layout
}

// values are those that a request wants encoded.
func (c *Code) values(q conform.Object, in layout.Parameters) (layout.Values, error) {
	if c.Member != "" {
		var members conform.Object
		if json.Unmarshal(q[c.Member], &members) != nil || members == nil {
			return nil, conform.ErrBadRequest
		}
		q = members
	}
	if c.Layout == "session-message" && string(q["type"]) == `"data"` {
		return layout.Values{"type": "data"}, nil // which is only decoded: its members are not read (CXO-3)
	}
	v, err := layout.FromJSON(c.json(), q, in)
	if err != nil {
		return nil, conform.ErrBadRequest
	}
	return v, nil
}

// decoded is the response with values.
func (c *Code) decoded(v layout.Values, in layout.Parameters) layout.Object {
	o := layout.JSON(c.json(), v, in)
	if c.Member != "" {
		o = layout.Object{{Name: c.Member, Value: o}}
	}
	return append(layout.Object{{Name: "ok", Value: true}}, o...)
}

// answer encodes or decodes: JSON becomes values, and values JSON, by the layouts of the formats; the bytes
// are the codec's.
func (c *Code) answer(q conform.Object, codec formats.Format) (any, error) {
	in, err := c.In(q)
	if err != nil {
		return nil, err
	}
	if c.Decodes {
		b, given, err := c.bytes(q)
		if err != nil {
			return nil, err
		}
		v, err := codec.Decode(b, in, given)
		if err != nil {
			return nil, err
		}
		return c.decoded(v, in), nil
	}
	v, err := c.values(q, in)
	if err != nil {
		return nil, err
	}
	return encoded(codec.Encode(v, in))
}
