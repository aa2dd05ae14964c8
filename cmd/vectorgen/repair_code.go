package main

import (
	"fmt"

	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// lastID is the highest id of a slice.
const lastID = repairoracle.MaxIDs - 1

// repairCode is the code: the exponents of repair slices, and slices of chunks.
func repairCode(g *group) {
	g.exponents()
	g.exponentsRefused()
	g.codedSlices()
	g.codedSizes()
	g.codedSlicesRefused()
}

func (g *group) exponents() {
	for _, c := range []struct {
		k, j int64
		why  string
	}{
		{1, 0, "does not begin with repair slice 0, or counts source slices from 1"},
		{1, 1, "mixes j alone, without its factor of 32"},
		{1, 8190, "ends at fewer repair slices than there are for a chunk of one slice"},
		{2, 0, "takes the exponents of a word from its highest four bits on"},
		{7, 3, "mixes once for each exponent"},
		{8, 0, "begins another word before source slice 8"},
		{8, 5, "takes fewer than all eight exponents of a word"},
		{9, 0, "does not begin another word at source slice 8"},
		{9, 1, "continues with the word of repair slice 1 behind that of repair slice 0"},
		{16, 2047, "keeps j * 32 in 16 bits: it is 65,504 here"},
		{17, 2048, "keeps j * 32 in 16 bits: it is 65,536 here"},
		{64, 100, "divides i by 8 after the addition"},
		{255, 1, "treats a chunk of 255 slices as full"},
		{256, 0, "keeps source slices in 8 bits with a sign"},
		{256, 31, "mixes with signed shifts: they fill with ones"},
		{256, 32, "xors j * 32 with i / 8 where it must add, or the other way round in a word that overflows"},
		{256, 4096, "multiplies in 64 bits, or in floating point, without taking the low 32"},
		{256, 7935, "ends at fewer repair slices than there are for a full chunk"},
	} {
		q := contract.RepairRowRequest{Op: contract.OpRepairRow, NumSlices: c.k, SliceID: c.k + c.j}
		g.addRepair(fmt.Sprintf("exponents-of-%d-in-%d", c.k, c.j), about{"Catches a generator that " + c.why + ".", "generator", "RPC-1 RPC-2 RPO-1"}, accepted, q, repairRowResponse(q))
	}
}

func (g *group) exponentsRefused() {
	for _, c := range []struct {
		name  string
		k, id int64
		why   string
	}{
		{"of-0-slices", 0, 5, "answers for a chunk without slices"},
		{"of-257-slices", 257, 300, "answers for a chunk of 257 slices"},
		{"of-minus-1-slices", -1, 5, "answers for a negative number of slices"},
		{"of-a-source-slice", 3, 2, "takes the last source slice for a repair slice"},
		{"of-source-slice-0", 3, 0, "takes source slice 0 for a repair slice"},
		{"of-id-8192", 3, 8192, "has ids of more than 13 bits"},
		{"of-id-65539", 3, 65539, "keeps the low 16 bits of an id"},
		{"of-a-negative-id", 3, -1, "takes a negative id"},
	} {
		q := contract.RepairRowRequest{Op: contract.OpRepairRow, NumSlices: c.k, SliceID: c.id}
		g.addRepair("exponents-"+c.name, about{"Catches a port that " + c.why + ".", "size-limit integer-wrap", "RPO-1"}, repairoracle.InvalidField, q, repairRowResponse(q))
	}
	for _, c := range []struct{ k, id int64 }{{3, 3}, {3, 8191}, {256, 257}} {
		q := contract.RepairRowRequest{Op: contract.OpRepairRow, NumSlices: c.k, SliceID: c.id}
		g.addRepair(fmt.Sprintf("exponents-of-id-%d-of-%d", c.id, c.k), about{"A twin of refused ones: catches a port that refuses too much.", "size-limit", "RPO-1 RPC-2"}, accepted, q, repairRowResponse(q))
	}
}

// codedSlice adds a slice of the chunk with an id and a size.
func (g *group) codedSlice(name string, why about, want string, chunkID, size, id int64) {
	q := contract.RepairSliceRequest{Op: contract.OpRepairSlice, ChunkID: chunkID, Size: size, SliceID: id}
	g.addRepair(name, why, want, q, repairSliceResponse(q))
}

// codedSlices are slices of chunks of 1, 2, 3, 8, 255 and 256 slices: the first and the last
// source slice, the first repair slices and the last one.
func (g *group) codedSlices() {
	for _, k := range []int64{1, 2, 3, 8, 255, 256} {
		for _, last := range []int64{1, 1024} {
			size := 1024*(k-1) + last
			for _, c := range []struct {
				name string
				id   int64
				why  string
			}{
				{"first", 0, "changes the source slices of a chunk, or sends repair slices in their place"},
				{"last", k - 1, "fills the last slice up with zeros when it sends it"},
				{"repair-0", k, "begins with another repair slice than 0, or adds source slices twice"},
				{"repair-1", k + 1, "makes all repair slices the same"},
				{"repair-last", lastID, "makes the last repair slice of another j than 8,191 less the number of slices"},
			} {
				if k == 1 && c.name == "last" {
					continue
				}
				g.codedSlice(fmt.Sprintf("%s-of-%d-last-%d", c.name, k, last), about{
					fmt.Sprintf("Catches a coder that %s: %d slices, the last of %d.", c.why, k, last), "repair-slice data-length", "RPC-3 RPC-4 RPO-2 TRC-1",
				}, accepted, 1, size, c.id)
			}
		}
	}
}

// codedSizes are repair slices of chunks whose size is at the ends of words, where sums that
// are made word by word go wrong, and of other contents.
func (g *group) codedSizes() {
	for _, size := range []int64{2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65, 127, 500, 1023} {
		g.codedSlice(fmt.Sprintf("repair-of-%d-bytes", size), about{
			fmt.Sprintf("Catches a coder that sums whole words only, or makes a repair slice of a chunk of one slice longer than its %d bytes.", size), "repair-slice word-boundary data-length", "RPC-4 RPO-2",
		}, accepted, 3, size, 2)
	}
	for _, last := range []int64{2, 7, 8, 9, 511, 1023} {
		g.codedSlice(fmt.Sprintf("repair-of-a-last-slice-of-%d", last), about{
			fmt.Sprintf("Catches a coder that adds more than the %d bytes of the last slice, or ends the repair slice there.", last), "repair-slice last-slice word-boundary", "RPC-4 RPO-2",
		}, accepted, 3, 4*1024+last, 7)
	}
	for _, id := range []int64{0, 1, 100, 255, 65535} {
		g.codedSlice(fmt.Sprintf("repair-of-chunk-%d", id), about{
			"Catches a coder in which a repair slice depends on the chunk's id in another way than by its bytes.", "repair-slice", "RPC-4 RPO-2",
		}, accepted, id, 5000, 6)
	}
	for _, j := range []int64{2, 13, 63, 64, 255, 256, 257, 1023, 4095} {
		g.codedSlice(fmt.Sprintf("repair-%d-of-40", j), about{
			"Catches a coder that keeps too few repair slices, and gives the bytes of another one in their place; or multiplies by powers of x wrongly where many sums meet.", "repair-slice field", "RPC-3 RPC-4 RPO-2",
		}, accepted, 9, 40*1024, 40+j)
	}
}

func (g *group) codedSlicesRefused() {
	for _, c := range []struct {
		name              string
		chunkID, size, id int64
		why               string
	}{
		{"size-0", 0, 0, 0, "takes a chunk without bytes"},
		{"size-262145", 0, 262145, 0, "takes a chunk that is too large"},
		{"size-negative", 0, -1, 0, "takes a negative size"},
		{"id-8192", 0, 1000, 8192, "has ids of more than 13 bits"},
		{"id-negative", 0, 1000, -1, "takes a negative id"},
		{"chunk-65536", 65536, 1000, 0, "keeps the low 16 bits of a chunk id"},
	} {
		g.codedSlice("slice-of-"+c.name, about{"Catches a port that " + c.why + ".", "size-limit integer-wrap", "RPO-2"}, repairoracle.InvalidField, c.chunkID, c.size, c.id)
	}
}
