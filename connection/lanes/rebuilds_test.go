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

// Lanes that share a bound rebuild for 50 ms at once, by what a rebuilt slice above 64 costs, and
// for 250 ms a second: 5 chunks of which nothing came but repair slices, and another each 38.4 ms. A
// slice beyond that did not arrive, and comes again. What is rebuilt of a chunk that misses 64
// slices costs nothing (RPH-3).
func TestRebuildsAreBounded(t *testing.T) {
	const each = 192 * 50 // us of a chunk
	e := erasure.Encode(content(codec.MaxChunkSize, 1))
	bound := new(lanes.Rebuilds)
	var waiting []*lanes.Lanes
	var last codec.Slice
	for i := range 8 {
		var l *lanes.Lanes
		l, last = halfway(t, bound, e, codec.MaxSlices)
		check.That(t, l.HandleSlice(0, 0, last), "it is ours")
		check.Equal(t, "complete", l.ReadSize() > 0, i < 5)
		if i >= 5 {
			check.Equal(t, "deferred", l.Stats().Deferred, 1)
			waiting = append(waiting, l)
		}
	}
	few, lastOfFew := halfway(t, bound, e, 64)
	check.That(t, few.HandleSlice(0, 0, lastOfFew) && few.ReadSize() > 0, "64 missing slices cost nothing")
	next := core.Micros(4 * (6*each - 50_000)) // when there is time for the sixth
	for _, l := range waiting {
		check.That(t, l.HandleSlice(next-1, 0, last) && l.ReadSize() == 0, "it is too early")
		check.That(t, l.HandleSlice(next, 0, last) && l.ReadSize() > 0, "it comes again")
		check.Bytes(t, "chunk", first(l.Read(next, nil)), e.Bytes())
		next += 4 * each
	}
	some, lastOfSome := halfway(t, bound, e, 65)
	check.That(t, some.HandleSlice(next-4*each, 0, lastOfSome) && some.ReadSize() == 0, "one slice more than 64 has its cost")
	check.That(t, some.HandleSlice(next-4*each+200, 0, lastOfSome) && some.ReadSize() > 0, "50 us")
}

// What does not complete a chunk is not bounded: slices again, of other chunks, and dependent ones
// (RPH-3).
func TestOnlyWhatCompletesIsBounded(t *testing.T) {
	e := erasure.Encode(content(codec.MaxChunkSize, 1))
	bound := new(lanes.Rebuilds)
	for range 5 {
		l, last := halfway(t, bound, e, codec.MaxSlices)
		check.That(t, l.HandleSlice(0, 0, last) && l.ReadSize() > 0, "it completes")
	}
	l, last := halfway(t, bound, e, codec.MaxSlices)
	again := last
	again.SliceID--
	again.Data = e.Slice(again.SliceID)
	other := last
	other.ChunkID = 5
	check.That(t, l.HandleSlice(0, 0, again), "a duplicate is ours")
	check.That(t, !l.HandleSlice(0, 0, other), "a slice of another chunk is not")
	check.Equal(t, "deferred", l.Stats().Deferred, 0)
	check.Equal(t, "duplicates", l.Stats().Receiver.Duplicates, 1)
	free := check.Must(lanes.New(lanes.Config{Repair: true}))
	for _, s := range slicesOf(e, codec.MaxSlices) {
		free.HandleSlice(0, 0, s)
	}
	check.That(t, free.ReadSize() > 0, "without a bound nothing waits")
}
