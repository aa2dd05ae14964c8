package port

import (
	"encoding/hex"
	"errors"
	"math"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/formats"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file has the operations that encode and decode: JSON becomes values, and values JSON, by the
// layouts of the formats; the bytes are the packages'.

// answered is a response with values.
func answered(o layout.Object) layout.Object {
	return append(layout.Object{{Name: "ok", Value: true}}, o...)
}

// encoded is a response with bytes.
func encoded(b []byte, err error) (any, error) {
	return answered(layout.Object{{Name: "hex", Value: hex.EncodeToString(b)}}), refused(err)
}

// refused is a refusal with its place.
func refused(err error) error {
	if f := formats.FaultOf(err); f != nil {
		return placed{f.Code, f.At}
	}
	return err
}

// encode encodes the values of an object, such as a record (CHO-4), by a layout.
func (o *object) encode(name string, p layout.Parameters) (any, error) {
	v, err := layout.FromJSON(name, o.fields, p)
	if err != nil {
		o.bad()
	}
	if *o.err != nil {
		return nil, *o.err
	}
	return encoded(o.codecs[name].Encode(v, p))
}

// decode decodes the bytes of a request by a layout.
func (o *object) decode(name string, p layout.Parameters, given layout.Values) (layout.Object, error) {
	b := o.hex("hex")
	if *o.err != nil {
		return nil, *o.err
	}
	v, err := o.codecs[name].Decode(b, p, given)
	if err != nil {
		return nil, err
	}
	return layout.JSON(name, v, p), nil
}

// member is a response with values in a member.
func member(name string, o layout.Object) any {
	return answered(layout.Object{{Name: name, Value: o}})
}

// encodeChunk encodes the packet of a request.
func encodeChunk(q *object, name string, p layout.Parameters) (any, error) {
	packet := q.object("packet")
	v, err := layout.FromJSON(datagramOf[name], packet.fields, p) // which has the type
	if err != nil {
		q.bad()
	}
	if *q.err != nil {
		return nil, *q.err
	}
	b, err := q.codecs[name].Encode(v, p)
	if err != nil {
		return nil, err // whose place is not told
	}
	return encoded(b, nil)
}

// datagramOf is the layout with a type of each layout of chunks.
var datagramOf = map[string]string{
	"chunk-datagram": "chunk-datagram", "chunk-body": "chunk-datagram", "repair-datagram": "repair-datagram", "repair-body": "repair-datagram",
}

// decodeChunk decodes a datagram, or a bare body of a type.
func decodeChunk(q *object, name, kind string, p layout.Parameters) (any, error) {
	b := q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	v, err := q.codecs[name].Decode(b, p, layout.Values{"type": kind})
	if err != nil {
		return nil, err
	}
	return member("packet", layout.JSON(datagramOf[name], v, p)), nil
}

// protocolID is no field of a packet: one that is out of range is a bad request.
func (o *object) protocolID() layout.Parameters {
	return layout.Parameters{"PROTOCOL_ID": o.within("protocol_id", 0, math.MaxUint32)}
}

// bodyType reads the type of a bare body.
func (o *object) bodyType() string {
	kind := o.text("type")
	if kind != contract.TypeSlice && kind != contract.TypeAck {
		o.bad()
	}
	return kind
}

func encodeBody(q *object) (any, error)   { return encodeChunk(q, "chunk-body", nil) }
func encodePacket(q *object) (any, error) { return encodeChunk(q, "chunk-datagram", q.protocolID()) }
func decodeBody(q *object) (any, error)   { return decodeChunk(q, "chunk-body", q.bodyType(), nil) }
func decodePacket(q *object) (any, error) {
	return decodeChunk(q, "chunk-datagram", "", q.protocolID())
}

// repairEncode encodes a packet: a datagram if there is a protocol id (RPO-4).
func repairEncode(q *object) (any, error) {
	if q.has("protocol_id") {
		return encodeChunk(q, "repair-datagram", q.protocolID())
	}
	return encodeChunk(q, "repair-body", nil)
}

// repairDecode decodes a datagram if there is a protocol id, else a body.
func repairDecode(q *object) (any, error) {
	if q.has("protocol_id") {
		return decodeChunk(q, "repair-datagram", "", q.protocolID())
	}
	return decodeChunk(q, "repair-body", q.bodyType(), nil)
}

// packetHeader encodes a header (PKT-1, PKT-2).
func packetHeader(q *object) (any, error) { return q.encode("packet-header", nil) }

// packetDecode decodes a datagram (PKO-3). A decoder alone also takes one fragment at most
// (PKP-1).
func packetDecode(q *object) (any, error) {
	o, err := q.decode("packet", layout.Parameters{
		"FRAGMENT_SIZE": q.within("fragment_size", 1, 1160), "MAX_FRAGMENTS": q.within("max_fragments", 1, 256),
	}, nil)
	return member("packet", o), refused(err)
}

// anyChannel is the format of the operations that have no channels of their own (CHO-3).
var anyChannel = channel.Format{Window: 16384}

// recordsEncode encodes a row of records (CHR-7, CHO-2, CHO-4, CHO-6).
func recordsEncode(q *object) (any, error) { return q.encode("channel-payload", nil) }

// recordsDecode decodes a payload (CHR-2, CHO-2, CHO-3).
func recordsDecode(q *object) (any, error) {
	o, err := q.decode("channel-payload", nil, nil)
	return answered(o), refused(err)
}

// channelReport encodes the report of a set (CHO-5, CHO-6).
func channelReport(q *object) (any, error) {
	id, base, room := q.channel(), q.number("base"), q.anyInt("room")
	missing := ascending(q, uint16(base))
	if *q.err != nil {
		return nil, *q.err
	}
	r := channel.NewReport(id, uint16(base), room, missing)
	payload, err := anyChannel.Append(nil, &r)
	var e *core.Error
	if base != int64(uint16(base)) && (!errors.As(err, &e) || e.Place() >= 2) {
		return nil, placed{invalidField, 2}
	}
	return encoded(payload, err)
}

// payloadParameters reads the lanes of a connection, and their variant and the extensions if they are
// there (RPO-9).
func (o *object) payloadParameters() layout.Parameters {
	return layout.Parameters{
		"LANES": o.within("lanes", 0, 16), "REPAIR": int64(o.variant() - 1), "MARKS": int64(o.extensions() & contract.ExtensionECN),
	}
}

// connectionEncode encodes a row of records (CXR-8, CXO-11).
func connectionEncode(q *object) (any, error) {
	return q.encode("connection-payload", q.payloadParameters())
}

// connectionDecode decodes a payload (CXR-5, CXO-11).
func connectionDecode(q *object) (any, error) {
	o, err := q.decode("connection-payload", q.payloadParameters(), nil)
	return answered(o), refused(err)
}

// sessionEncode encodes a message (CXO-3). Data is only decoded: its members are not read.
func sessionEncode(q *object) (any, error) {
	m := q.object("message")
	if m.text("type") == contract.MessageData {
		return encoded(q.codecs["session-message"].Encode(layout.Values{"type": contract.MessageData}, nil))
	}
	return m.encode("session-message", nil)
}

// sessionDecode decodes a datagram.
func sessionDecode(q *object) (any, error) {
	o, err := q.decode("session-message", nil, nil)
	return member("message", o), refused(err)
}
