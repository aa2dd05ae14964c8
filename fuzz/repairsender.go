package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// A sender of repair slices is given acks, true, forged and foreign, between submits, polls
// and pauses, whatever its rule is. Its model and its judge watch. At last honest acks
// complete what is in flight, or it gives up.
//
// An input is that of the target Sender, with a rule as readRepairScheduler reads it, and the
// operations of senderBench.op.
var targetRepairSender = newTarget("RepairSender", "a sender of repair slices obeys its table, sends each id once, keeps its pace, then completes", runRepairSender, seedRepairSenders)

func runRepairSender(t T, data []byte) { runSenderOf(t, codec.Repair, data) }

// seedRepairSenders turns the traces of senders into scripts: each with its own profile, and
// in turn with another.
func seedRepairSenders(files []testvectors.File) (seeds [][]byte) {
	others := repairSchedulerSeeds()
	for i, q := range requests[contract.RepairSenderRequest](files, contract.OpRepairSender) {
		head := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS))
		script := repairSenderScript(q.Events)
		for _, scheduler := range [][]byte{repairProfileSeed(q.Config.Profile), others[i%len(others)]} {
			seeds = append(seeds, append(append(head[:3:3], scheduler...), script...))
		}
	}
	for _, scheduler := range others { // a driver that is late, acks that stay away, holds
		head := append([]byte{0xff, 0xff, 1}, scheduler...)
		n := len(head)
		seeds = append(seeds,
			append(head[:n:n], 2, 6, 10, 6, 14, 40, 10, 14, 250, 10, 6, 14, 250, 10, 13, 9, 10, 14, 30, 16, 16, 6, 14, 90, 10, 10),
			append(head[:n:n], 0, 30, 9, 16, 16, 14, 20, 9, 16, 16, 16, 14, 250, 14, 250, 16, 9, 3, 255, 120, 16, 3, 100, 100, 16, 16))
	}
	return seeds
}

func repairSenderScript(events []contract.RepairEvent) (out []byte) {
	now := int64(0)
	for _, e := range events {
		out = passBytes(out, 15, e.At-now)
		now = max(now, e.At)
		switch {
		case e.Event == "poll":
			out = append(out, 10)
		case e.Event == "submit" && e.Size != nil:
			out = append(out, submitSeed(*e.Size)...)
		case e.Event == "ack" && e.ChunkID != nil:
			out = append(appendUint16(append(out, 19), *e.ChunkID), byte(number(e.NumSlices)-1))
			out = appendUint16(appendUint16(out, uint16(number(e.Have))), uint16(number(e.Top)))
		}
	}
	return out
}
