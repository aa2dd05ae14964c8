package port

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"math"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// This file has the operations that encode and decode. What is in JSON is read and written by the
// layouts of the formats; the bytes are the packages'.

// values reads the values of a layout, such as a record (CHO-4).
func (o *object) values(name string, p layout.Parameters) layout.Values {
	v, err := layout.FromJSON(name, o.fields, p)
	if err != nil {
		o.bad()
	}
	return v
}

// answered is a response with values.
func answered(o layout.Object) layout.Object {
	return append(layout.Object{{Name: "ok", Value: true}}, o...)
}

// encoded is a response with bytes.
func encoded(b []byte, err error) (any, error) {
	return answered(layout.Object{{Name: "hex", Value: hex.EncodeToString(b)}}), err
}

// refused is a refusal with its place.
func refused(err error) error {
	var e *core.Error
	if errors.As(err, &e) {
		return placed{string(e.Code()), e.Place()}
	}
	return err
}

// typeOf is the number of the type of a record: if it has none, one that no encoder knows.
func typeOf(name string, v layout.Values) uint8 {
	text, _ := v["type"].(string)
	if n, ok := layout.Number(name, "type", text); ok {
		return uint8(n)
	}
	return math.MaxUint8
}

// chunkOf reads a slice or an ack of a request into those that are given.
func chunkOf(q *object, name string, slice, ack any) (kind string, err error) {
	v := q.object("packet").values(name, nil)
	if *q.err != nil {
		return "", *q.err
	}
	kind, _ = v["type"].(string)
	to, known := map[string]any{contract.TypeSlice: slice, contract.TypeAck: ack}[kind]
	if !known || !(layout.Names{}).Put(v, to) {
		return kind, codec.ErrInvalidField
	}
	return kind, nil
}

// chunkAnswer is a slice or an ack of a response.
func chunkAnswer(name, kind string, of any) any {
	v := layout.Names{}.Get(of)
	v["type"] = kind
	return answered(layout.Object{{Name: "packet", Value: layout.JSON(name, v, nil)}})
}

// protocolID is no field of a packet: one that is out of range is a bad request.
func (o *object) protocolID() uint32 { return uint32(o.within("protocol_id", 0, math.MaxUint32)) }

func packetOf(q *object) (p codec.Packet, err error) {
	kind, err := chunkOf(q, "chunk-datagram", &p.Slice, &p.Ack)
	if kind == contract.TypeAck {
		p.Type = codec.TypeAck
	}
	return p, err
}

func encodeBody(q *object) (any, error) {
	p, err := packetOf(q)
	switch {
	case err != nil:
		return nil, err
	case p.Type == codec.TypeAck:
		return encoded(codec.Named.AppendAckBody(nil, p.Ack))
	}
	return encoded(codec.Named.AppendSliceBody(nil, p.Slice))
}

func encodePacket(q *object) (any, error) {
	id := q.protocolID()
	p, err := packetOf(q)
	if err != nil {
		return nil, err
	}
	return encoded(codec.NewFramer(id).Append(nil, p))
}

// bodyType reads the type of a bare body.
func (o *object) bodyType() string {
	kind := o.text("type")
	if kind != contract.TypeSlice && kind != contract.TypeAck {
		o.bad()
	}
	return kind
}

func decodeBody(q *object) (any, error) {
	kind, body := q.bodyType(), q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	if kind == contract.TypeAck {
		a, err := codec.Named.DecodeAckBody(body)
		return decoded(codec.Packet{Type: codec.TypeAck, Ack: a}, err)
	}
	s, err := codec.Named.DecodeSliceBody(body)
	return decoded(codec.Packet{Type: codec.TypeSlice, Slice: s}, err)
}

func decodePacket(q *object) (any, error) {
	id, datagram := q.protocolID(), q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	return decoded(codec.NewFramer(id).Decode(datagram))
}

func decoded(p codec.Packet, err error) (any, error) {
	if p.Type == codec.TypeAck {
		return chunkAnswer("chunk-datagram", contract.TypeAck, p.Ack), err
	}
	return chunkAnswer("chunk-datagram", contract.TypeSlice, p.Slice), err
}

