package chunk_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/sim"
	"github.com/chunkwire/chunkwire/sim/chunk"
	"github.com/chunkwire/chunkwire/statemachine"
)

var profiles = []base.Profile{
	base.Burst(), base.Fixed(0), base.Fixed(480_000), base.Fixed(16_000_000), base.Article(2_400_000),
	{Rate: 400_000, Cap: 9000, Burst: 5000, AckPays: true, Spacing: 700},
	{Rate: 80_000, Cap: 1066, ResendDelay: 3 * machine.Millisecond},
}

// pass lets time go by: nothing, a little, or up to the deadline or just before.
func pass(t *rapid.T, now, deadline machine.Micros) machine.Micros {
	const ms = machine.Millisecond
	d := rapid.SampledFrom([]machine.Micros{-1, -1, -1, -2, 0, 1, ms, 3 * ms, 40 * ms, 600 * ms, 6 * machine.Second}).Draw(t, "time")
	switch {
	case d >= 0:
		return now + d
	case deadline == machine.Never:
		return now
	}
	return max(now, deadline+d+1)
}

// drawSet draws a subset of some slices.
func drawSet(t *rapid.T, of bitset.Set) (set bitset.Set) {
	share := rapid.IntRange(0, 4).Draw(t, "share")
	for id := range of.All() {
		if rapid.IntRange(0, 3).Draw(t, "in") < share {
			set.Add(id)
		}
	}
	return set
}

func TestSenderDoesWhatItsModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom([]uint16{0, 65534}).Draw(t, "first id")
		giveUp := rapid.SampledFrom([]machine.Micros{0, 1, machine.Second, statemachine.MaxGiveUp}).Draw(t, "give up")
		s := drawSender(t, statemachine.SenderConfig{FirstChunkID: first, GiveUp: giveUp})
		now := machine.Micros(0)
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			now = pass(t, now, s.Deadline())
			v := s.Vars()
			ack := codec.Ack{ChunkID: v.ChunkID, NumSlices: v.NumSlices}
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0, 1:
				size := rapid.SampledFrom([]int{0, 1, 1024, 1025, 5000, 40_000, codec.MaxChunkSize, codec.MaxChunkSize + 1}).Draw(t, "size")
				_ = s.Submit(now, block(size))
			case 2, 3:
				ack.Acked = drawSet(t, v.Sent)
				s.HandleAck(now, ack)
			case 4: // also of what was never sent, or that no decoder returns
				ack.Acked = drawSet(t, bitset.FirstN(8))
				s.HandleAck(now, ack)
			case 5: // a hold, or foreign
				ack.ChunkID -= uint16(rapid.IntRange(0, 1).Draw(t, "before"))
				ack.NumSlices += rapid.IntRange(0, 1).Draw(t, "more")
				s.HandleAck(now, ack)
			default:
				for range rapid.SampledFrom([]int{1, 1000}).Draw(t, "polls") {
					if _, ok := s.Poll(now - machine.Micros(rapid.IntRange(0, 1).Draw(t, "back"))); !ok {
						break
					}
				}
			}
		}
	})
}

// drawSender draws a sender with any scheduler: one of the base algorithm beside
// its model, or the adaptive one.
func drawSender(t *rapid.T, cfg statemachine.SenderConfig) *chunk.CheckedSender {
	var model statemachine.Scheduler
	var err1 error
	if i := rapid.IntRange(-1, len(profiles)-1).Draw(t, "profile"); i < 0 {
		cfg.Scheduler, err1 = adaptive.New(adaptive.Adaptive())
	} else {
		cfg.Scheduler, err1 = base.New(profiles[i])
		model = chunk.NewBaseModel(profiles[i])
	}
	s, err2 := chunk.NewCheckedSender(cfg, model, t.Fatalf)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReceiverDoesWhatItsModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.SampledFrom([]uint16{0, 65535}).Draw(t, "first id")
		giveUp := rapid.SampledFrom([]machine.Micros{0, 3, machine.Second}).Draw(t, "give up")
		r, err := chunk.NewCheckedReceiver(statemachine.ReceiverConfig{FirstChunkID: first, GiveUp: giveUp}, t.Fatalf)
		if err != nil {
			t.Fatal(err)
		}
		now := machine.Micros(0)
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			now = pass(t, now, r.Deadline())
			switch rapid.IntRange(0, 5).Draw(t, "event") {
			case 0:
				_, _ = r.Read(now, []byte("before"))
			case 1, 2:
				r.Poll(now - machine.Micros(rapid.IntRange(0, 1).Draw(t, "back")))
			default:
				r.HandleSlice(now, drawSlice(t, r.Vars()))
			}
		}
	})
}

