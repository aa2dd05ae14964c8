package connection_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/lanes"
	"github.com/chunkwire/chunkwire/wire"
)

var twoLanes = connection.Format{Lanes: 2}

// The examples of the document.
func TestRecordsOfTheDocument(t *testing.T) {
	for want, r := range map[string]connection.Record{
		"07000103627965":       {Type: connection.TypeClose, Code: 256, Text: []byte("bye")},
		"07000000":             {Type: connection.TypeClose, Text: []byte{}},
		"08010500020201006869": {Type: connection.TypeSlice, Lane: 1, Slice: lanes.Slice{Chunk: codec.Slice{ChunkID: 5, SliceID: 2, NumSlices: 3, Data: []byte("hi")}}},
		"09000405000205":       {Type: connection.TypeChunkAck, Ack: lanes.Ack{Chunk: codec.Ack{ChunkID: 5, NumSlices: 3, Acked: bitset.Set{5}}}},
	} {
		got := check.Must(twoLanes.Append(nil, &r))
		check.Equal(t, "bytes", hex.EncodeToString(got), want)
		var back connection.Record
		next := check.Must(twoLanes.Decode(got, 0, &back))
		check.Equal(t, "end", next, len(got))
		check.Equal(t, "record", back, r)
	}
}

// Each check, at its place (CXR-20 to CXR-27).
func TestRefusedRecords(t *testing.T) {
	long := "070001" + "81" + strings.Repeat("61", 129)
	for _, c := range []struct {
		name, hex string
		at        int // where the record begins
		code      wire.Code
		place     int
	}{
		{"no byte", "", 0, connection.CodeTruncated, 0},
		{"type 0", "00", 0, connection.CodeUnknownRecord, 0},
		{"type 6", "06", 0, connection.CodeUnknownRecord, 0},
		{"type 10", "0a", 0, connection.CodeUnknownRecord, 0},
		{"close behind another", "0000" + "07000000", 2, connection.CodeNotAlone, 2},
		{"close without code", "07", 0, connection.CodeTruncated, 1},
		{"close with half a code", "0700", 0, connection.CodeTruncated, 1},
		{"close without length", "070000", 0, connection.CodeTruncated, 3},
		{"text too long", long, 0, connection.CodeLength, 3},
		{"text too long, and not there", "07000081", 0, connection.CodeLength, 3},
		{"text not there", "0700000361", 0, connection.CodeTruncated, 4},
		{"text not UTF-8", "07000002c328", 0, connection.CodeText, 4},
		{"something behind a close", "0700000000", 0, connection.CodeNotAlone, 4},
		{"slice without lane", "08", 0, connection.CodeTruncated, 1},
		{"slice of another lane", "0802", 0, connection.CodeLane, 1},
		{"slice without body", "0801", 0, connection.CodeTruncated, 2},
		{"slice with half a chunk id", "080105", 0, connection.CodeTruncated, 2},
		{"slice beyond the chunk", "080105000302", 0, codec.CodeSliceIDOutOfRange, 4},
		{"slice without data", "080105000202", 0, connection.CodeTruncated, 6},
		{"slice with padding", "080105000202" + "010468" + "69", 0, codec.CodeNonzeroPadding, 7},
		{"slice with data missing", "08010500020201" + "0068", 0, connection.CodeTruncated, 8},
		{"slice with a byte more", "08010500020201" + "00686921", 0, codec.CodeTrailingData, 10},
		{"ack without lane", "09", 0, connection.CodeTruncated, 1},
		{"ack of another lane", "0902", 0, connection.CodeLane, 1},
		{"ack without length", "0900", 0, connection.CodeTruncated, 2},
		{"ack without body", "090004", 0, connection.CodeTruncated, 3},
		{"ack with half a body", "0900040500", 0, connection.CodeTruncated, 3},
		{"ack of length 0", "090000", 0, connection.CodeTruncated, 3},
		{"ack that is too short", "0900030500ff", 0, connection.CodeTruncated, 6},
		{"ack with padding", "09000405000285", 0, codec.CodeNonzeroPadding, 6},
		{"ack with a byte more", "0900050500020500", 0, codec.CodeTrailingData, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := check.Must(hex.DecodeString(c.hex))
			var r connection.Record
			next, err := twoLanes.Decode(b, c.at, &r)
			var e *connection.Error
			check.That(t, errors.As(err, &e), "it is refused")
			check.Equal(t, "code", e.Code(), c.code)
			check.Equal(t, "place", e.Place(), c.place)
			check.Equal(t, "next", next, c.at)
			check.That(t, strings.HasPrefix(e.Rule(), "CXR-"), "the sentence is named")
		})
	}
}

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
		{"close behind another", "0000", close, connection.ErrNotAlone, 2},
		{"text too long", "", connection.Record{Type: connection.TypeClose, Text: make([]byte, 129)}, connection.ErrLength, 3},
		{"text not UTF-8", "", connection.Record{Type: connection.TypeClose, Text: []byte{0xc3}}, connection.ErrText, 4},
		{"lane", "00", connection.Record{Type: connection.TypeSlice, Lane: 2}, connection.ErrLane, 2},
		{"lane below 0", "00", connection.Record{Type: connection.TypeChunkAck, Lane: -1}, connection.ErrLane, 2},
		{"slice", "00", connection.Record{Type: connection.TypeSlice}, connection.ErrInvalidField, 3},
		{"ack", "00", connection.Record{Type: connection.TypeChunkAck}, connection.ErrInvalidField, 4},
	} {
		before := check.Must(hex.DecodeString(c.before))
		got, err := twoLanes.Append(before, &c.r)
		check.That(t, errors.Is(err, c.want), c.name)
		var e *connection.Error
		check.That(t, errors.As(err, &e) && e.Place() == c.place, c.name)
		check.Bytes(t, c.name, got, before)
	}
}