// framed reads the protocol id of a request that may have one.
func (o *object) framed() (framed bool, id uint32) {
	if !o.has("protocol_id") {
		return false, 0
	}
	return true, o.protocolID()
}

// repairEncode encodes a packet: a datagram if there is a protocol id (RPO-4).
func repairEncode(q *object) (any, error) {
	framed, id := q.framed()
	var p codec.Packet
	kind, err := chunkOf(q, "repair-datagram", &p.Slice, &p.Ack)
	if kind == contract.TypeAck {
		p.Type = codec.TypeAck
	}
	switch {
	case err != nil:
		return nil, err
	case framed:
		return encoded(codec.Repair.Framer(id).Append(nil, p))
	case p.Type == codec.TypeAck:
		return encoded(codec.Repair.AppendAckBody(nil, p.Ack))
	}
	return encoded(codec.Repair.AppendSliceBody(nil, p.Slice))
}

// repairDecode decodes a datagram if there is a protocol id, else a body.
func repairDecode(q *object) (any, error) {
	framed, id := q.framed()
	b, kind := q.hex("hex"), ""
	if !framed {
		kind = q.bodyType()
	}
	if *q.err != nil {
		return nil, *q.err
	}
	p := codec.Packet{Type: codec.TypeSlice}
	var err error
	switch kind {
	case contract.TypeAck:
		p.Type = codec.TypeAck
		p.Ack, err = codec.Repair.DecodeAckBody(b)
	case contract.TypeSlice:
		p.Slice, err = codec.Repair.DecodeSliceBody(b)
	default:
		p, err = codec.Repair.Framer(id).Decode(b)
	}
	if p.Type == codec.TypeAck {
		return chunkAnswer("repair-datagram", contract.TypeAck, p.Ack), err
	}
	return chunkAnswer("repair-datagram", contract.TypeSlice, p.Slice), err
}

// packetHeader encodes a header (PKT-1, PKT-2).
func packetHeader(q *object) (any, error) {
	v := q.values("packet-header", nil)
	if *q.err != nil {
		return nil, *q.err
	}
	var h packet.Header
	if !(layout.Names{}).Put(v, &h) {
		return nil, placed{invalidField, core.NoPlace}
	}
	return encoded(h.Append(nil), nil)
}

// packetDecode decodes a datagram (PKO-3). A decoder alone also takes one fragment at most
// (PKP-1).
func packetDecode(q *object) (any, error) {
	f := packet.Format{FragmentSize: q.small("fragment_size", 1, 1160), MaxFragments: q.small("max_fragments", 1, 256)}
	datagram := q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	p, err := f.Decode(datagram)
	v := layout.Names{"payload": "Data"}.Get(p)
	if v["kind"] = contract.KindRegular; p.NumFragments > 0 {
		v["kind"] = contract.KindFragment
	}
	return answered(layout.Object{{Name: "packet", Value: layout.JSON("packet", v, nil)}}), refused(err)
}

// anyChannel is the format of the operations that have no channels of their own (CHO-3).
var anyChannel = channel.Format{Window: 16384}

// channelNames are the fields of a record by the names of the layouts.
var channelNames = layout.Names{"first": "Sequence", "base": "Sequence", "next": "Sequence"}

// appendRecord appends a record of a channel, or refuses the first of its values that is wrong.
func appendRecord(payload []byte, v layout.Values) ([]byte, error) {
	var r channel.Record
	channelNames.Put(v, &r)
	r.Type = channel.Type(typeOf("channel-payload", v))
	longer, err := anyChannel.Append(payload, &r)
	invalid, is := layout.Unheld("channel-payload", layout.Values{"records": []layout.Values{v}}, nil)
	var e *channel.Error
	if is && (!errors.As(err, &e) || checkedAt(e)-len(payload) >= invalid) {
		return nil, placed{invalidField, len(payload) + invalid}
	}
	return longer, refused(err)
}

