package port

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

// The contract's errors that are not the codec's (PRT-3).
var (
	errBadRequest  = errors.New("bad_request")
	errUnsupported = errors.New("unsupported")
)

// request is a line that a port is asked. Numbers stay as they stand, since
// a wrong one is an answer's matter and not the parser's.
type request struct {
	Op         *string
	ProtocolID json.RawMessage
	Type       *string
	Hex        *string
	Packet     *packet
	Config     json.RawMessage
	Events     json.RawMessage
}

// packet is a packet in the contract's JSON (PRT-2).
type packet struct {
	Type      *string         `json:"type"`
	ChunkID   json.RawMessage `json:"chunk_id"`
	SliceID   json.RawMessage `json:"slice_id,omitempty"`
	NumSlices json.RawMessage `json:"num_slices,omitempty"`
	Data      *string         `json:"data,omitempty"`
	Acked     *string         `json:"acked,omitempty"`
}

// response is the answer to a line.
type response struct {
	ID     json.RawMessage `json:"id"`
	OK     bool            `json:"ok"`
	Error  string          `json:"error,omitempty"`
	Hex    *string         `json:"hex,omitempty"`
	Packet *packet         `json:"packet,omitempty"`

	Steps *[]testvectors.Step `json:"steps,omitempty"`
}

// answer answers one line (PRT-1).
func answer(line []byte) response {
	a := response{ID: json.RawMessage("null")}
	fields, err := members(line)
	if id := fields["id"]; isInteger(id) {
		a.ID = id
	} else {
		err = errBadRequest
	}
	if err == nil {
		err = a.fill(fields)
	}
	if err != nil {
		a.Error = errorCode(err)
		return a
	}
	a.OK = true
	return a
}

// members returns the fields of a JSON object by their exact names. That of a
// struct would be found in any case.
func members(object []byte) (fields map[string]json.RawMessage, err error) {
	if err := json.Unmarshal(object, &fields); err != nil || fields == nil {
		return nil, errBadRequest
	}
	return fields, nil
}

// field reads a field if it is there.
func field[T any](fields map[string]json.RawMessage, name string, into *T) error {
	raw, ok := fields[name]
	if !ok {
		return nil
	}
	return json.Unmarshal(raw, into)
}

func errorCode(err error) string {
	var e *codec.Error
	switch {
	case errors.As(err, &e):
		return string(e.Code())
	case errors.Is(err, errUnsupported):
		return errUnsupported.Error()
	}
	return errBadRequest.Error()
}

// fill answers a request. Its op decides before its other fields are read: a
// port need not know those of an op that it does not have.
func (a *response) fill(fields map[string]json.RawMessage) error {
	var q request
	if field(fields, "op", &q.Op) != nil || q.Op == nil {
		return errBadRequest
	}
	var answer func(*response) error
	switch *q.Op {
	case "encode_body", "encode_packet":
		answer = q.encode
	case "decode_body", "decode_packet":
		answer = q.decode
	case "sender", "receiver":
		answer = q.trace
	default:
		return errUnsupported
	}
	if err := q.read(fields); err != nil {
		return err
	}
	return answer(a)
}

// read takes the fields besides the id and the op.
func (q *request) read(fields map[string]json.RawMessage) error {
	q.ProtocolID, q.Config, q.Events = fields["protocol_id"], fields["config"], fields["events"]
	var raw json.RawMessage
	err := errors.Join(field(fields, "type", &q.Type), field(fields, "hex", &q.Hex), field(fields, "packet", &raw))
	if err != nil || raw == nil || string(raw) == "null" {
		return err
	}
	fields, err = members(raw)
	if err != nil {
		return err
	}
	q.Packet = &packet{ChunkID: fields["chunk_id"], SliceID: fields["slice_id"], NumSlices: fields["num_slices"]}
	return errors.Join(field(fields, "type", &q.Packet.Type), field(fields, "data", &q.Packet.Data), field(fields, "acked", &q.Packet.Acked))
}

func (q *request) encode(a *response) error {
	if q.Packet == nil {
		return errBadRequest
	}
	var framer codec.Framer
	framed := *q.Op == "encode_packet"
	if framed {
		var err error
		if framer, err = q.framer(); err != nil {
			return err
		}
	}
	p, err := q.Packet.value()
	if err != nil {
		return err
	}
	var out []byte
	switch {
	case framed:
		out, err = framer.Append(nil, p)
	case p.Type == codec.TypeAck:
		out, err = codec.AppendAckBody(nil, p.Ack)
	default:
		out, err = codec.AppendSliceBody(nil, p.Slice)
	}
	text := hex.EncodeToString(out)
	a.Hex = &text
	if err != nil {
		a.Hex = nil
	}
	return err
}

