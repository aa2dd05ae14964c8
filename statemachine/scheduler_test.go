package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/logtest"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/core"
)

// The log of a sender, with a scheduler that does not say why.
func TestLogOfASender(t *testing.T) {
	var log logtest.Text
	sched := &inTurn{}
	s := check.Must(NewSender(SenderConfig{FirstChunkID: 5, Scheduler: sched, Log: log.Add}))
	_ = s.Submit(0, chunktest.Chunk(2000, 1))
	s.Poll(0)
	s.Poll(0)
	s.Poll(0)
	s.HandleAck(40*ms, chunktest.Ack(5, "01"))
	sched.due = core.SetOf(0)
	s.Poll(40 * ms)
	s.HandleAck(41*ms, chunktest.Ack(5, "11"))
	check.Equal(t, "log", log.Lines, []string{
		"0.000 chunk_started lane=0 chunk=5 bytes=2000 slices=2 direction=out",
		"0.000 state machine=sender lane=0 from=IDLE to=SENDING row=S1",
		"0.000 slice_sent lane=0 chunk=5 slice=0 bytes=1037 times=1 why=first",
		"0.000 state machine=sender lane=0 from=SENDING to=SENDING row=S13",
		"0.000 slice_sent lane=0 chunk=5 slice=1 bytes=990 times=1 why=first",
		"0.000 state machine=sender lane=0 from=SENDING to=SENDING row=S13",
		"40.000 ack_received lane=0 chunk=5 have=1 slices=2 complete=false",
		"40.000 slice_acked lane=0 chunk=5 slice=1",
		"40.000 state machine=sender lane=0 from=SENDING to=SENDING row=S9",
		"40.000 slice_sent lane=0 chunk=5 slice=0 bytes=1037 times=2 why=lost",
		"40.000 state machine=sender lane=0 from=SENDING to=SENDING row=S13",
		"41.000 ack_received lane=0 chunk=5 have=2 slices=2 complete=true",
		"41.000 slice_acked lane=0 chunk=5 slice=0",
		"41.000 chunk_completed lane=0 chunk=5 bytes=2000 direction=out elapsed_ms=41.000",
		"41.000 state machine=sender lane=0 from=SENDING to=IDLE row=S10",
	})
}

// The log of a receiver, to which all kinds of slices come.
func TestLogOfAReceiver(t *testing.T) {
	var log logtest.Text
	r := check.Must(NewReceiver(ReceiverConfig{FirstChunkID: 5, GiveUp: 1000 * ms, Log: log.Add}))
	five, six := chunktest.Slices(5, chunktest.Chunk(2000, 1)), chunktest.Slices(6, chunktest.Chunk(3000, 2))
	r.HandleSlice(0, six[0])
	r.HandleSlice(1*ms, five[1])
	r.HandleSlice(1*ms, five[1])
	three := five[0]
	three.NumSlices = 3
	r.HandleSlice(1*ms, three)
	r.HandleSlice(2*ms, five[0])
	r.HandleSlice(3*ms, five[0])
	r.HandleSlice(3*ms, six[0])
	r.Poll(3 * ms)
	_, _ = r.Read(3*ms, nil)
	r.HandleSlice(4*ms, six[0])
	r.Poll(1004 * ms)
	r.HandleSlice(1005*ms, six[0])
	check.Equal(t, "log", log.Without("state"), []string{
		"0.000 slice_received lane=0 chunk=6 slice=0 bytes=1037 as=foreign",
		"1.000 slice_received lane=0 chunk=5 slice=1 bytes=990 as=new",
		"1.000 chunk_started lane=0 chunk=5 slices=2 direction=in",
		"1.000 slice_received lane=0 chunk=5 slice=1 bytes=990 as=duplicate",
		"1.000 slice_received lane=0 chunk=5 slice=0 bytes=1037 as=conflict",
		"2.000 slice_received lane=0 chunk=5 slice=0 bytes=1037 as=new",
		"2.000 chunk_completed lane=0 chunk=5 bytes=2000 direction=in elapsed_ms=1.000",
		"3.000 slice_received lane=0 chunk=5 slice=0 bytes=1037 as=late",
		"3.000 slice_received lane=0 chunk=6 slice=0 bytes=1037 as=early",
		"3.000 ack_sent lane=0 chunk=5 have=2 slices=2 complete=true",
		"4.000 slice_received lane=0 chunk=6 slice=0 bytes=1037 as=new",
		"4.000 chunk_started lane=0 chunk=6 slices=3 direction=in",
		"1004.000 chunk_failed lane=0 chunk=6 direction=in why=gave_up",
		"1005.000 slice_received lane=0 chunk=6 slice=0 bytes=1037 as=foreign",
	})
}

// The scheduler is asked only while a chunk is in flight, and called in order
// (SND-9, SND-10, SND-12).
func TestHowASchedulerIsCalled(t *testing.T) {
	sched := &inTurn{deadline: 77}
	s := newSender(codec.Named, 3, sched)
	s.Poll(0)
	_ = s.Submit(5, chunktest.Chunk(1500, 1))
	s.Poll(6)
	s.HandleAck(7, chunktest.Ack(3, "00"))
	s.Poll(8)
	check.Equal(t, "deadline", s.Deadline(), 77)
	s.Poll(8)
	s.HandleAck(9, chunktest.Ack(3, "11"))
	s.Poll(9)
	check.Equal(t, "calls", sched.log, []string{
		"begin 5: chunk 3, 2 slices, datagrams of 1037 and 490 bytes", "next", "held 7", "next", "next", "acked 9: 2",
	})
}

// The sender's deadline is the earlier of the scheduler's and the time to give up (SND-16).
func TestTheEarlierDeadlineCounts(t *testing.T) {
	sched := &inTurn{}
	s := check.Must(NewSender(SenderConfig{GiveUp: 500, Scheduler: sched}))
	_ = s.Submit(100, []byte{1})
	s.Poll(100)
	for _, c := range []struct{ scheduler, want core.Micros }{{599, 599}, {600, 600}, {601, 600}, {core.Never, 600}} {
		sched.deadline = c.scheduler
		check.Equal(t, "deadline", s.Deadline(), c.want)
	}
}
