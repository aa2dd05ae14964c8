package lanes_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
)

// slicesOf returns slices of a chunk: the first source slices but those that are missing, and so
// many repair slices.
func slicesOf(e *erasure.Encoded, missing int) (list []codec.Slice) {
	const n = codec.MaxSlices
	for id := missing; id < n+missing; id++ {
		list = append(list, codec.Slice{SliceID: id, NumSlices: n, LastBytes: codec.SliceSize, Data: e.Slice(id)})
	}
	return list
}

// halfway returns lanes that share a bound, and have all slices of a chunk but one, and that one.
func halfway(t *testing.T, bound *lanes.Rebuilds, e *erasure.Encoded, missing int) (l *lanes.Lanes, last codec.Slice) {
	t.Helper()
	l = check.Must(lanes.New(lanes.Config{Repair: true, Rebuilds: bound}))
	list := slicesOf(e, missing)
	for _, s := range list[:len(list)-1] {
		check.That(t, l.HandleSlice(0, 0, s), "it is ours")
	}
	return l, list[len(list)-1]
}

// Lanes that share a bound complete chunks for 50 ms at once, by what m repair slices cost in one, and then for 250 ms
// a second: 4 chunks of which nothing came but repair slices, and another each 43 ms. A slice beyond that did not
// arrive, and comes again (RPH-3).
func TestRebuildsAreBounded(t *testing.T) {
	const each = 256 * (80 + 256) / 8 // us of a chunk
	e := erasure.Encode(content(codec.MaxChunkSize, 1))
	bound := new(lanes.Rebuilds)
	var waiting []*lanes.Lanes
	var last codec.Slice
	for i := range 6 {
		var l *lanes.Lanes
		l, last = halfway(t, bound, e, codec.MaxSlices)
		check.That(t, l.HandleSlice(0, 0, last), "it is ours")
		check.Equal(t, "complete", l.ReadSize() > 0, i < 4)
		if i >= 4 {
			check.Equal(t, "deferred", l.Stats().Deferred, 1)
			waiting = append(waiting, l)
		}
	}
	next := core.Micros(4 * (5*each - 50_000)) // when there is time for the fifth
	for _, l := range waiting {
		check.That(t, l.HandleSlice(next-1, 0, last) && l.ReadSize() == 0, "it is too early")
		check.That(t, l.HandleSlice(next, 0, last) && l.ReadSize() > 0, "it comes again")
		check.Bytes(t, "chunk", first(l.Read(next, nil)), e.Bytes())
		next += 4 * each
	}
	few, lastOfFew := halfway(t, bound, e, 16)
	check.That(t, few.HandleSlice(next-4*each, 0, lastOfFew) && few.ReadSize() == 0, "few slices have their cost")
	check.That(t, few.HandleSlice(next-4*each+4*16*96/8, 0, lastOfFew) && few.ReadSize() > 0, "16 of them 192 us")
}

// All repair slices that are stored or found dependent are charged, whether they complete a chunk or not: 16 us each, 3,125
// at once and 7,812 a second. What does not cost that is free: source slices, slices again, and slices of other
// chunks (RPH-3).
func TestAllRepairSlicesAreCharged(t *testing.T) {
	e := erasure.Encode(content(codec.MaxChunkSize, 1))
	repair := func(i int) codec.Slice {
		return codec.Slice{SliceID: 256 + i, NumSlices: 256, LastBytes: 1024, Data: e.Slice(256 + i)}
	}
	bound := new(lanes.Rebuilds)
	l := check.Must(lanes.New(lanes.Config{Repair: true, Rebuilds: bound}))
	for i := 1; i < 250; i++ {
		l.HandleSlice(0, 0, codec.Slice{SliceID: i, NumSlices: 256, LastBytes: 1024, Data: e.Slice(i)})
	}
	check.That(t, l.HandleSlice(0, 0, repair(0)), "it is ours")
	for range 10_000 {
		l.HandleSlice(0, 0, repair(0)) // again
		other := repair(1)
		other.ChunkID = 5
		l.HandleSlice(0, 0, other)
	}
	check.Equal(t, "left out", l.Stats().Deferred, 0)
	chunks := 0
	for left := 3124; left > 0; chunks++ { // chunks that are never completed
		l := check.Must(lanes.New(lanes.Config{Repair: true, Rebuilds: bound}))
		for i := range min(left, 255) {
			l.HandleSlice(0, 0, repair(i))
		}
		check.Equal(t, "left out", l.Stats().Deferred, 0)
		left -= min(left, 255)
	}
	check.Equal(t, "chunks", chunks, 13)
	l.HandleSlice(0, 0, repair(1))
	check.Equal(t, "left out", l.Stats().Deferred, 1)
	l.HandleSlice(8*16, 0, repair(1))
	check.Equal(t, "left out", l.Stats().Deferred, 1)
	check.Equal(t, "here", l.Stats().Receiver.SlicesReceived, 249+1+20_000+1)
}
