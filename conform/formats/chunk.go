package formats

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/repair"
)

// The names of slices and acks of both variants.
var (
	chunkNames  = layout.Names{}
	repairNames = layout.Names{"slice_id": "ID"}
)

// put puts values into a slice or an ack, and reports whether it is an ack.
func put(v layout.Values, names layout.Names, slice, ack any) (kind codec.Type, err error) {
	to := slice
	switch v["type"] {
	case "slice":
	case "ack":
		to, kind = ack, codec.TypeAck
	default:
		return kind, codec.ErrInvalidField
	}
	if !names.Put(v, to) {
		err = codec.ErrInvalidField
	}
	return kind, err
}

// get is the values of a slice or an ack.
func get(kind codec.Type, names layout.Names, slice, ack any) layout.Values {
	of := slice
	if kind == codec.TypeAck {
		of = ack
	}
	v := names.Get(of)
	v["type"] = kind.String()
	return v
}

func framer(p layout.Parameters) uint32 { return uint32(parameter(p, "PROTOCOL_ID")) }

func encodeChunk(v layout.Values, p layout.Parameters) (_ []byte, err error) {
	var to codec.Packet
	if to.Type, err = put(v, chunkNames, &to.Slice, &to.Ack); err != nil {
		return nil, err
	}
	return codec.NewFramer(framer(p)).Append(nil, to)
}

func decodeChunk(b []byte, p layout.Parameters, _ layout.Values) (layout.Values, error) {
	d, err := codec.NewFramer(framer(p)).Decode(b)
	return get(d.Type, chunkNames, d.Slice, d.Ack), err
}

func encodeChunkBody(v layout.Values, _ layout.Parameters) (_ []byte, err error) {
	var to codec.Packet
	if to.Type, err = put(v, chunkNames, &to.Slice, &to.Ack); err != nil {
		return nil, err
	}
	if to.Type == codec.TypeAck {
		return codec.AppendAckBody(nil, to.Ack)
	}
	return codec.AppendSliceBody(nil, to.Slice)
}

func decodeChunkBody(b []byte, _ layout.Parameters, given layout.Values) (layout.Values, error) {
	if given["type"] == "ack" {
		a, err := codec.DecodeAckBody(b)
		return get(codec.TypeAck, chunkNames, nil, a), err
	}
	s, err := codec.DecodeSliceBody(b)
	return get(codec.TypeSlice, chunkNames, s, nil), err
}

func encodeRepair(v layout.Values, p layout.Parameters) (_ []byte, err error) {
	var to repair.Packet
	if to.Type, err = put(v, repairNames, &to.Slice, &to.Ack); err != nil {
		return nil, err
	}
	return repair.NewFramer(framer(p)).Append(nil, to)
}

func decodeRepair(b []byte, p layout.Parameters, _ layout.Values) (layout.Values, error) {
	d, err := repair.NewFramer(framer(p)).Decode(b)
	return get(d.Type, repairNames, d.Slice, d.Ack), err
}

func encodeRepairBody(v layout.Values, _ layout.Parameters) (_ []byte, err error) {
	var to repair.Packet
	if to.Type, err = put(v, repairNames, &to.Slice, &to.Ack); err != nil {
		return nil, err
	}
	if to.Type == codec.TypeAck {
		return repair.AppendAckBody(nil, to.Ack)
	}
	return repair.AppendSliceBody(nil, to.Slice)
}

func decodeRepairBody(b []byte, _ layout.Parameters, given layout.Values) (layout.Values, error) {
	if given["type"] == "ack" {
		a, err := repair.DecodeAckBody(b)
		return get(codec.TypeAck, repairNames, nil, a), err
	}
	s, err := repair.DecodeSliceBody(b)
	return get(codec.TypeSlice, repairNames, s, nil), err
}
