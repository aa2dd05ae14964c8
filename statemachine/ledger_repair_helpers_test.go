package statemachine

import (
	"fmt"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

const (
	giveUp = DefaultGiveUp
)

// scripted is a scheduler that sends as often as it is allowed to, and writes down the
// calls. Its deadline is now while it is allowed to.
type scripted struct {
	NoPath
	due      int
	deadline core.Micros // when nothing is due
	log      []string
}

func (s *scripted) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *scripted) Begin(f Flight) {
	s.note("begin %d: chunk %d, %d slices, datagrams of %d and %d bytes", f.Now, f.ChunkID, f.NumSlices, f.Bytes, f.LastBytes)
}

func (s *scripted) Acked(now core.Micros, p Progress) {
	s.note("acked %d: %d of %d", now, p.Have, p.Top)
}

func (s *scripted) Held(now core.Micros) { s.note("held %d", now) }

func (s *scripted) Next(core.Micros) (number int, ok bool) {
	if s.due == 0 {
		return 0, false
	}
	s.due--
	return 0, true
}

func (s *scripted) Deadline() core.Micros {
	if s.due > 0 {
		return 0
	}
	return s.deadline
}

func (s *scripted) Stats() ScheduleStats { return ScheduleStats{Lost: 4} }

// countedBy and heldBy are the ledgers of machines of repair slices.
func countedBy(s *Sender) *sentCount   { return s.ledger.(*sentCount) }
func heldBy(r *Receiver) *receivedRank { return r.ledger.(*receivedRank) }

// lastBytes is the size of the last slice of the chunks below.
const lastBytes = 100

// chunkOf returns the chunk of k slices that has an id.
func chunkOf(chunkID uint16, k int) []byte {
	return chunktest.Chunk((k-1)*codec.SliceSize+lastBytes, uint32(chunkID)+1)
}

// sliceOf returns a slice of it.
func sliceOf(chunkID uint16, id, k int) codec.Slice {
	return codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: k, LastBytes: lastBytes, Data: erasure.Encode(chunkOf(chunkID, k)).Slice(id)}
}

// alike are the ids of two repair slices of three slices whose rows are multiples of each
// other: one of them is dependent if the other is held.
var alike = func() [2]int {
	for j := 1; ; j++ {
		for i := range j {
			shift := func(column int) int { return erasure.Exponent(j, column) - erasure.Exponent(i, column) }
			if shift(0) == shift(1) && shift(1) == shift(2) {
				return [2]int{3 + i, 3 + j}
			}
		}
	}
}()

// forged returns a slice with one bit that is not the chunk's.
func forged(s codec.Slice) codec.Slice {
	s.Data = append([]byte(nil), s.Data...)
	s.Data[0] ^= 1
	return s
}

// ids returns slices of a chunk.
func ids(chunkID uint16, k int, list ...int) (slices []codec.Slice) {
	for _, id := range list {
		slices = append(slices, sliceOf(chunkID, id, k))
	}
	return slices
}

// ackOf is an ack of the chunk of the senders in their states.
func ackOf(have, top int) codec.Ack { return codec.Ack{ChunkID: 7, NumSlices: 3, Have: have, Top: top} }
