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
		return ofChunk(d.Type, d, err)
	}, func(v layout.Values, p layout.Parameters) ([]byte, error) {
		to, err := chunk(v)
		if err != nil {
			return nil, err
		}
		size := func() int {
			size, most := to.Slice.DatagramSize(), codec.MaxDatagramSize
			if to.Type == codec.TypeAck {
				size, most = kind.AckSize(to.Ack.NumSlices), codec.MaxAckSize
			}
			if size > most || codec.CheckSize(size) != nil {
				return -1
			}
			return size
		}
		return encoder{append: func(dst []byte) ([]byte, error) { return framer(p).Append(dst, to) }, check: valid(kind, &to), size: size, spares: true}.behind()
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
		is := d.Type
		d.Type = 0 // which is given
		return ofChunk(is, d, err)
	}, func(v layout.Values, _ layout.Parameters) ([]byte, error) {
		to, err := chunk(v)
		if err != nil {
			return nil, err
		}
		append := func(dst []byte) ([]byte, error) {
			if to.Type == codec.TypeAck {
				return kind.AppendAckBody(dst, to.Ack)
			}
			return kind.AppendSliceBody(dst, to.Slice)
		}
		return encoder{append: append, check: valid(kind, &to), spares: true}.behind()
	}}
}

// valid is the codec's own check of a slice or an ack.
func valid(kind codec.Kind, p *codec.Packet) func() error {
	return func() error {
		switch p.Type {
		case codec.TypeSlice:
			return kind.ValidateSlice(&p.Slice)
		case codec.TypeAck:
			return kind.ValidateAck(&p.Ack)
		}
		return codec.ErrInvalidField
	}
}

// chunk is the slice or the ack of values.
func chunk(v layout.Values) (to codec.Packet, err error) {
	fits := true
	switch v["type"] {
	case "slice":
		fits = layout.Names{}.Put(v, &to.Slice)
	case "ack":
		to.Type = codec.TypeAck
		fits = layout.Names{}.Put(v, &to.Ack)
	default:
		to.Type = codec.TypeAck + 1 // as wrong
	}
	if !fits {
		err = codec.ErrInvalidField
	}
	return to, err
}

// ofChunk is what a decoder returned, of a type. Data have no room behind them: that is the caller's datagram.
func ofChunk(kind codec.Type, of codec.Packet, err error) (layout.Values, error) {
	if cap(of.Slice.Data) != len(of.Slice.Data) {
		return nil, broken("its data have room behind them")
	}
	v := layout.Values{"type": kind.String()}
	if kind == codec.TypeAck {
		maps.Copy(v, layout.Names{}.Get(of.Ack))
	} else {
		maps.Copy(v, layout.Names{}.Get(of.Slice))
	}
	return refused(v, of, err)
}
