package port

import (
	"encoding/hex"
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// chunkOperations are the chunk protocol's.
var chunkOperations = map[string]operation{
	contract.OpEncodeBody: encodeBody, contract.OpDecodeBody: decodeBody,
	contract.OpEncodePacket: encodePacket, contract.OpDecodePacket: decodePacket,
	contract.OpSender: sender, contract.OpReceiver: receiver,
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

func decodeBody(q *object) (any, error) {
	kind, body := q.text("type"), q.hex("hex")
	if kind != contract.TypeSlice && kind != contract.TypeAck {
		q.bad()
	}
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

// protocolID is no field of a packet: one that is out of range is a bad request.
func (o *object) protocolID() uint32 { return uint32(o.within("protocol_id", 0, math.MaxUint32)) }

func encoded(b []byte, err error) (any, error) {
	text := hex.EncodeToString(b)
	return contract.Response{Answer: contract.Answer{OK: true}, Hex: &text}, err
}

func decoded(p codec.Packet, err error) (any, error) {
	return contract.Response{Answer: contract.Answer{OK: true}, Packet: contract.PacketOf(p)}, err
}

// packetOf returns the packet of a request. It is a bad request before it is one
// that cannot be represented.
func packetOf(q *object) (p codec.Packet, err error) {
	o := q.object("packet")
	switch o.text("type") {
	case contract.TypeSlice:
		p, err = sliceOf(o)
	case contract.TypeAck:
		p, err = ackOf(o)
	default:
		err = codec.ErrInvalidField
	}
	if *q.err != nil {
		return p, *q.err
	}
	return p, err
}

func sliceOf(o *object) (codec.Packet, error) {
	chunkID, sliceID, numSlices, data := o.number("chunk_id"), o.number("slice_id"), o.number("num_slices"), o.hex("data")
	if chunkID != int64(uint16(chunkID)) || sliceID < 0 || sliceID > codec.MaxSlices || numSlices < 0 || numSlices > codec.MaxSlices {
		return codec.Packet{}, codec.ErrInvalidField
	}
	return codec.Packet{Slice: codec.Slice{ChunkID: uint16(chunkID), SliceID: int(sliceID), NumSlices: int(numSlices), Data: data}}, nil
}

func ackOf(o *object) (codec.Packet, error) {
	chunkID := o.number("chunk_id")
	set, n, err := contract.ParseBits(o.text("acked"))
	if chunkID != int64(uint16(chunkID)) {
		err = codec.ErrInvalidField
	}
	return codec.Packet{Type: codec.TypeAck, Ack: codec.Ack{ChunkID: uint16(chunkID), NumSlices: n, Acked: set}}, err
}