// drawRecord draws a record that is sound.
func drawRecord(t *rapid.T) (r connection.Record) {
	r.Type = rapid.SampledFrom([]connection.Type{connection.TypeClose, connection.TypeSlice, connection.TypeChunkAck}).Draw(t, "type")
	n := rapid.IntRange(1, codec.MaxSlices).Draw(t, "slices")
	switch r.Type {
	case connection.TypeClose:
		r.Code = rapid.Uint16().Draw(t, "code")
		r.Text = []byte(rapid.StringN(0, 30, 120).Draw(t, "text"))
		return r
	case connection.TypeSlice:
		r.Slice = lanes.Slice{Chunk: codec.Slice{ChunkID: rapid.Uint16().Draw(t, "chunk"), SliceID: rapid.IntRange(0, n-1).Draw(t, "slice"), NumSlices: n}}
		size := codec.SliceSize
		if r.Slice.Chunk.Last() {
			size = rapid.IntRange(1, codec.SliceSize).Draw(t, "size")
		}
		r.Slice.Chunk.Data = content(size, 3)
	case connection.TypeChunkAck:
		r.Ack = lanes.Ack{Chunk: codec.Ack{ChunkID: rapid.Uint16().Draw(t, "chunk"), NumSlices: n, Acked: bitset.FirstN(rapid.IntRange(0, n).Draw(t, "acked"))}}
	}
	r.Lane = rapid.IntRange(0, 1).Draw(t, "lane")
	return r
}

// What is encoded decodes to the same record, and nothing but that decodes to it (CXR-7).
func TestRecordsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		b := check.Must(twoLanes.Append(nil, &r))
		var back connection.Record
		next := check.Must(twoLanes.Decode(b, 0, &back))
		check.Equal(t, "end", next, len(b))
		check.Equal(t, "record", back, r)
		damaged := bytes.Clone(b)
		damaged[rapid.IntRange(0, len(b)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		if next, err := twoLanes.Decode(damaged, 0, &back); err == nil {
			check.Bytes(t, "its one encoding", check.Must(twoLanes.Append(nil, &back)), damaged[:next])
		}
	})
}

// Any bytes are one record in its one encoding, or refused for a reason; nothing is allocated
// for that.
func TestAnyBytesAreOneRecordOrNone(t *testing.T) {
	var r connection.Record
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes")
		if len(b) > 0 && rapid.Bool().Draw(t, "plausible") {
			b[0] = 7 + b[0]%3
		}
		at := rapid.IntRange(0, len(b)).Draw(t, "at")
		next, err := twoLanes.Decode(b, at, &r)
		if err == nil {
			check.Bytes(t, "its one encoding", check.Must(twoLanes.Append(b[:at:at], &r)), b[:next])
		}
		check.Equal(t, "allocations", testing.AllocsPerRun(1, func() { _, _ = twoLanes.Decode(b, at, &r) }), 0)
	})
}
