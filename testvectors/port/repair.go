package port

import (
	"hash/crc32"
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// repairOperations are those of repair slices (RPO-1 to RPO-8).
var repairOperations = map[string]operation{
	contract.OpRepairRow: repairRow, contract.OpRepairSlice: repairSlice, contract.OpRepairRebuild: repairRebuild,
	contract.OpRepairSender: machine(chunks.RepairSender), contract.OpRepairReceiver: machine(chunks.RepairReceiver),
}

// ranged reads numbers of which each must lie in a range of its own. One that does not is no
// bad request, but a field that cannot be.
type ranged struct {
	*object
	invalid bool
}

func (r *ranged) within(name string, low, high int) int {
	return r.check(r.number(name), low, high)
}

func (r *ranged) check(v int64, low, high int) int {
	if v < int64(low) || v > int64(high) {
		r.invalid = true
		return low
	}
	return int(v)
}

// err is why the request is not answered, if it is not.
func (r *ranged) err() error {
	switch {
	case *r.object.err != nil:
		return *r.object.err
	case r.invalid:
		return codec.ErrInvalidField
	}
	return nil
}

// repairRow lists the exponents of a repair slice (RPO-1).
func repairRow(q *object) (any, error) {
	r := ranged{object: q}
	k := r.within("num_slices", 1, erasure.MaxSlices)
	id := r.within("slice_id", k, erasure.MaxIDs-1)
	if err := r.err(); err != nil {
		return nil, err
	}
	exponents := make([]int, k)
	for i := range exponents {
		exponents[i] = erasure.Exponent(id-k, i)
	}
	return contract.RepairRowResponse{Answer: contract.Answer{OK: true}, Exponents: exponents}, nil
}

// repairSlice describes a slice of a chunk (RPO-2).
func repairSlice(q *object) (any, error) {
	r := ranged{object: q}
	chunkID, size := r.within("chunk_id", 0, math.MaxUint16), r.within("size", 1, codec.MaxChunkSize)
	id := r.within("slice_id", 0, erasure.MaxIDs-1)
	if err := r.err(); err != nil {
		return nil, err
	}
	data := erasure.Encode(chunks.Data(uint16(chunkID), size)).Slice(id)
	return contract.RepairSliceResponse{Answer: contract.Answer{OK: true}, Slice: contentOf(data)}, nil
}

// repairRebuild puts slices to a decoder (RPO-3).
func repairRebuild(q *object) (any, error) {
	r := ranged{object: q}
	chunkID := r.within("chunk_id", 0, math.MaxUint16)
	numSlices, lastBytes := r.within("num_slices", 1, erasure.MaxSlices), r.within("last_bytes", 1, erasure.SliceSize)
	var ids []int
	for _, text := range r.list("slice_ids") {
		id, err := integer(text)
		if err != nil {
			r.bad()
		}
		ids = append(ids, r.check(id, 0, erasure.MaxIDs-1))
	}
	if len(ids) > maxRebuilt {
		r.bad()
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return rebuilt(erasure.Encode(chunks.Data(uint16(chunkID), erasure.SliceSize*(numSlices-1)+lastBytes)), ids), nil
}

// maxRebuilt is the most slices of a request (RPO-3).
const maxRebuilt = 1024

func rebuilt(e *erasure.Encoded, ids []int) contract.RepairRebuildResponse {
	var d erasure.Decoder
	d.Begin(e.NumSlices(), e.LastBytes(), new(statemachine.Memory))
	defer d.Release()
	added := make([]byte, len(ids))
	for i, id := range ids {
		added[i] = '0'
		if d.Add(id, e.Slice(id)) {
			added[i] = '1'
		}
	}
	a := contract.RepairRebuildResponse{Answer: contract.Answer{OK: true}, Added: string(added), Rank: d.Rank()}
	if a.Rank < e.NumSlices() {
		return a
	}
	var chunk []byte
	for _, slice := range d.Rebuild() {
		chunk = append(chunk, slice[:]...)
	}
	content := contentOf(chunk[:len(e.Bytes())])
	a.Chunk = &content
	return a
}

// contentOf stands for data in a response.
func contentOf(data []byte) contract.Content {
	return contract.Content{Size: len(data), CRC32: crc32.ChecksumIEEE(data)}
}
