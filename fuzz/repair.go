package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/statemachine/schedule/rateless"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// What the targets of repair slices share.

// repairOf returns the slice with an id of a chunk.
func repairOf(chunkID uint16, e *erasure.Encoded, id int) codec.Slice {
	return codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: e.NumSlices(), LastBytes: e.LastBytes(), Data: e.Slice(id)}
}

// readRepairScheduler reads a rule: a byte that says which, and its limit.
func readRepairScheduler(t T, s *script) scheduling {
	t.Helper()
	switch s.byte() % 5 {
	case 0:
		return ratelessScheduling(t, rateless.Default(), readLimit(s))
	case 1:
		return ratelessScheduling(t, rateless.Redundant(), readLimit(s))
	case 2:
		return ratelessScheduling(t, rateless.Burst(), readLimit(s))
	case 3:
		return scheduling{&chunk.Plain{}, nil, chunk.PlainPace}
	}
	limit := readLimit(s)
	if limit == 0 {
		limit = mostRate // the profile fixed has no rate of its own
	}
	return ratelessScheduling(t, rateless.Fixed(0), limit)
}

func ratelessScheduling(t T, p rateless.Profile, limit int64) scheduling {
	t.Helper()
	r, limit := limited(t, limit, func(limit int64) (*rateless.Scheduler, error) {
		p.MaxRate = limit
		return rateless.New(p)
	})
	p.MaxRate = limit
	return scheduling{r, nil, chunk.RatelessPace(p)}
}

// repairSchedulerSeeds are a rule of each kind, without a limit, with one of 41 Mbit/s, and
// with one of ten slices a second.
func repairSchedulerSeeds() [][]byte {
	seeds := [][]byte{{3}}
	for _, kind := range []byte{0, 1, 2, 4} {
		seeds = append(seeds, []byte{kind, 0}, []byte{kind, 255, 1, 40}, []byte{kind, 255, 0, 9})
	}
	return seeds
}

// repairProfileSeed is the inverse of readRepairScheduler, as near as it comes, for a
// profile of the contract.
func repairProfileSeed(p *contract.RepairProfile) []byte {
	switch {
	case p == nil:
		return []byte{3}
	case p.Redundant:
		return []byte{1, 0}
	case p.Burst:
		return []byte{2, 0}
	case p.Fixed:
		return []byte{4, 255, 1, byte(min(max(p.Rate/1_000_000, 1), 100) - 1)}
	}
	return []byte{0, 0}
}

// number reads what a vector may leave out.
func number[N ~int | ~int64 | ~uint16](n *N) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