// drawSlice draws a slice: mostly of the current chunk or of the one before, now
// and then one that no decoder returns.
func drawSlice(t *rapid.T, v statemachine.ReceiverVars) codec.Slice {
	s := codec.Slice{ChunkID: v.ChunkID + uint16(rapid.SampledFrom([]int{0, 0, 0, 0, -1, 1}).Draw(t, "chunk"))}
	s.NumSlices = rapid.SampledFrom([]int{v.NumSlices, v.NumSlices, v.PreviousSlices, 1, 2, 3, 20, 256}).Draw(t, "slices")
	s.SliceID = rapid.IntRange(0, max(0, s.NumSlices-1)).Draw(t, "slice")
	if next := v.Received.Count(); next < s.NumSlices && rapid.Bool().Draw(t, "next") {
		s.SliceID = next
	}
	size := codec.SliceSize
	if s.Last() {
		size = rapid.IntRange(1, codec.SliceSize).Draw(t, "size")
	}
	size += rapid.SampledFrom([]int{0, 0, 0, 0, 0, 0, 0, 1, -1}).Draw(t, "wrong by")
	s.Data = block(size)
	return s
}

// Two models converse as two machines do, to the microsecond and the byte.
func TestModelsConverseAsMachinesDo(t *testing.T) {
	bad := s1
	bad.Loss, bad.Duplicate, bad.Reorder, bad.ReorderDelay = 20, 5, 5, 30*time.Millisecond
	for i, p := range profiles {
		machines := converseWith(t, bad, func() (chunk.SenderMachine, chunk.ReceiverMachine, error) {
			scheduler, err1 := base.New(p)
			s, err2 := statemachine.NewSender(statemachine.SenderConfig{Scheduler: scheduler})
			r, err3 := statemachine.NewReceiver(statemachine.ReceiverConfig{})
			return s, r, errors.Join(err1, err2, err3)
		})
		models := converseWith(t, bad, func() (chunk.SenderMachine, chunk.ReceiverMachine, error) {
			s := chunk.NewSenderModel(statemachine.SenderConfig{Scheduler: chunk.NewBaseModel(p)})
			return s, chunk.NewReceiverModel(statemachine.ReceiverConfig{}), nil
		})
		if diff := cmp.Diff(models, machines); diff != "" {
			t.Errorf("profile %d (-models +machines):\n%s", i, diff)
		}
	}
}

type outcome struct {
	At       machine.Micros
	Steps    int64
	Sender   statemachine.SenderStats
	Receiver statemachine.ReceiverStats
}

// converseWith sends two chunks, the second one as soon as the first has arrived.
func converseWith(t *testing.T, path netsim.Path, ends func() (chunk.SenderMachine, chunk.ReceiverMachine, error)) (out []outcome) {
	t.Helper()
	down, err1 := netsim.NewLink(path, 1)
	up, err2 := netsim.NewLink(path, 2)
	s, r, err3 := ends()
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	w := sim.NewWorld(sim.Links(down, up, chunk.Size), sim.End[codec.Packet](chunk.Sender{SenderMachine: s}), chunk.Receiver{ReceiverMachine: r})
	for _, size := range []int{50_000, 3000} {
		if err := s.Submit(w.Now(), block(size)); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		done := func() bool {
			_, _ = r.Read(w.Now(), nil)
			return s.Vars().State != statemachine.SenderSending
		}
		if !w.Run(machine.Second*600, done) || s.Err() != nil {
			t.Fatalf("%d bytes: %v", size, s.Err())
		}
		out = append(out, outcome{w.Now(), w.Steps(), s.Stats(), r.Stats()})
	}
	return out
}