func (q *request) decode(a *response) error {
	if q.Hex == nil {
		return errBadRequest
	}
	in, err := unhex(*q.Hex)
	if err != nil {
		return err
	}
	var p codec.Packet
	switch {
	case *q.Op == "decode_packet":
		var framer codec.Framer
		if framer, err = q.framer(); err == nil {
			p, err = framer.Decode(in)
		}
	case q.Type != nil && *q.Type == "slice":
		p.Slice, err = codec.DecodeSliceBody(in)
	case q.Type != nil && *q.Type == "ack":
		p.Type = codec.TypeAck
		p.Ack, err = codec.DecodeAckBody(in)
	default:
		return errBadRequest
	}
	if err == nil {
		a.Packet = newPacket(p)
	}
	return err
}

// framer returns the Framer for the request's protocol id, which is no field of
// a packet: a wrong one is a bad request.
func (q *request) framer() (codec.Framer, error) {
	id, err := bounded(q.ProtocolID, math.MaxUint32)
	if err != nil {
		return codec.Framer{}, errBadRequest
	}
	return codec.NewFramer(uint32(id)), nil
}

// value turns the contract's packet into the codec's. What the codec's types
// cannot hold is refused as the codec would.
func (p *packet) value() (codec.Packet, error) {
	if p.Type == nil {
		return codec.Packet{}, errBadRequest
	}
	if *p.Type != "slice" && *p.Type != "ack" {
		return codec.Packet{}, codec.ErrInvalidField
	}
	chunkID, err := bounded(p.ChunkID, math.MaxUint16)
	if err != nil {
		return codec.Packet{}, err
	}
	if *p.Type == "ack" {
		return p.ack(uint16(chunkID))
	}
	return p.slice(uint16(chunkID))
}

func (p *packet) slice(chunkID uint16) (codec.Packet, error) {
	sliceID, err := bounded(p.SliceID, codec.MaxSlices)
	numSlices, numErr := bounded(p.NumSlices, codec.MaxSlices)
	if err = errors.Join(err, numErr); err != nil {
		return codec.Packet{}, err
	}
	if p.Data == nil {
		return codec.Packet{}, errBadRequest
	}
	data, err := unhex(*p.Data)
	return codec.Packet{Slice: codec.Slice{ChunkID: chunkID, SliceID: int(sliceID), NumSlices: int(numSlices), Data: data}}, err
}

func (p *packet) ack(chunkID uint16) (codec.Packet, error) {
	if p.Acked == nil {
		return codec.Packet{}, errBadRequest
	}
	set, n, err := testvectors.ParseAcked(*p.Acked)
	return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: chunkID, NumSlices: n, Acked: set}}, err
}

func newPacket(p codec.Packet) *packet {
	name := p.Type.String()
	if p.Type == codec.TypeAck {
		text := testvectors.AckedBits(p.Ack.Acked, p.Ack.NumSlices)
		return &packet{Type: &name, ChunkID: number(int(p.Ack.ChunkID)), Acked: &text}
	}
	data := hex.EncodeToString(p.Slice.Data)
	return &packet{
		Type: &name, ChunkID: number(int(p.Slice.ChunkID)),
		SliceID: number(p.Slice.SliceID), NumSlices: number(p.Slice.NumSlices), Data: &data,
	}
}

func number(v int) json.RawMessage { return json.RawMessage(strconv.Itoa(v)) }

// bounded reads an integer from 0 to limit. A missing one, or one that is no
// integer, is a bad request; one outside is a value that no field can hold.
func bounded(raw json.RawMessage, limit int64) (int64, error) {
	v, err := integer(raw)
	if errors.Is(err, strconv.ErrRange) || err == nil && (v < 0 || v > limit) {
		return 0, codec.ErrInvalidField
	}
	return v, err
}

// isInteger reports whether a JSON value is an integer, of any size.
func isInteger(raw json.RawMessage) bool {
	_, err := integer(raw)
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// integer reads a plain JSON integer.
func integer(raw json.RawMessage) (int64, error) {
	v, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, errBadRequest
	}
	return v, err
}

// unhex reads lower-case hex.
func unhex(s string) ([]byte, error) {
	b, err := hex.DecodeString(s)
	if err != nil || strings.ToLower(s) != s {
		return nil, errBadRequest
	}
	return b, nil
}
