package statemachine_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// The real machines as stateful systems: a random sequence of commands, whatever users
// and networks may do, is given to a machine beside its oracle. When the two
// differ gopter shrinks the sequence, and the shortest one is printed.

// waits are how long a poll waits; beyond them the clock goes back, or to the deadline.
var repairWaits = []core.Micros{0, 1, 2 * ms, 300 * ms, 6 * core.Second, 10 * core.Second}

// rarely is 0 most of the time.
func repairRarely(arg int) int { return []int{0, 0, 0, 0, 1, -1, -2}[arg] }

type repairSenderSystem struct {
	objections
	commandClock
	*chunks.CheckedSender
}

var repairSenderVerbs = []*commandVerb[*repairSenderSystem]{
	{Weight: 3, Limits: commandArgs{6, 250}, Run: func(s *repairSenderSystem, a commandArgs) string {
		size := []int{1, 3000, 1025, 5000, 0, codec.MaxChunkSize + 1}[a[0]]
		err := s.Submit(s.Now, chunktest.Chunk(size, uint32(a[1])))
		return fmt.Sprintf("submit %d bytes: %v", size, err)
	}},
	{Weight: 6, Limits: commandArgs{2 * len(repairWaits)}, Run: func(s *repairSenderSystem, a commandArgs) string {
		s.Advance(repairWaits, a[0], s.Deadline())
		text := fmt.Sprintf("polled at %d:", s.Now)
		for range 100 {
			slice, ok := s.Poll(s.Now)
			if !ok || s.Any() {
				break
			}
			text += fmt.Sprintf(" id %d", slice.SliceID)
		}
		return text
	}},
	// Of the right chunk and number of slices, mostly; its counts are any, also of ids
	// that were never sent.
	{Weight: 6, Limits: commandArgs{7, 10, 7 * 7}, Run: func(s *repairSenderSystem, a commandArgs) string {
		v := s.Vars()
		ack := codec.Ack{ChunkID: v.ChunkID + uint16(repairRarely(a[2]/7)), NumSlices: v.NumSlices + repairRarely(a[2]%7), Have: a[0] - 1, Top: v.Transmissions + 2 - a[1]}
		ours := s.HandleAck(s.Now, ack)
		return fmt.Sprintf("ack %+v: ours %v", ack, ours)
	}},
}

// The sender does what its oracle does, whatever is asked of it and whichever acks come,
// with any rule.
func TestRepairCommandsToTheSender(t *testing.T) {
	for _, rule := range []chunks.Rule{{}, {Redundant: true}, {Fixed: true, Rate: 4_000_000}} {
		runCommands(t, func() *repairSenderSystem {
			s := &repairSenderSystem{}
			s.CheckedSender = check.Must(chunks.NewCheckedSender(statemachine.SenderConfig{Kind: codec.Repair, FirstChunkID: 65534, Scheduler: check.Must(rule.NewScheduler())}, rule.Oracle(), s.Fail))
			return s
		}, repairSenderVerbs...)
	}
}

type repairReceiverSystem struct {
	objections
	commandClock
	*chunks.CheckedReceiver
}

var repairReceiverVerbs = []*commandVerb[*repairReceiverSystem]{
	// Of chunks 2 before to 1 after the current one, of which each has its own form, or a
	// forged one. Few ids, so that many are dependent, and some that come again.
	{Weight: 12, Limits: commandArgs{7, 12, 10}, Run: func(r *repairReceiverSystem, a commandArgs) string {
		chunkID := r.Vars().ChunkID + uint16(repairRarely(a[0]))
		k := 1 + int(chunkID)%4 + a[2]/9
		e := erasure.Encode(chunktest.Chunk(1024*k-1000, uint32(chunkID)))
		id := a[1] % 10
		if a[1] > 9 {
			id = 8180 + a[1]
		}
		slice := codec.Slice{ChunkID: chunkID, SliceID: id, NumSlices: k, LastBytes: e.LastBytes(), Data: e.Slice(id)}
		if a[2] == 8 {
			slice.Data = chunktest.Chunk(len(slice.Data), 77) // forged
		}
		if a[2] == 7 {
			slice.LastBytes++
		}
		ours := r.HandleSlice(r.Now, slice)
		return fmt.Sprintf("id %d of %d slices of chunk %d, %d, kind %d: ours %v", id, k, chunkID, slice.LastBytes, a[2], ours)
	}},
	{Weight: 6, Limits: commandArgs{2 * len(repairWaits)}, Run: func(r *repairReceiverSystem, a commandArgs) string {
		r.Advance(repairWaits, a[0], r.Deadline())
		text := fmt.Sprintf("polled at %d:", r.Now)
		for range 100 {
			ack, ok := r.Poll(r.Now)
			if !ok || r.Any() {
				break
			}
			text += fmt.Sprintf(" ack %+v", ack)
		}
		return text
	}},
	{Weight: 2, Limits: commandArgs{}, Run: func(r *repairReceiverSystem, _ commandArgs) string {
		got, err := r.Read(r.Now, nil)
		return fmt.Sprintf("read: %d bytes, %v", len(got), err)
	}},
}

// The receiver does what its oracle does, whichever slices come and whenever it is read.
func TestRepairCommandsToTheReceiver(t *testing.T) {
	for _, first := range []uint16{0, 65534} {
		runCommands(t, func() *repairReceiverSystem {
			r := &repairReceiverSystem{}
			r.CheckedReceiver = check.Must(chunks.NewCheckedReceiver(statemachine.ReceiverConfig{Kind: codec.Repair, FirstChunkID: first}, r.Fail))
			return r
		}, repairReceiverVerbs...)
	}
}