// checkedAt returns the place of the field at which a record was refused: of the base of its
// groups it is known when the first bits were read (CHR-35).
func checkedAt(e *channel.Error) int {
	if e.Code() == channel.CodeGroupBase {
		return e.Place() + 2
	}
	return e.Place()
}

// recordsEncode encodes a row of records (CHR-7, CHO-2, CHO-6).
func recordsEncode(q *object) (any, error) {
	v := q.values("channel-payload", nil)
	if *q.err != nil {
		return nil, *q.err
	}
	list := v["records"].([]layout.Values)
	if len(list) == 0 {
		return nil, placed{string(channel.CodeTruncated), 0}
	}
	var payload []byte
	for _, record := range list {
		var err error
		if payload, err = appendRecord(payload, record); err != nil {
			return nil, err
		}
	}
	return encoded(payload, nil)
}

// recordsDecode decodes a payload (CHR-2, CHO-2, CHO-3).
func recordsDecode(q *object) (any, error) {
	payload := q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	var list []layout.Values
	for at, more := 0, true; more; more = at < len(payload) {
		var r channel.Record
		var err error
		if at, err = anyChannel.Decode(payload, at, &r); err != nil {
			return nil, refused(err)
		}
		list = append(list, channelNames.Get(r))
	}
	return answered(layout.JSON("channel-payload", layout.Values{"records": list}, nil)), nil
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
	var e *channel.Error
	if base != int64(uint16(base)) && (!errors.As(err, &e) || e.Place() >= 2) {
		return nil, placed{invalidField, 2}
	}
	if err != nil {
		return nil, refused(err)
	}
	return encoded(payload, nil)
}

// connectionParameters are those of the layouts.
func connectionParameters(f connection.Format) layout.Parameters {
	bit := map[bool]int64{true: 1}
	return layout.Parameters{"LANES": int64(f.Lanes), "REPAIR": bit[f.Repair], "MARKS": bit[f.ECN]}
}

// connectionEncode encodes a row of records (CXR-8, CXO-11).
func connectionEncode(q *object) (any, error) {
	format := q.payloadFormat()
	v := q.values("connection-payload", connectionParameters(format))
	if *q.err != nil {
		return nil, *q.err
	}
	list := v["records"].([]layout.Values)
	if len(list) == 0 {
		return nil, placed{string(connection.CodeTruncated), 0}
	}
	var payload []byte
	for i, record := range list {
		err := standsAlone(list, i, len(payload))
		if err == nil {
			payload, err = appendOfConnection(format, payload, record)
		}
		if err != nil {
			return nil, err
		}
	}
	return encoded(payload, nil)
}

// standsAlone refuses a record that stands beside one which is alone or the last: an encoder of one
// record does not see the others.
func standsAlone(list []layout.Values, i, at int) error {
	switch {
	case i > 0 && list[i-1]["type"] == contract.RecordClose:
		return placed{string(connection.CodeNotAlone), at}
	case i > 0 && list[i-1]["type"] == contract.TypeSlice:
		return placed{string(codec.CodeTrailingData), at}
	case list[i]["type"] == contract.RecordPad && len(list) > 1:
		return placed{string(connection.CodeUnknownRecord), at}
	}
	return nil
}

// ofConnection are the fields of a record of a connection by the names of the layouts.
var ofConnection = layout.Names{"arrived": "Marks.Arrived", "congested": "Marks.Congested"}

func appendOfConnection(format connection.Format, payload []byte, v layout.Values) ([]byte, error) {
	r := connection.Record{Type: connection.Type(typeOf("connection-payload", v))}
	if r.Type < connection.TypeClose || r.Type > connection.TypeECN {
		return appendRecord(payload, v)
	}
	ofConnection.Put(v, &r)
	if to := chunkIn(&r); to != nil && !(layout.Names{}).Put(v, to) {
		r.Slice, r.Ack = connection.Record{}.Slice, connection.Record{}.Ack // which the encoder refuses
	}
	longer, err := format.Append(payload, &r)
	return longer, refused(err)
}

