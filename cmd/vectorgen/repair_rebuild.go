package main

import (
	"fmt"
	"slices"

	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/oracle/stream"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// repairRebuild is what a decoder makes of sets of slices: solvable and unsolvable ones, with
// their rank.
func repairRebuild(g *group) {
	g.rebuiltInOrder()
	g.rebuiltMissing()
	g.rebuiltDependent()
	g.rebuiltLast()
	g.rebuiltEnds()
	g.rebuiltRandom()
	g.rebuildRefused()
}

// span is the ids from one to another, both included.
func span(from, to int64) (ids []int64) {
	for id := from; id <= to; id++ {
		ids = append(ids, id)
	}
	return ids
}

// but is ids without some of them.
func but(ids []int64, without ...int64) []int64 {
	return slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return slices.Contains(without, id) })
}

// rebuild adds a set of slices. rank is what its author expects.
func (g *group) rebuild(name, why, flags string, rank, numSlices, lastBytes int64, ids ...int64) {
	q := contract.RepairRebuildRequest{Op: contract.OpRepairRebuild, ChunkID: 2, NumSlices: numSlices, LastBytes: lastBytes, SliceIDs: ids}
	if ids == nil {
		q.SliceIDs = []int64{}
	}
	a := repairRebuildResponse(q)
	if got := a.(contract.RepairRebuildResponse).Rank; int64(got) != rank {
		panic(fmt.Sprintf("%s/%s: rank %d, the group expects %d", g.file.Group, name, got, rank))
	}
	g.addRepair(name, about{"Catches a decoder that " + why + ".", flags, "RPC-5 RPO-3"}, accepted, q, a)
}

func (g *group) rebuiltInOrder() {
	g.rebuild("nothing", "has a rank before anything came", "rank", 0, 3, 1024)
	for _, k := range []int64{1, 2, 3, 8, 9, 256} {
		g.rebuild(fmt.Sprintf("sources-of-%d", k), "needs repair slices though all source slices are here", "completion", k, k, 700, span(0, k-1)...)
	}
	backward := span(0, 8)
	slices.Reverse(backward)
	g.rebuild("sources-backward", "needs the source slices in order", "completion", 9, 9, 5, backward...)
	g.rebuild("too-few-sources", "completes a chunk that lacks a slice", "completion rank", 8, 9, 5, span(0, 7)...)
	g.rebuild("too-few-repair", "completes a chunk with a repair slice too few", "completion rank", 8, 9, 5, span(9, 16)...)
	g.rebuild("duplicates", "counts a slice twice", "rank", 2, 3, 9, 0, 0, 4, 4, 0, 4)
	g.rebuild("more-than-enough", "goes on counting when the rank is full, or solves with the wrong rows then", "rank completion", 3, 3, 9, 3, 1, 4, 5, 6, 0, 2)
}

func (g *group) rebuiltMissing() {
	for _, k := range []int64{1, 2, 8, 255, 256} {
		g.rebuild(fmt.Sprintf("repair-alone-of-%d", k), "cannot do without source slices", "solve", k, k, 1024, span(k, 2*k-1)...)
	}
	for missing := range int64(5) {
		g.rebuild(fmt.Sprintf("one-missing-%d", missing), "gives the rebuilt slice another place", "solve", 5, 5, 100, append(but(span(0, 4), missing), 5+missing)...)
	}
	g.rebuild("repair-first", "takes source slices out of a repair slice only if they came before it", "solve", 6, 6, 33, 6, 0, 7, 1, 2, 3)
	g.rebuild("mixed", "solves with the repair slices in another order than they are held", "solve", 6, 6, 33, 3, 11, 0, 9, 5, 6)
	for _, c := range []struct{ k, missing int64 }{{16, 2}, {64, 20}, {256, 1}, {256, 13}, {256, 51}, {256, 128}} {
		var ids []int64
		for i := range c.k {
			if id := i * 37 % c.k; i < c.missing {
				ids = append(ids, c.k+id) // in place of a source slice
			} else {
				ids = append(ids, id)
			}
		}
		g.rebuild(fmt.Sprintf("missing-%d-of-%d", c.missing, c.k), "solves for many missing slices wrongly", "solve field", c.k, c.k, 77, ids...)
	}
}

// dependentSet returns slices that are here, and behind them the first repair slices of which
// only the first raises the rank.
func dependentSet(numSlices int64, have []int64, count int) []int64 {
	for a := numSlices; a < repairoracle.MaxIDs; a++ {
		ids := append(slices.Clone(have), a)
		for b := a + 1; b < repairoracle.MaxIDs && len(ids) < len(have)+count; b++ {
			d := repairoracle.NewDecoder(numSlices, 1)
			for _, id := range ids {
				d.Add(id, nil)
			}
			if d.Depends(b) {
				ids = append(ids, b)
			}
		}
		if len(ids) == len(have)+count {
			return ids
		}
	}
	panic("no such set")
}

