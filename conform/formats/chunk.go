package formats

import (
	"maps"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/layout"
)

// chunks are the datagrams of chunks with slices of a kind.
func chunks(kind codec.Kind) Format {
	framer := func(p layout.Parameters) codec.Framer {
		return kind.Framer(uint32(parameter(p, "PROTOCOL_ID")))
	}
	return Format{func(b []byte, p layout.Parameters, _ layout.Values) (layout.Values, error) {
		d, err := framer(p).Decode(b)
		return ofChunk(d), err
	}, func(v layout.Values, p layout.Parameters) ([]byte, error) {
		to, err := chunk(v)
		if err != nil {
			return nil, err
		}
		return framer(p).Append(nil, to)
	}}
}

// bodies are bare bodies, whose type is given.
func bodies(kind codec.Kind) Format {
	return Format{func(b []byte, _ layout.Parameters, given layout.Values) (layout.Values, error) {
		var d codec.Packet
		var err error
		if given["type"] == "ack" {
			d.Type = codec.TypeAck
			d.Ack, err = kind.DecodeAckBody(b)
		} else {
			d.Slice, err = kind.DecodeSliceBody(b)
		}
		return ofChunk(d), err
	}, func(v layout.Values, _ layout.Parameters) ([]byte, error) {
		to, err := chunk(v)
		switch {
		case err != nil:
			return nil, err
		case to.Type == codec.TypeAck:
			return kind.AppendAckBody(nil, to.Ack)
		}
		return kind.AppendSliceBody(nil, to.Slice)
	}}
}

// chunk is the slice or the ack of values.
func chunk(v layout.Values) (to codec.Packet, err error) {
	fits := false
	switch v["type"] {
	case "slice":
		fits = layout.Names{}.Put(v, &to.Slice)
	case "ack":
		to.Type = codec.TypeAck
		fits = layout.Names{}.Put(v, &to.Ack)
	}
	if !fits {
		err = codec.ErrInvalidField
	}
	return to, err
}

func ofChunk(of codec.Packet) layout.Values {
	v := layout.Values{"type": of.Type.String()}
	if of.Type == codec.TypeAck {
		maps.Copy(v, layout.Names{}.Get(of.Ack))
	} else {
		maps.Copy(v, layout.Names{}.Get(of.Slice))
	}
	return v
}
