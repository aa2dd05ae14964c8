package port

import (
	"errors"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/layout"
	"github.com/chunkwire/chunkwire/core"
)

// code encodes or decodes: JSON becomes values, and values JSON, by the layouts of the formats; the bytes
// are the packages'.
func code(c Code, q *object) (any, error) {
	in, err := c.In(q.fields)
	if err != nil {
		return nil, err
	}
	if c.Decodes {
		b, given, err := c.Bytes(q.fields)
		if err != nil {
			return nil, err
		}
		v, err := q.codecs[c.Layout].Decode(b, in, given)
		if err != nil {
			return nil, err
		}
		return c.Decoded(v, in), nil
	}
	v, err := c.Values(q.fields, in)
	if err != nil {
		return nil, err
	}
	return encoded(q.codecs[c.Layout].Encode(v, in))
}

// encoded is a response with bytes.
func encoded(b []byte, err error) (any, error) {
	return layout.Object{{Name: "ok", Value: true}, {Name: "hex", Value: conform.Bytes(b)}}, err
}

// anyChannel is the format of the operations that have no channels of their own (CHO-3).
var anyChannel = channel.Format{Window: 16384}

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
		return nil, &layout.Fault{Code: "invalid_field", At: 2}
	}
	return encoded(payload, err)
}
