package fuzz

import (
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

// giveUpByte is the byte for which readGiveUp returns the nearest that it has.
func giveUpByte(us int64) byte {
	switch {
	case us >= 1<<60:
		return 10
	case us >= 30_000_000:
		return 4
	case us >= 5_000_000:
		return 1
	case us >= 1_500_000:
		return 2
	case us >= 500_000:
		return 3
	case us >= 10_000:
		return 5
	}
	return 6
}

// passBytes is the operation that lets time pass, for both machines' scripts, as
// often as needed.
func passBytes(out []byte, op byte, d int64) []byte {
	const most = 1<<32 - 1
	for ; d > 0 && len(out) < 1<<16; d -= min(d, most) {
		out = appendUint32(append(out, op), uint32(min(d, most)))
	}
	return out
}

// seedReceivers turns the traces of receivers into scripts: each slice exactly,
// reads, polls and pauses.
func seedReceivers(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests(files, "receiver") {
		seed := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS), 2, 9, 0, 0, 1, 3)
		now := int64(0)
		for _, e := range q.Events {
			seed = passBytes(seed, 20, e.At-now)
			now = max(now, e.At)
			switch e.Event {
			case "read":
				seed = append(seed, 14)
			case "poll":
				seed = append(seed, 16)
			case "slice":
				if e.ChunkID == nil || e.SliceID == nil || e.NumSlices == nil || e.Size == nil {
					continue
				}
				seed = appendUint16(append(seed, 12, 0), *e.ChunkID)
				seed = appendUint16(append(seed, byte(*e.SliceID), byte(*e.NumSlices-1)), uint16(*e.Size-1))
				seed = append(seed, byte(*e.SliceID))
			}
		}
		seeds = append(seeds, seed)
	}
	return append(seeds, receiverSeeds()...)
}

// receiverSeeds are runs of genuine slices with something forged between.
func receiverSeeds() (seeds [][]byte) {
	for forged := byte(9); forged <= 13; forged++ {
		for _, giveUp := range []byte{1, 3, 6} {
			head := []byte{0xff, 0xff, giveUp, 5, 40, 0, 1, 255, 9}
			seeds = append(seeds,
				append(head[:9:9], forged, 3, 9, 0, 9, 0, 9, 21, 0, 0, 0, 21, 23, 0, 6, 1, 6, 2, 21, 14, 8, 0, 21, 23, 1, 6, 3),
				append(head[:9:9], 0, 21, 0, 21, forged, 1, 200, 1, 1, 4, 4, 21, 0, 0, 0, 0, 14, 15, 21, 22, 9, 16))
		}
	}
	return seeds
}

// seedSenders turns the traces of senders into scripts: each with its own
// profile, and by turns with one of recovery's.
func seedSenders(files []testvectors.File) (seeds [][]byte) {
	paces := paceSeeds()[4:]
	for i, q := range requests(files, "sender") {
		head := append(appendUint16(nil, q.Config.FirstChunkID), giveUpByte(q.Config.GiveUpUS))
		script := senderScript(q.Events)
		seeds = append(seeds,
			slices.Concat(head, profileSeed(q.Config.Profile), script),
			slices.Concat(head, paces[i%len(paces)], script))
	}
	return seeds
}

func senderScript(events []testvectors.Event) (out []byte) {
	now := int64(0)
	for _, e := range events {
		out = passBytes(out, 15, e.At-now)
		now = max(now, e.At)
		switch {
		case e.Event == "poll":
			out = append(out, 10)
		case e.Event == "submit" && e.Size != nil:
			out = append(out, submitSeed(*e.Size)...)
		case e.Event == "ack" && e.ChunkID != nil && e.Acked != nil:
			out = append(out, ackSeed(*e.ChunkID, *e.Acked)...)
		}
	}
	return out
}

// submitSeed is the operation of FuzzSender for a chunk of a size.
func submitSeed(size int) []byte {
	switch {
	case size < 1:
		return []byte{2, 0}
	case size > codec.MaxChunkSize:
		return []byte{2, 3}
	}
	return append([]byte{0}, sizeBytes(size)...)
}

func profileSeed(p *testvectors.Profile) []byte {
	if p == nil {
		return []byte{0}
	}
	return profileBytes(uint32(p.Rate), uint32(p.Cap), uint32(p.Burst), p.AcksPay, uint32(p.SpacingUS), uint32(p.ResendDelayUS))
}

// ackSeed is the operation of FuzzSender for an ack as traces have it.
func ackSeed(chunkID uint16, acked string) []byte {
	set, n, err := testvectors.ParseAcked(acked)
	if err != nil {
		return nil
	}
	out := append(appendUint16([]byte{19}, chunkID), byte(n-1))
	out = appendUint32(appendUint32(out, uint32(set[0])), uint32(set[0]>>32))
	rest := byte(0)
	for group := range 8 {
		rest |= byte(asBit(set.Has(64+24*group))) << group
	}
	return append(out, rest)
}