func (g *group) rebuiltDependent() {
	g.rebuild("dependent-on-one-source", "counts a repair slice whose row follows from another one and a source slice", "rank", 2, 3, 1024, 1, 4, 6)
	g.rebuild("dependent-then-solved", "is spoiled by a dependent repair slice", "rank solve", 3, 3, 1024, 1, 4, 6, 5)
	pair := dependentSet(2, nil, 2)
	g.rebuild("dependent-of-2", "takes any two repair slices for two dimensions", "rank", 1, 2, 10, pair...)
	g.rebuild("dependent-of-2-and-source", "does not take the source slice that a dependent pair lacks", "rank solve", 2, 2, 10, append(pair, 1)...)
	g.rebuild("dependent-of-2-and-repair", "cannot go on after a dependent repair slice", "rank solve", 2, 2, 10, append(pair, pair[1]+1)...)
	two := dependentSet(8, []int64{0, 1, 2, 4, 5, 7}, 2)
	g.rebuild("dependent-on-two-missing", "counts slices, not the rank of what is missing: two of eight are missing, and two repair slices are one too few", "rank completion", 7, 8, 10, two...)
	g.rebuild("dependent-on-two-missing-solved", "keeps the dependent repair slice in the place of the one that solves", "rank solve", 8, 8, 10, append(two, two[7]+1)...)
	g.rebuild("independent-by-what-is-missing-too", "judges repair slices by the columns that are missing when they come, and not again", "rank", 7, 8, 10, append(slices.Clone(two[6:]), two[:6]...)...)
	three := dependentSet(16, []int64{1, 2, 3, 4, 6, 7, 8, 10, 11, 12, 13, 14, 15}, 3)
	g.rebuild("two-dependent-on-three-missing", "believes that one more repair slice always suffices", "rank completion", 14, 16, 10, three...)
	g.rebuild("source-that-follows", "takes a source slice as new that follows from repair slices", "rank", 2, 3, 10, sourceThatFollows()...)
	g.rebuild("source-that-follows-solved", "loses a source slice that it did not store, since it followed from repair slices", "rank solve", 3, 3, 10, append(sourceThatFollows(), 2)...)
}

// sourceThatFollows returns two repair slices of a chunk of three whose rows differ in source
// slice 0 alone, and that slice.
func sourceThatFollows() []int64 {
	for a := int64(3); a < repairoracle.MaxIDs; a++ {
		for b := a + 1; b < min(a+4000, repairoracle.MaxIDs); b++ {
			d := repairoracle.NewDecoder(3, 1)
			d.Add(a, nil)
			if d.Add(b, nil); d.Rank() == 2 && d.Depends(0) {
				return []int64{a, b, 0}
			}
		}
	}
	panic("no such slices")
}

func (g *group) rebuiltLast() {
	for _, last := range []int64{1, 2, 511, 1023, 1024} {
		g.rebuild(fmt.Sprintf("last-of-%d-missing", last), fmt.Sprintf("gives the chunk %d bytes too many or too few, since its last slice was rebuilt", 1024-last), "solve data-length last-slice", 4, 4, last, 0, 1, 2, 4)
		g.rebuild(fmt.Sprintf("last-of-%d-here", last), "does not take the last slice for one of 1,024 bytes when it takes it out of a repair slice", "solve data-length last-slice", 4, 4, last, 3, 4, 5, 6)
		g.rebuild(fmt.Sprintf("one-slice-of-%d", last), "makes the only slice of a chunk longer than it is", "solve data-length", 1, 1, last, 8191)
	}
}

func (g *group) rebuiltEnds() {
	g.rebuild("highest-ids", "has fewer ids than there are", "solve", 4, 4, 1000, 8191, 8190, 8189, 8188)
	g.rebuild("highest-ids-of-256", "has fewer ids than there are for a full chunk", "solve", 256, 256, 1000, append(span(0, 199), span(8191-55, 8191)...)...)
	g.rebuild("both-ends", "keeps ids in 8 or 12 bits", "solve", 5, 5, 1000, 0, 8191, 5, 4095, 4096)
	g.rebuild("ids-above-255", "keeps ids in 8 bits: slice 256 is not slice 0", "solve rank", 3, 3, 1000, 0, 256, 512)
	g.rebuild("k-and-8191-less", "keeps the rows of the first 256 repair slices only", "solve", 3, 3, 1000, 258, 259, 260)
}

// rebuiltRandom are chunks of which some slices were lost, as they come from a path.
func (g *group) rebuiltRandom() {
	x := stream.Random(7)
	for n, k := range []int64{2, 4, 5, 7, 10, 12, 21, 33, 50, 90, 140, 200, 255, 256} {
		lost := uint32(5 + 5*n)
		var ids []int64
		d := repairoracle.NewDecoder(k, 1)
		for id := int64(0); d.Rank() < k; id++ {
			if x.Next()%100 >= lost {
				ids = append(ids, id)
				d.Add(id, nil)
			}
		}
		for range x.Next() % 3 { // some of the latest come earlier
			ids[len(ids)-1], ids[len(ids)/2] = ids[len(ids)/2], ids[len(ids)-1]
		}
		g.rebuild(fmt.Sprintf("path-%d", n), fmt.Sprintf("fails on what a path leaves that loses %d %%: %d slices", lost, k), "solve field", k, k, 1+int64(x.Next()%1024), ids...)
	}
}

func (g *group) rebuildRefused() {
	for _, c := range []struct {
		name                   string
		chunkID, k, last, some int64
	}{
		{"0-slices", 0, 0, 1, 0}, {"257-slices", 0, 257, 1, 0}, {"last-of-0", 0, 2, 0, 0}, {"last-of-1025", 0, 2, 1025, 0},
		{"id-8192", 0, 2, 1, 8192}, {"id-minus-1", 0, 2, 1, -1}, {"chunk-65536", 65536, 2, 1, 0},
	} {
		q := contract.RepairRebuildRequest{Op: contract.OpRepairRebuild, ChunkID: c.chunkID, NumSlices: c.k, LastBytes: c.last, SliceIDs: []int64{0, c.some}}
		g.addRepair("refused-"+c.name, about{"Catches a port that takes a number which no field holds.", "size-limit integer-wrap", "RPO-3"}, repairoracle.InvalidField, q, repairRebuildResponse(q))
	}
}
