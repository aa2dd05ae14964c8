package connection_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
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

// The examples of the document.
func TestRecordsOfTheDocument(t *testing.T) {
	for _, c := range []struct {
		format connection.Format
		want   string
		r      connection.Record
	}{
		{twoLanes, "07000103627965", connection.Record{Type: connection.TypeClose, Code: 256, Text: []byte("bye")}},
		{twoLanes, "07000000", connection.Record{Type: connection.TypeClose, Text: []byte{}}},
		{twoLanes, "08010500020201006869", connection.Record{Type: connection.TypeSlice, Lane: 1, Slice: codec.Slice{ChunkID: 5, SliceID: 2, NumSlices: 3, Data: []byte("hi")}}},
		{twoLanes, "09000405000205", connection.Record{Type: connection.TypeChunkAck, Ack: codec.Ack{ChunkID: 5, NumSlices: 3, Acked: core.Set{5}}}},
		{marked, "0a34120100", connection.Record{Type: connection.TypeECN, Marks: connection.Marks{Arrived: 0x1234, Congested: 1}}},
		{repaired, "07000000", connection.Record{Type: connection.TypeClose, Text: []byte{}}},
		{repaired, "08010500024020006869", connection.Record{Type: connection.TypeSlice, Lane: 1, Slice: codec.Slice{ChunkID: 5, SliceID: 2, NumSlices: 3, LastBytes: 2, Data: []byte("hi")}}},
		{repaired, "090006050002020600", connection.Record{Type: connection.TypeChunkAck, Ack: codec.Ack{ChunkID: 5, NumSlices: 3, Have: 2, Top: 3}}},
	} {
		got := check.Must(c.format.Append(nil, &c.r))
		check.Equal(t, "bytes", hex.EncodeToString(got), c.want)
		var back connection.Record
		next := check.Must(c.format.Decode(got, 0, &back))
		check.Equal(t, "end", next, len(got))
		check.Equal(t, "record", back, c.r)
	}
}

// Each check, at its place (CXR-20 to CXR-27).
func TestRefusedRecords(t *testing.T) {
	long := "070001" + "81" + strings.Repeat("61", 129)
	for _, c := range []struct {
		name, hex string
		at        int // where the record begins
		code      core.Code
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
		t.Run(c.name, func(t *testing.T) { refused(t, twoLanes, c.hex, c.at, c.code, c.place) })
	}
	for _, c := range []struct {
		name, hex string
		place     int
	}{{"ecn without counts", "0a", 1}, {"ecn with half a count", "0a34", 1}, {"ecn with one count", "0a3412", 3}, {"ecn with a count and a half", "0a341201", 3}} {
		t.Run(c.name, func(t *testing.T) { refused(t, marked, c.hex, 0, connection.CodeTruncated, c.place) })
	}
	for _, c := range []struct {
		name, hex string
		code      core.Code
		place     int
	}{
		{"slice with half an id", "08010500", connection.CodeTruncated, 4},
		{"slice with a byte of num_slices missing", "080105000240", connection.CodeTruncated, 5},
		{"slice without last_bytes", "08010500024020", connection.CodeTruncated, 6},
		{"slice with padding", "0801050002402080" + "6869", codec.CodeNonzeroPadding, 7},
		{"slice with data missing", "0801050002402000" + "68", connection.CodeTruncated, 8},
		{"slice with a byte more", "0801050002402000" + "686921", codec.CodeTrailingData, 10},
		{"ack of more than there is", "090006050002080600", codec.CodeHaveOutOfRange, 6},
		{"ack without have", "09000405000202", connection.CodeTruncated, 6},
		{"ack without top", "0900050500020206", connection.CodeTruncated, 7},
		{"ack with padding", "090006050002020680", codec.CodeNonzeroPadding, 8},
		{"ack with a byte more", "09000705000202060000", codec.CodeTrailingData, 9},
	} {
		t.Run(c.name+", repair", func(t *testing.T) { refused(t, repaired, c.hex, 0, c.code, c.place) })
	}
}

func refused(t *testing.T, format connection.Format, text string, at int, code core.Code, place int) {
	b := check.Must(hex.DecodeString(text))
	var r connection.Record
	next, err := format.Decode(b, at, &r)
	var e *connection.Error
	check.That(t, errors.As(err, &e), "it is refused")
	check.Equal(t, "code", e.Code(), code)
	check.Equal(t, "place", e.Place(), place)
	check.Equal(t, "next", next, at)
	check.That(t, strings.HasPrefix(e.Rule(), "CXR-"), "the sentence is named")
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
