package port

import (
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// repairOperations are those of repair slices (RPO-1 to RPO-8).
var repairOperations = map[string]operation{
	contract.OpRepairRow: plain(row), contract.OpRepairSlice: plain(slice), contract.OpRepairRebuild: plain(rebuild),
	contract.OpRepairSender: repairSender, contract.OpRepairReceiver: repairReceiver,
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
