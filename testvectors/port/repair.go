package port

import (
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// repairOperations are those of repair slices (RPO-1 to RPO-8).
var repairOperations = map[string]operation{
	contract.OpRepairRow: repairRow, contract.OpRepairSlice: repairSlice, contract.OpRepairRebuild: repairRebuild,
	contract.OpRepairSender: repairSender, contract.OpRepairReceiver: repairReceiver,
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
	data := erasure.Encode(trace.Data(uint16(chunkID), size)).Slice(id)
	return contract.RepairSliceResponse{Answer: contract.Answer{OK: true}, Slice: trace.Content(data)}, nil
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
	return rebuilt(erasure.Encode(trace.Data(uint16(chunkID), erasure.SliceSize*(numSlices-1)+lastBytes)), ids), nil
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
	content := trace.Content(chunk[:len(e.Bytes())])
	a.Chunk = &content
	return a
}

// repairReceiver answers a trace of a receiver (RPO-7, RPO-8).
func repairReceiver(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.ReceiverConfig{FirstChunkID: o.chunkID("first_chunk_id"), GiveUpUS: o.number("give_up_us")}
	return repairTrace(q, repairReceiverEvent, func(events []contract.RepairEvent) ([]contract.RepairStep, error) {
		return trace.RunRepairReceiver(cfg, events)
	})
}

// repairSender answers a trace of a sender (RPO-6, RPO-8).
func repairSender(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.RepairSenderConfig{FirstChunkID: o.chunkID("first_chunk_id"), GiveUpUS: o.number("give_up_us")}
	if !o.isNull("profile") {
		cfg.Profile = repairProfile(o.object("profile"))
	}
	return repairTrace(q, repairSenderEvent, func(events []contract.RepairEvent) ([]contract.RepairStep, error) {
		return trace.RunRepairSender(cfg, events)
	})
}

func repairProfile(o *object) *contract.RepairProfile {
	return &contract.RepairProfile{Rate: o.number("rate"), Burst: o.flag("burst"), Fixed: o.flag("fixed"), Redundant: o.flag("redundant")}
}

// repairTrace answers a trace. What an event is decides before its fields.
func repairTrace(q *object, read func(*object, *contract.RepairEvent) error, run func([]contract.RepairEvent) ([]contract.RepairStep, error)) (any, error) {
	return traced(q, func(o *object, e *contract.RepairEvent) error {
		if e.Event = o.text("event"); *o.err != nil {
			return *o.err
		}
		if err := read(o, e); err != nil {
			return err
		}
		e.At = o.at()
		return nil
	}, run, func(steps []contract.RepairStep) any {
		return contract.RepairTraceResponse{Answer: contract.Answer{OK: true}, Steps: steps}
	})
}

// intWithin returns a number that must lie between two others.
func (o *object) intWithin(name string, low, high int) *int {
	return pointerTo(int(o.within(name, int64(low), int64(high))))
}

// repairReceiverEvent reads the fields that an event of a receiver has.
func repairReceiverEvent(o *object, e *contract.RepairEvent) error {
	switch e.Event {
	case "slice":
		e.ChunkID, e.SliceID = pointerTo(o.chunkID("chunk_id")), o.intWithin("slice_id", 0, erasure.MaxIDs-1)
		e.NumSlices, e.LastBytes = o.intWithin("num_slices", 1, erasure.MaxSlices), o.intWithin("last_bytes", 1, erasure.SliceSize)
		if o.has("fill") {
			e.Fill = pointerTo(byte(o.within("fill", 0, math.MaxUint8)))
		}
	case "read", "poll":
	default:
		return errUnsupported
	}
	return nil
}

// repairSenderEvent reads the fields that an event of a sender has.
func repairSenderEvent(o *object, e *contract.RepairEvent) error {
	switch e.Event {
	case "submit":
		e.Size = o.intWithin("size", 0, 2*codec.MaxChunkSize)
	case "ack":
		e.ChunkID, e.NumSlices = pointerTo(o.chunkID("chunk_id")), o.intWithin("num_slices", 1, erasure.MaxSlices)
		e.Have, e.Top = o.intWithin("have", 0, *e.NumSlices), o.intWithin("top", 0, erasure.MaxIDs-1)
	case "poll":
		if o.has("due") {
			e.Due = o.intWithin("due", 0, math.MaxInt32)
		}
	default:
		return errUnsupported
	}
	return nil
}
