package connection_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
)

var (
	twoLanes = connection.Format{Lanes: 2}
	repaired = connection.Format{Lanes: 2, Repair: true}
	marked   = connection.Format{Lanes: 2, ECN: true}
)

// An encoder refuses what a decoder would, and changes nothing (CXR-8).
func TestRecordsThatCannotBeEncoded(t *testing.T) {
	close := connection.Record{Type: connection.TypeClose}
	for _, c := range []struct {
		name   string
		before string
		r      connection.Record
		want   error
		place  int
	}{
		{"type", "", connection.Record{Type: 6}, connection.ErrUnknownRecord, 0},
		{"marks that were not agreed", "", connection.Record{Type: connection.TypeECN}, connection.ErrUnknownRecord, 0},
		{"close behind another", "0000", close, connection.ErrNotAlone, 2},
		{"text too long", "", connection.Record{Type: connection.TypeClose, Text: make([]byte, 129)}, connection.ErrLength, 3},
		{"text not UTF-8", "", connection.Record{Type: connection.TypeClose, Text: []byte{0xc3}}, connection.ErrText, 4},
		{"lane", "00", connection.Record{Type: connection.TypeSlice, Lane: 2}, connection.ErrLane, 2},
		{"lane below 0", "00", connection.Record{Type: connection.TypeChunkAck, Lane: -1}, connection.ErrLane, 2},
		{"slice", "00", connection.Record{Type: connection.TypeSlice}, connection.ErrInvalidField, 3},
		{"ack", "00", connection.Record{Type: connection.TypeChunkAck}, connection.ErrInvalidField, 4},
	} {
		before := check.Must(hex.DecodeString(c.before))
		for _, format := range []connection.Format{twoLanes, repaired} {
			got, err := format.Append(before, &c.r)
			check.That(t, errors.Is(err, c.want), c.name)
			var e *connection.Error
			check.That(t, errors.As(err, &e) && e.Place() == c.place, c.name)
			check.Bytes(t, c.name, got, before)
		}
	}
}

// drawRecord draws a record that is sound.
func drawRecord(t *rapid.T, format connection.Format) (r connection.Record) {
	types := []connection.Type{connection.TypeClose, connection.TypeSlice, connection.TypeChunkAck}
	if format.ECN {
		types = append(types, connection.TypeECN)
	}
	r.Type = rapid.SampledFrom(types).Draw(t, "type")
	n := rapid.IntRange(1, codec.MaxSlices).Draw(t, "slices")
	switch r.Type {
	case connection.TypeClose:
		r.Code = rapid.Uint16().Draw(t, "code")
		r.Text = []byte(rapid.StringN(0, 30, 120).Draw(t, "text"))
		return r
	case connection.TypeECN:
		r.Marks = connection.Marks{Arrived: rapid.Uint16().Draw(t, "arrived"), Congested: rapid.Uint16().Draw(t, "congested")}
		return r
	case connection.TypeSlice:
		if format.Repair {
			r.Slice = drawRepair(t, n)
			break
		}
		r.Slice = codec.Slice{ChunkID: rapid.Uint16().Draw(t, "chunk"), SliceID: rapid.IntRange(0, n-1).Draw(t, "slice"), NumSlices: n}
		size := codec.SliceSize
		if r.Slice.Last() {
			size = rapid.IntRange(1, codec.SliceSize).Draw(t, "size")
		}
		r.Slice.Data = content(size, 3)
	case connection.TypeChunkAck:
		if format.Repair {
			r.Ack = codec.Ack{ChunkID: rapid.Uint16().Draw(t, "chunk"), NumSlices: n, Have: rapid.IntRange(0, n).Draw(t, "have"), Top: rapid.IntRange(0, erasure.MaxIDs-1).Draw(t, "top")}
			break
		}
		r.Ack = codec.Ack{ChunkID: rapid.Uint16().Draw(t, "chunk"), NumSlices: n, Acked: core.FirstN(rapid.IntRange(0, n).Draw(t, "acked"))}
	}
	r.Lane = rapid.IntRange(0, 1).Draw(t, "lane")
	return r
}

func drawRepair(t *rapid.T, n int) codec.Slice {
	s := codec.Slice{
		ChunkID: rapid.Uint16().Draw(t, "chunk"), SliceID: rapid.IntRange(0, erasure.MaxIDs-1).Draw(t, "id"),
		NumSlices: n, LastBytes: rapid.IntRange(1, codec.SliceSize).Draw(t, "last bytes"),
	}
	size := codec.SliceSize
	if n == 1 || s.SliceID == n-1 {
		size = s.LastBytes
	}
	s.Data = content(size, 3)
	return s
}

// What is encoded decodes to the same record, and nothing but that decodes to it (CXR-7).
func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]connection.Format{twoLanes, repaired, marked}).Draw(t, "format")
		r := drawRecord(t, format)
		b := check.Must(format.Append(nil, &r))
		var back connection.Record
		next := check.Must(format.Decode(b, 0, &back))
		check.Equal(t, "end", next, len(b))
		check.Equal(t, "record", back, r)
		damaged := bytes.Clone(b)
		damaged[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if next, err := format.Decode(damaged, 0, &back); err == nil {
			check.Bytes(t, "its one encoding", check.Must(format.Append(nil, &back)), damaged[:next])
		}
	})
}

// Any bytes are one record in its one encoding, or refused for a reason; nothing is allocated
// for that.
func TestAnyBytesAreOneRecordOrNone(t *testing.T) {
	var r connection.Record
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]connection.Format{twoLanes, repaired, marked}).Draw(t, "format")
		b := rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes")
		if len(b) > 0 && rapid.Bool().Draw(t, "plausible") {
			b[0] = 7 + b[0]%4
		}
		at := rapid.IntRange(0, len(b)).Draw(t, "at")
		next, err := format.Decode(b, at, &r)
		if err == nil {
			check.Bytes(t, "its one encoding", check.Must(format.Append(b[:at:at], &r)), b[:next])
		}
		check.Equal(t, "allocations", testing.AllocsPerRun(1, func() { _, _ = format.Decode(b, at, &r) }), 0)
	})
}