// chunkIn is the slice or the ack of a record, or nil.
func chunkIn(r *connection.Record) any {
	switch r.Type {
	case connection.TypeSlice:
		return &r.Slice
	case connection.TypeChunkAck:
		return &r.Ack
	}
	return nil
}

// connectionDecode decodes a payload (CXR-5, CXO-11).
func connectionDecode(q *object) (any, error) {
	format, payload := q.payloadFormat(), q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	var list []layout.Values
	for at, more := 0, true; more; more = at < len(payload) {
		v, next, err := recordAt(format, payload, at)
		if err != nil {
			return nil, refused(err)
		}
		list, at = append(list, v), next
	}
	return answered(layout.JSON("connection-payload", layout.Values{"records": list}, connectionParameters(format))), nil
}

func recordAt(format connection.Format, payload []byte, at int) (v layout.Values, next int, err error) {
	if !format.IsRecord(payload, at) {
		var r channel.Record
		next, err = anyChannel.Decode(payload, at, &r)
		return channelNames.Get(r), next, err
	}
	var r connection.Record
	next, err = format.Decode(payload, at, &r)
	v = ofConnection.Get(r)
	v["text"] = string(r.Text)
	if chunk := chunkIn(&r); chunk != nil {
		maps.Copy(v, layout.Names{}.Get(chunk))
	}
	return v, next, err
}

// messageNames are the fields of a message by the names of the layouts.
func messageNames(k session.Kind) layout.Names {
	if k == session.KindLink || k == session.KindProof {
		return nil
	}
	return layout.Names{"link": "Agreed.Link", "lanes": "Agreed.Lanes", "variant": "Agreed.Variant", "extensions": "Agreed.Extensions"}
}

// timeoutIn is the timeout of a message.
func timeoutIn(m *session.Message) *core.Micros {
	if m.Kind == session.KindLinked {
		return &m.Agreed.Timeout
	}
	return &m.Timeout
}

// message reads a message of the handshake. An unknown mode is none.
func (o *object) message() (m session.Message) {
	n, _ := layout.Number("session-message", "kind", o.text("type"))
	if m.Kind = session.Kind(n); m.Kind < session.KindLink {
		m.Kind = 0 // data is only decoded
		return m
	}
	v := o.values("session-message", nil)
	if *o.err != nil {
		return m
	}
	if identity, ok := v["identity"].([]byte); ok {
		m.Identity = binary.LittleEndian.Uint64(identity)
	}
	if mode, ok := v["mode"].(string); ok {
		n, _ := layout.Number("session-message", "kind", mode)
		if m.Mode = session.Mode(n); n > 0 && m.Mode > session.AEAD {
			m.Mode = 0
		}
	}
	if tenths, ok := v["timeout"].(int64); ok {
		*timeoutIn(&m) = core.Micros(tenths) * tenth
	}
	delete(v, "identity")
	delete(v, "timeout")
	messageNames(m.Kind).Put(v, &m)
	return m
}

// sessionEncode encodes a message (CXO-3).
func sessionEncode(q *object) (any, error) {
	m := q.object("message").message()
	if *q.err != nil {
		return nil, *q.err
	}
	b, err := m.Append(nil)
	return encoded(b, refused(err))
}

// sessionDecode decodes a datagram.
func sessionDecode(q *object) (any, error) {
	datagram := q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	m, err := session.Decode(datagram)
	if err != nil {
		return nil, refused(err)
	}
	v := messageNames(m.Kind).Get(m)
	v["type"], v["mode"] = layout.Name("session-message", "kind", int64(m.Kind)), m.Mode.String()
	if m.Kind < session.KindLink {
		v["type"], v["mode"] = contract.MessageData, v["type"]
	}
	v["identity"] = binary.LittleEndian.AppendUint64(nil, m.Identity)
	v["timeout"] = int64(*timeoutIn(&m) / tenth)
	return answered(layout.Object{{Name: "message", Value: layout.JSON("session-message", v, nil)}}), nil
}
