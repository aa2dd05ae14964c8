package formats

import (
	"encoding/binary"
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
)

// Format is the codec of a package behind a layout. Its errors are those of the package, or
// *layout.Fault for values that no struct of the package holds.
type Format struct {
	Decode func(b []byte, p layout.Parameters, given layout.Values) (layout.Values, error)
	Encode func(v layout.Values, p layout.Parameters) ([]byte, error)
}

// All are the codecs by their layouts.
var All = map[string]Format{
	"chunk-datagram":     chunks(codec.Named),
	"chunk-body":         bodies(codec.Named),
	"repair-datagram":    chunks(codec.Repair),
	"repair-body":        bodies(codec.Repair),
	"packet":             {decodePacket, encodePacket},
	"packet-header":      {nil, encodeHeader},
	"channel-payload":    {decodeRecords, encodeRecords},
	"connection-payload": {decodeConnection, encodeConnection},
	"session-message":    {decodeMessage, encodeMessage},
}

// Layouts are the layouts themselves in the place of the codecs.
func Layouts() map[string]Format {
	all := map[string]Format{}
	refused := func(f *layout.Fault) error {
		if f == nil {
			return nil
		}
		return f
	}
	for name := range All {
		all[name] = Format{
			Decode: func(b []byte, p layout.Parameters, given layout.Values) (layout.Values, error) {
				v, fault := layout.Decode(name, b, p, given)
				return v, refused(fault)
			},
			Encode: func(v layout.Values, p layout.Parameters) ([]byte, error) {
				b, fault := layout.Encode(name, v, p)
				return b, refused(fault)
			},
		}
	}
	return all
}

// FaultOf is the refusal of a package, or nil.
func FaultOf(err error) *layout.Fault {
	var fault *layout.Fault
	var e *core.Error
	switch {
	case errors.As(err, &fault):
		return fault
	case errors.As(err, &e):
		return &layout.Fault{Code: string(e.Code()), Check: e.Rule(), At: e.Place()}
	}
	return nil
}

// parameter is a parameter, or that of formats.json.
func parameter(p layout.Parameters, name string) int64 {
	if v, ok := p[name].(int64); ok {
		return v
	}
	return layout.Formats().Parameters[name]
}

// typeOf is the number of the type of a record: if it has none, one that no encoder knows.
func typeOf(name string, v layout.Values) uint8 {
	text, _ := v["type"].(string)
	if n, ok := layout.Number(name, "type", text); ok {
		return uint8(n)
	}
	return math.MaxUint8
}

// anyOf are the fields of a packet of the packet layer by the names of the layouts.
var anyOf = layout.Names{"payload": "Data"}

func packetFormat(p layout.Parameters) packet.Format {
	return packet.Format{FragmentSize: int(parameter(p, "FRAGMENT_SIZE")), MaxFragments: int(parameter(p, "MAX_FRAGMENTS"))}
}

func decodePacket(b []byte, p layout.Parameters, _ layout.Values) (layout.Values, error) {
	d, err := packetFormat(p).Decode(b)
	if !decodesHeader(b, d, err) {
		return nil, broken("a header alone is another")
	}
	v := anyOf.Get(d)
	if v["kind"] = "regular"; d.NumFragments > 0 {
		v["kind"] = "fragment"
	}
	return refused(v, d, err)
}

// decodesHeader reports whether what decodes a header alone says of bytes what they are as a packet.
func decodesHeader(b []byte, d packet.Packet, err error) bool {
	h, size, alone := packet.DecodeHeader(b)
	whole, fault := FaultOf(err), FaultOf(alone)
	switch {
	case len(b) > 0 && b[0]&1 == 1: // no header begins as a fragment does
		return fault != nil && fault.Code == string(packet.CodeReservedBits) && fault.At == 0
	case whole == nil:
		return alone == nil && h == d.Header && size == len(b)-len(d.Data) && size == h.Size()
	case whole.Code == string(packet.CodeEmptyPayload) || whole.Code == string(packet.CodeTooLarge):
		return alone == nil && size == whole.At
	}
	return fault != nil && fault.Code == whole.Code && fault.At == whole.At && h == packet.Header{} && size == 0
}

func encodePacket(v layout.Values, p layout.Parameters) ([]byte, error) {
	var to packet.Packet
	if !anyOf.Put(v, &to) {
		return nil, &layout.Fault{Code: "invalid_field", Check: "PKF-4", At: core.NoPlace}
	}
	if v["kind"] == "fragment" && to.NumFragments == 0 {
		to.NumFragments = 1 // as wrong; 0 is a regular packet in the package
	}
	f := packetFormat(p)
	if to.FragmentID < 0 && (to.NumFragments < 2 || to.NumFragments > f.MaxFragments) {
		to.FragmentID = math.MaxUint8 // as wrong; the package looks at it before the number
	}
	return encoder{append: func(dst []byte) ([]byte, error) { return f.Append(dst, &to) }, check: func() error { return f.Validate(&to) }, spares: true}.behind()
}

