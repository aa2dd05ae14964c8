package fuzz

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/testvectors"
)

// Fates, as fate.go has them.
const (
	fateArrives = 0x00
	fateLate    = 0x7f
	fateLost    = 0x80
	fateOutage  = 0x9f
	fateSleep   = 0x9d
	fateDoubled = 0xa3
	fateVery    = 0xc2
	fateChanged = 0xe0
)

// conversationHead is a header: first id, GIVE_UP and delay by their place in the
// list, a profile, and the sizes of chunks.
func conversationHead(firstID uint16, giveUp, delay byte, profile []byte, sizes ...int) []byte {
	out := append(appendUint16(nil, firstID), giveUp, delay)
	out = append(append(out, profile...), byte(len(sizes)-1))
	for _, size := range sizes {
		out = append(out, sizeBytes(size)...)
	}
	return out
}

// seedConversations turns the traces of senders into conversations: the same
// chunks and pace, and what an ack did not have is lost. Behind them stand the
// stalls of other implementations.
func seedConversations(files []testvectors.File) (seeds [][]byte) {
	for _, q := range requests(files, "sender") {
		var sizes []int
		var fates []byte
		for _, e := range q.Events {
			switch {
			case e.Event == "submit" && e.Size != nil && *e.Size >= 1 && *e.Size <= codec.MaxChunkSize && len(sizes) < 5:
				sizes = append(sizes, *e.Size)
			case e.Event == "ack" && e.Acked != nil:
				for _, bit := range *e.Acked {
					fates = append(fates, map[rune]byte{'0': fateLost, '1': fateArrives}[bit])
				}
			}
		}
		if len(sizes) > 0 {
			seeds = append(seeds, append(conversationHead(q.Config.FirstChunkID, 0, 0, profileSeed(q.Config.Profile), sizes...), fates...))
		}
	}
	return append(seeds, stallSeeds()...)
}

// stallSeeds are what stalled elsewhere: lost last acks, a slow reader, outages
// long and short, an end that sleeps; at several round trips and profiles.
func stallSeeds() (seeds [][]byte) {
	weathers := [][]byte{
		{fateArrives, fateLost, fateArrives, fateLost, fateLost},
		{fateArrives, fateArrives, fateArrives, fateLost, fateLost, fateLost, fateLost, 200, 255},
		{fateOutage, 20, fateArrives, fateOutage, 40},
		{fateArrives, fateArrives, fateSleep, 200, fateArrives, fateSleep + 1, 200},
		{fateDoubled, fateLate, fateDoubled, fateVery, fateLate, fateDoubled, fateVery},
		{fateChanged, 7, 1, fateChanged + 29, 9, 0, fateChanged + 2, 200, 3, fateArrives, fateChanged, 1, 0},
		{255, 200, 255, 200, 255, 200, 200, 255, 200},
	}
	for i, weather := range weathers {
		for profile, head := range paceSeeds() {
			seeds = append(seeds,
				append(conversationHead(65534, byte(i%6), byte(i+profile), head, 3000, 1, 1024, 1025), weather...),
				append(conversationHead(0, 0, byte(profile), head, 20000, 5000), weather...))
		}
	}
	return seeds
}

// paceSeeds are a scheduler of each kind but that of any figures, and recovery's
// with and without a limit.
func paceSeeds() [][]byte {
	seeds := [][]byte{{0}, {1, 1, 40}, {2, 1, 40}, {3}}
	for kind := byte(5); kind <= 8; kind++ {
		seeds = append(seeds, []byte{kind, 0}, []byte{kind, 255, 1, 40})
	}
	return seeds
}

// seedTransports gives an endpoint the datagrams that decoders refuse, some from
// one stranger and some from many, between the beginnings of connections.
func seedTransports(files []testvectors.File) (seeds [][]byte) {
	for i, q := range requests(files, "decode_packet") {
		d := bytesOf(q.Hex)
		if len(d) > 100 || i%4 != 0 { // the others differ only in their data
			continue
		}
		seed := []byte{byte(i), byte(i % 5)}
		seed = append(append(seed, 0, byte(i), byte(len(d))), d...)
		if len(d) > 4 {
			seed = append(append(seed, 1, byte(i+1), byte(len(d)-4)), d[4:]...)
		}
		seeds = append(seeds, append(seed, 2, byte(i), byte(i%4), 0, 9, 8, 0, byte(i%3)*60, 7, 0, 5, 1, 2, 3, 4, 5))
	}
	for places := range byte(4) { // more beginnings than places, and silence after
		seed := []byte{places, 4}
		for source := range byte(8) {
			seed = append(seed, 2, source, source%4, source, 100, 4, source, 1, 0, 0, 0, 9, 5, source, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 6, source, 0, 0, 0, 1)
		}
		seeds = append(seeds, append(seed, 8, 0, 60, 2, 9, 0, 0, 9, 8, 0, 60))
	}
	return seeds
}
