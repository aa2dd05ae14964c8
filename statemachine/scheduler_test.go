package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/sim/chunk/chunktest"
)

func TestWhatIsObserved(t *testing.T) {
	var seen []eventlog.Event
	sched := &inTurn{}
	s := check.Must(NewSender(SenderConfig{FirstChunkID: 5, Scheduler: sched, Log: func(o eventlog.Event) { seen = append(seen, o) }}))
	_ = s.Submit(0, chunktest.Chunk(2000, 1))
	s.Poll(0)
	s.Poll(0)
	s.HandleAck(40*ms, chunktest.Ack(5, "01"))
	sched.due = bitset.Of(0)
	s.Poll(40 * ms)
	s.HandleAck(41*ms, chunktest.Ack(5, "11"))
	check.Equal(t, "observed", seen, []eventlog.Event{
		{Kind: Sent, At: 0, ChunkID: 5, SliceID: 0},
		{Kind: Sent, At: 0, ChunkID: 5, SliceID: 1},
		{Kind: Acked, At: 40 * ms, ChunkID: 5, SliceID: 1},
		{Kind: Resent, At: 40 * ms, ChunkID: 5, SliceID: 0},
		{Kind: Acked, At: 41 * ms, ChunkID: 5, SliceID: 0},
	})
}

func TestNamesOfeventlog.Events(t *testing.T) {
	var got []string
	for _, k := range []eventlog.EventKind{Sent, Resent, Acked, Spurious, MeasuredRTT} {
		got = append(got, k.String())
	}
	check.Equal(t, "names", got, []string{"sent", "resent", "acked", "spurious", "rtt"})
}

// The scheduler is asked only while a chunk is in flight, and called in order
// (SND-9, SND-10, SND-12).
func TestHowASchedulerIsCalled(t *testing.T) {
	sched := &inTurn{deadline: 77}
	s := newSender(3, sched)
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
	for _, c := range []struct{ scheduler, want machine.Micros }{{599, 599}, {600, 600}, {601, 600}, {machine.Never, 600}} {
		sched.deadline = c.scheduler
		check.Equal(t, "deadline", s.Deadline(), c.want)
	}
}