func encodeHeader(v layout.Values, _ layout.Parameters) ([]byte, error) {
	var h packet.Header
	if !anyOf.Put(v, &h) {
		return nil, &layout.Fault{Code: "invalid_field", Check: "PKF-4", At: core.NoPlace}
	}
	return encoder{append: func(dst []byte) ([]byte, error) { return h.Append(dst), nil }, size: h.Size}.behind()
}

// channelNames are the fields of a record by the names of the layouts.
var channelNames = layout.Names{"first": "Sequence", "base": "Sequence", "next": "Sequence"}

func channelFormat(p layout.Parameters) channel.Format {
	return channel.Format{Window: int(parameter(p, "WINDOW")), Data: int(parameter(p, "DATA")), Group: int(parameter(p, "GROUP"))}
}

// appendRecord appends a record of a channel, or refuses the first of its values that is wrong.
func appendRecord(payload []byte, v layout.Values, p layout.Parameters) ([]byte, error) {
	var r channel.Record
	channelNames.Put(v, &r)
	r.Type = channel.Type(typeOf("channel-payload", v))
	longer, err := encoder{dst: payload, append: func(dst []byte) ([]byte, error) { return channelFormat(p).Append(dst, &r) }, size: r.Size, spares: true}.encoded()
	invalid, is := layout.Unheld("channel-payload", layout.Values{"records": []layout.Values{v}}, p)
	var e *channel.Error
	if is && (!errors.As(err, &e) || checkedAt(e)-len(payload) >= invalid) {
		return nil, &layout.Fault{Code: "invalid_field", Check: "CHR-13", At: len(payload) + invalid}
	}
	return longer, err
}

// checkedAt returns the place of the field at which a record was refused: of the base of its
// groups it is known when the first bits were read (CHR-35).
func checkedAt(e *channel.Error) int {
	if e.Code() == channel.CodeGroupBase {
		return e.Place() + 2
	}
	return e.Place()
}

