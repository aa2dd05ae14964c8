package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/testvectors"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// A receiver of repair slices is given slices, half of them genuine, between reads, polls and
// pauses. Its model and its judge watch. At last a genuine sender brings the current chunk
// over, or one of the two gives up.
//
// An input is that of the target Receiver, with the operations of receiverBench.op.
var targetRepairReceiver = newTarget("RepairReceiver", "a receiver of repair slices does what the document's table says, within its bounds, then completes", runRepairReceiver, seedRepairReceivers)

func runRepairReceiver(t T, data []byte) { runReceiverOf(t, codec.Repair, data) }

func forgeRepair(op byte, s *script, g codec.Slice) codec.Slice {
	switch op {
	case 9: // another number of slices
		g.NumSlices = 1 + int(s.byte())
		g.Data = noise[1 : 1+repairSize(g)]
	case 10: // another content
		g.Data = noise[2 : 2+len(g.Data)]
	case 12: // any valid slice, as traces have them
		g = codec.Slice{ChunkID: s.uint16(), SliceID: int(s.uint16()) % erasure.MaxIDs, NumSlices: 1 + int(s.byte()), LastBytes: 1 + int(s.uint16())%codec.SliceSize}
		from := int(s.byte()) * 4
		g.Data = noise[from : from+repairSize(g)]
	case 13: // one that no decoder returns
		g.NumSlices, g.SliceID, g.LastBytes = int(int16(s.uint16())), int(int16(s.uint16())), int(int16(s.uint16()))
		g.Data = noise[:int(s.uint16())%1026]
	case 24: // another last_bytes
		g.LastBytes = 1 + int(s.uint16())%codec.SliceSize
		g.Data = noise[3 : 3+repairSize(g)]
	}
	return g
}

// repairSize returns how many bytes of data a slice has.
func repairSize(s codec.Slice) int {
	if s.NumSlices == 1 || s.Last() {
		return s.LastBytes
	}
	return codec.SliceSize
}

// seedRepairReceivers turns the traces of receivers into scripts: each slice with other
// bytes, reads, polls and pauses. Then come scripts of its own.
func seedRepairReceivers(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests[contract.RepairReceiverRequest](files, contract.OpRepairReceiver) {
		seed := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS), 2, 9, 0, 0, 1, 3)
		now := int64(0)
		for _, e := range q.Events {
			seed = passBytes(seed, 20, e.At-now)
			now = max(now, e.At)
			switch {
			case e.Event == "read":
				seed = append(seed, 14)
			case e.Event == "poll":
				seed = append(seed, 16)
			case e.Event == "slice" && e.ChunkID != nil:
				seed = appendUint16(appendUint16(append(seed, 12, 0), *e.ChunkID), uint16(number(e.SliceID)))
				seed = appendUint16(append(seed, byte(number(e.NumSlices)-1)), uint16(number(e.LastBytes)-1))
				seed = append(seed, byte(number(e.SliceID)))
			}
		}
		seeds = append(seeds, seed)
	}
	for _, forged := range []byte{9, 10, 11, 12, 13, 24} { // genuine slices with something forged between
		for _, giveUp := range []byte{1, 3, 6} {
			head := []byte{0xff, 0xff, giveUp, 5, 40, 0, 1, 255, 9}
			seeds = append(seeds,
				append(head[:9:9], forged, 3, 9, 0, 9, 0, 9, 0, 9, 21, 0, 0, 0, 21, 23, 0, 6, 1, 6, 2, 21, 14, 8, 0, 21, 23, 1, 6, 3),
				append(head[:9:9], 0, 21, 0, 21, forged, 1, 200, 1, 1, 4, 4, 4, 4, 21, 27, 2, 0, 0, 0, 0, 0, 14, 15, 21, 22, 9, 16))
		}
	}
	three := []byte{0, 0, 1, 2, 40, 2, 40, 2, 40} // chunks of three slices
	return append(seeds,
		append(three[:9:9], 6, 1, 6, 4, 6, 6, 21, 6, 4, 21, 6, 9, 8, 12, 21, 14, 6, 4, 6, 6, 6, 1, 6, 0, 14), // 6 depends on 1 and 4
		append(three[:9:9], 25, 252, 31, 0, 0, 0, 21, 25, 2, 0, 0, 0, 14),                                    // ids that wrap
		append(three[:9:9], 9, 0, 0, 23, 0, 9, 1, 0, 21, 14))                                                 // a form of one slice replaces another
}
