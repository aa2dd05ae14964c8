package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"github.com/chunkwire/chunkwire/eventlog"
)

func TestRepairSenderStats(t *testing.T) {
	c := begin(t, 3)
	c.wait(40 * ms)
	c.send(5)
	c.hear(codec.Ack{ChunkID: 1, NumSlices: 3}, codec.Ack{NumSlices: 3, Have: 2, Top: 3})
	c.hear(codec.Ack{NumSlices: 3, Have: 2, Top: 3}, codec.Ack{NumSlices: 3, Have: 2, Top: 4})
	c.wait(40 * ms)
	c.hear(codec.Ack{NumSlices: 3, Have: 3, Top: 5}, codec.Ack{NumSlices: 3, Have: 3, Top: 5})
	check.Equal(t, "stats", c.s.Stats(), SenderStats{
		Chunks: 1, ChunkBytes: 2*1024 + lastBytes, SlicesSent: 5, SlicesRepair: 2, SlicesAcked: 3,
		BytesSent: 4*1024 + lastBytes + 5*14, AcksReceived: 6, AcksIgnored: 3, LastChunkTime: 80 * ms,
		Schedule: ScheduleStats{Lost: 4},
	})
}

func TestRepairReceiverStats(t *testing.T) {
	r := newReceiver(codec.Repair, 0)
	r.HandleSlice(10*ms, sliceOf(0, alike[0], 3))
	r.HandleSlice(11*ms, sliceOf(0, alike[0], 3))
	r.HandleSlice(12*ms, sliceOf(0, 0, 2))
	r.HandleSlice(13*ms, sliceOf(9, 0, 2))
	r.HandleSlice(14*ms, sliceOf(0, alike[1], 3))
	r.HandleSlice(15*ms, sliceOf(0, 0, 3))
	r.HandleSlice(17*ms, sliceOf(0, 1, 3))
	r.HandleSlice(18*ms, forged(sliceOf(0, 7, 3)))
	r.HandleSlice(18*ms, sliceOf(1, 0, 2))
	r.Poll(18 * ms)
	_, _ = r.Read(18*ms, nil)
	check.Equal(t, "stats", r.Stats(), ReceiverStats{
		Chunks: 1, ChunkBytes: 2*1024 + lastBytes, SlicesReceived: 9, SlicesStored: 3, Duplicates: 2, Dependent: 1,
		Held: 1, Conflicts: 1, Inconsistent: 1, Ignored: 1, AcksSent: 1, LastChunkTime: 7 * ms,
	})
}

// What an application sees: each slice that goes out, and each ack with news as the two
// counts that the sender then knows.
func TestRepairLogOfASender(t *testing.T) {
	var log logtest.Text
	s := check.Must(NewSender(SenderConfig{Kind: codec.Repair, FirstChunkID: 7, Scheduler: &scripted{}, Log: log.Add}))
	_ = s.SubmitEncoded(5, erasure.Encode(chunkOf(7, 3)))
	sends(s, 5)
	s.HandleAck(9, ackOf(0, 0))
	s.HandleAck(9, ackOf(2, 3))
	s.HandleAck(10, ackOf(2, 3))
	s.HandleAck(11, ackOf(1, 4))
	s.HandleAck(12, ackOf(3, 5))
	check.Equal(t, "log", log.Without("state", "ack_received"), []string{
		"0.005 chunk_started lane=0 chunk=7 bytes=2148 slices=3 direction=out",
		"0.005 slice_sent lane=0 chunk=7 slice=0 bytes=1038 times=1 why=first",
		"0.005 slice_sent lane=0 chunk=7 slice=1 bytes=1038 times=1 why=first",
		"0.005 slice_sent lane=0 chunk=7 slice=2 bytes=114 times=1 why=first",
		"0.005 slice_sent lane=0 chunk=7 slice=3 bytes=1038 times=1 why=repair",
		"0.005 slice_sent lane=0 chunk=7 slice=4 bytes=1038 times=1 why=repair",
		"0.009 slices_counted lane=0 chunk=7 have=2 top=3",
		"0.011 slices_counted lane=0 chunk=7 have=2 top=4",
		"0.012 slices_counted lane=0 chunk=7 have=3 top=5",
		"0.012 chunk_completed lane=0 chunk=7 bytes=2148 direction=out elapsed_ms=0.007",
	})
}

// The scheduler logs, too.
func TestASchedulerIsGivenTheLog(t *testing.T) {
	calls := 0
	sched := &observing{}
	s := check.Must(NewSender(SenderConfig{Kind: codec.Repair, Scheduler: sched, Log: func(eventlog.Event) { calls++ }}))
	_ = s.SubmitEncoded(3, erasure.Encode(chunkOf(0, 2)))
	sched.flight.Log(eventlog.Event{})
	sched.flight.Log = nil
	check.Same(t, "calls", calls, 3) // two are the sender's: the chunk and the row
	check.Equal(t, "flight", sched.flight, Flight{Now: 3, NumSlices: 2, Bytes: 1038, LastBytes: 14 + lastBytes})
}

type observing struct {
	quietly
	flight Flight
}

func (o *observing) Begin(f Flight) { o.flight = f }

// Vars allocates nothing, and says what is held in the order in which it came.
func TestRepairVars(t *testing.T) {
	r := almostReceiver(codec.Repair)
	check.Equal(t, "receiver", r.Vars(), ReceiverVars{
		State: ReceiverReceiving, Row: "U23", ChunkID: 8, NumSlices: 3, LastBytes: lastBytes, Have: 2, Top: alike[0] + 1,
		ProgressAt: 2 * ms, PreviousSlices: 2, PreviousTop: 2,
	})
	check.Equal(t, "allocations", testing.AllocsPerRun(10, func() { r.Vars() }), 0)
	check.Equal(t, "ids", r.IDs(), []int{alike[0], 2})
	s := ackedSender(codec.Repair)
	check.Equal(t, "sender", s.Vars(), SenderVars{State: SenderSending, Row: "T9", ChunkID: 7, NumSlices: 3, Transmissions: 4, Have: 1, Top: 2})
	check.Equal(t, "allocations", testing.AllocsPerRun(10, func() { s.Vars() }), 0)
	check.Equal(t, "states", []string{s.State().String(), r.State().String()}, []string{"SENDING", "RECEIVING"})
	check.That(t, s.Err() == nil && r.Err() == nil, "neither has failed")
}