func encodeRecords(v layout.Values, p layout.Parameters) (payload []byte, err error) {
	list := v["records"].([]layout.Values)
	if len(list) == 0 {
		return nil, &layout.Fault{Code: string(channel.CodeTruncated), Check: "CHR-20"}
	}
	for _, record := range list {
		if payload, err = appendRecord(payload, record, p); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

func decodeRecords(b []byte, p layout.Parameters, _ layout.Values) (layout.Values, error) {
	var list []layout.Values
	for at, more := 0, true; more; more = at < len(b) {
		var r channel.Record
		var err error
		if at, err = channelFormat(p).Decode(b, at, &r); err != nil {
			return nil, err
		}
		list = append(list, channelNames.Get(r))
	}
	return layout.Values{"records": list}, nil
}

func connectionFormat(p layout.Parameters) connection.Format {
	return connection.Format{Lanes: int(parameter(p, "LANES")), Repair: parameter(p, "REPAIR") == 1, ECN: parameter(p, "MARKS") == 1, Clock: parameter(p, "CLOCKS") == 1}
}

func encodeConnection(v layout.Values, p layout.Parameters) (payload []byte, err error) {
	list := v["records"].([]layout.Values)
	if len(list) == 0 {
		return nil, &layout.Fault{Code: string(connection.CodeTruncated), Check: "CXR-20"}
	}
	for i, record := range list {
		if fault := standsAlone(list, i, len(payload)); fault != nil {
			return nil, fault
		}
		if payload, err = appendOfConnection(payload, record, p); err != nil {
			return nil, err
		}
	}
	return payload, nil
}

// standsAlone refuses a record that stands beside one which is alone or the last: an encoder of one
// record does not see the others.
func standsAlone(list []layout.Values, i, at int) *layout.Fault {
	switch {
	case i > 0 && list[i-1]["type"] == "close":
		return &layout.Fault{Code: string(connection.CodeNotAlone), Check: "CXR-24", At: at}
	case i > 0 && list[i-1]["type"] == "slice":
		return &layout.Fault{Code: string(codec.CodeTrailingData), Check: "CXR-8", At: at}
	case list[i]["type"] == "pad" && len(list) > 1:
		return &layout.Fault{Code: string(connection.CodeUnknownRecord), Check: "CXR-27", At: at}
	}
	return nil
}

// ofConnection are the fields of a record of a connection by the names of the layouts.
var ofConnection = layout.Names{"arrived": "Marks.Arrived", "congested": "Marks.Congested", "sent": "Clock.Sent", "echo": "Clock.Echo", "wait": "Clock.Wait"}

func appendOfConnection(payload []byte, v layout.Values, p layout.Parameters) ([]byte, error) {
	r := connection.Record{Type: connection.Type(typeOf("connection-payload", v))}
	if r.Type < connection.TypeClose || r.Type > connection.TypeClock {
		return appendRecord(payload, v, p)
	}
	f := connectionFormat(p)
	ofConnection.Put(v, &r)
	if to := chunkIn(&r); to != nil && !(layout.Names{}).Put(v, to) {
		r.Slice, r.Ack = connection.Record{}.Slice, connection.Record{}.Ack // which the encoder refuses
	}
	return encoder{dst: payload, append: func(dst []byte) ([]byte, error) { return f.Append(dst, &r) }}.encoded()
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

func decodeConnection(b []byte, p layout.Parameters, _ layout.Values) (layout.Values, error) {
	var list []layout.Values
	for at, more := 0, true; more; more = at < len(b) {
		v, next, err := recordAt(b, at, p)
		if err != nil {
			return nil, err
		}
		list, at = append(list, v), next
	}
	return layout.Values{"records": list}, nil
}

func recordAt(b []byte, at int, p layout.Parameters) (v layout.Values, next int, err error) {
	f := connectionFormat(p)
	if !f.IsRecord(b, at) {
		var r channel.Record
		next, err = channelFormat(p).Decode(b, at, &r)
		return channelNames.Get(r), next, inConnection(err)
	}
	var r connection.Record
	next, err = f.Decode(b, at, &r)
	v = ofConnection.Get(r)
	v["text"] = string(r.Text)
	if chunk := chunkIn(&r); chunk != nil {
		maps.Copy(v, layout.Names{}.Get(chunk))
	}
	return v, next, err
}

// inConnection is the refusal of a record of a channel in the payload of a connection: two of its
// sentences are those of CONNECTION.md there (CXR-5).
func inConnection(err error) error {
	fault := FaultOf(err)
	if fault == nil {
		return err
	}
	if id := (map[string]string{"CHR-20": "CXR-20", "CHR-21": "CXR-27", "CHR-22": "CXR-20"})[fault.Check]; id != "" {
		fault.Check = id
	}
	return fault
}

// messageNames are the fields of a message by the names of the layouts.
func messageNames(k session.Kind) layout.Names {
	if k == session.KindLink || k == session.KindProof {
		return nil
	}
	return layout.Names{"link": "Agreed.Link", "lanes": "Agreed.Lanes", "variant": "Agreed.Variant", "extensions": "Agreed.Extensions"}
}

// timeoutIn is the timeout of a message, which has it in tenths of a second.
func timeoutIn(m *session.Message) *core.Micros {
	if m.Kind == session.KindLinked {
		return &m.Agreed.Timeout
	}
	return &m.Timeout
}

const tenth = core.Micros(100_000)

// encodeMessage encodes a message of the handshake. An unknown mode is none.
func encodeMessage(v layout.Values, _ layout.Parameters) ([]byte, error) {
	var m session.Message
	kind, _ := v["type"].(string)
	n, _ := layout.Number("session-message", "kind", kind)
	if m.Kind = session.Kind(n); m.Kind < session.KindLink {
		m.Kind = 0 // data is only decoded
		return m.Append(nil)
	}
	v = maps.Clone(v)
	if identity, ok := v["identity"].([]byte); ok {
		m.Identity = binary.LittleEndian.Uint64(identity)
	}
	if mode, ok := v["mode"].(string); ok {
		n, _ := layout.Number("session-message", "kind", mode)
		if m.Mode = session.Mode(n); m.Mode > session.AEAD {
			m.Mode = 0
		}
	}
	if tenths, ok := v["timeout"].(int64); ok {
		*timeoutIn(&m) = core.Micros(tenths) * tenth
	}
	delete(v, "identity")
	delete(v, "timeout")
	messageNames(m.Kind).Put(v, &m)
	return encoder{append: m.Append, spares: true}.behind()
}

func decodeMessage(b []byte, _ layout.Parameters, _ layout.Values) (layout.Values, error) {
	m, err := session.Decode(b)
	if err != nil {
		return refused(nil, m, err)
	}
	v := messageNames(m.Kind).Get(m)
	v["type"], v["mode"] = layout.Name("session-message", "kind", int64(m.Kind)), m.Mode.String()
	if m.Kind < session.KindLink {
		v["type"], v["mode"] = "data", v["type"]
	}
	v["identity"] = binary.LittleEndian.AppendUint64(nil, m.Identity)
	v["timeout"] = int64(*timeoutIn(&m) / tenth)
	return v, nil
}
