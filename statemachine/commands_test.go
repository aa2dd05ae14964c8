package statemachine_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/adaptive"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// The real machines as stateful systems: a random sequence of commands, whatever users
// and networks may do, is given to a machine beside its oracle. When the two
// differ gopter shrinks the sequence, and the shortest one is printed.

// waits are how long a poll waits; beyond them it waits for the deadline.
var waits = []core.Micros{0, 1, 2 * ms, 300 * ms, 6 * second, 10 * second}

func wait(now, deadline core.Micros, arg int) core.Micros {
	switch {
	case arg < len(waits):
		return now + waits[arg]
	case deadline == core.Never:
		return now
	}
	return max(now, deadline)
}

// rarely is 0 most of the time.
func rarely(arg int) int { return []int{0, 0, 0, 0, 1, -1, -2}[arg] }

type senderSystem struct {
	objections
	*chunks.CheckedSender
	now core.Micros
}

var senderVerbs = []*commandVerb[*senderSystem]{
	{Weight: 3, Limits: commandArgs{6, 250}, Run: func(s *senderSystem, a commandArgs) string {
		size := []int{1, 3000, 1025, 5000, 0, codec.MaxChunkSize + 1}[a[0]]
		err := s.Submit(s.now, chunktest.Chunk(size, uint32(a[1])))
		return fmt.Sprintf("submit %d bytes: %v", size, err)
	}},
	{Weight: 6, Limits: commandArgs{2 * len(waits)}, Run: func(s *senderSystem, a commandArgs) string {
		s.now = wait(s.now, s.Deadline(), a[0])
		text := fmt.Sprintf("polled at %d:", s.now)
		for range 1000 {
			slice, ok := s.Poll(s.now)
			if !ok || s.Any() {
				break
			}
			text += fmt.Sprintf(" slice %d", slice.SliceID)
		}
		return text
	}},
	// Of the right chunk and number of slices, mostly; its bits are any, also of
	// slices that were never sent.
	{Weight: 6, Limits: commandArgs{32, 6, 6}, Run: func(s *senderSystem, a commandArgs) string {
		v := s.Vars()
		ack := codec.Ack{ChunkID: v.ChunkID + uint16(rarely(a[1])), NumSlices: v.NumSlices + rarely(a[2])}
		ack.Acked = core.Set{uint64(a[0])}.Intersect(core.FirstN(ack.NumSlices))
		ours := s.HandleAck(s.now, ack)
		return fmt.Sprintf("ack %05b of %d slices of chunk %d: ours %v", ack.Acked[0], ack.NumSlices, ack.ChunkID, ours)
	}},
}

// The sender does what its oracle does, whatever is asked of it and whichever acks come
// (section 7), with any scheduler.
func TestCommandsToTheSender(t *testing.T) {
	for _, p := range []base.Profile{base.Fixed(0), base.Burst(), base.Article(4_000_000)} {
		runCommands(t, func() *senderSystem {
			return newSenderSystem(check.Must(base.New(p)), chunks.BaseOf(p).Oracle())
		}, senderVerbs...)
	}
	runCommands(t, func() *senderSystem {
		return newSenderSystem(check.Must(adaptive.New(adaptive.Adaptive())), chunks.Recovery{Recovery: "adaptive"}.Oracle())
	}, senderVerbs...)
}

func newSenderSystem(scheduler statemachine.Scheduler, oracle chunkoracle.Scheduler) *senderSystem {
	s := &senderSystem{}
	s.CheckedSender = check.Must(chunks.NewCheckedSender(statemachine.SenderConfig{FirstChunkID: 65534, Scheduler: scheduler}, oracle, s.Fail))
	return s
}

type receiverSystem struct {
	objections
	*chunks.CheckedReceiver
	now core.Micros
}

var receiverVerbs = []*commandVerb[*receiverSystem]{
	// Of chunks 2 before to 1 after the current one, of which each has its own number
	// of slices, or a forged one.
	{Weight: 10, Limits: commandArgs{7, 4, 8}, Run: func(r *receiverSystem, a commandArgs) string {
		chunkID := r.Vars().ChunkID + uint16(rarely(a[0]))
		n := 1 + int(chunkID)%4 + a[2]/7
		slice := chunktest.Slices(chunkID, chunktest.Chunk(1024*n-1000, uint32(chunkID)))[a[1]%n]
		ours := r.HandleSlice(r.now, slice)
		return fmt.Sprintf("slice %d of %d of chunk %d: ours %v", slice.SliceID, n, chunkID, ours)
	}},
	{Weight: 6, Limits: commandArgs{2 * len(waits)}, Run: func(r *receiverSystem, a commandArgs) string {
		r.now = wait(r.now, r.Deadline(), a[0])
		text := fmt.Sprintf("polled at %d:", r.now)
		for range 1000 {
			ack, ok := r.Poll(r.now)
			if !ok || r.Any() {
				break
			}
			text += fmt.Sprintf(" ack %04b of %d slices of chunk %d", ack.Acked[0], ack.NumSlices, ack.ChunkID)
		}
		return text
	}},
	{Weight: 3, Limits: commandArgs{}, Run: func(r *receiverSystem, _ commandArgs) string {
		got, err := r.Read(r.now, nil)
		return fmt.Sprintf("read: %d bytes, %v", len(got), err)
	}},
}

// The receiver does what its oracle does, whichever slices come and whenever it is read
// (section 8).
func TestCommandsToTheReceiver(t *testing.T) {
	for _, first := range []uint16{0, 65534} {
		runCommands(t, func() *receiverSystem {
			r := &receiverSystem{}
			r.CheckedReceiver = check.Must(chunks.NewCheckedReceiver(statemachine.ReceiverConfig{FirstChunkID: first}, r.Fail))
			return r
		}, receiverVerbs...)
	}
}
