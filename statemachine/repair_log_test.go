package statemachine

import (
	"errors"
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// logged returns a log and what it is given of some kinds.
func logged(kinds ...eventlog.Kind) (eventlog.Log, *[]eventlog.Event) {
	seen := new([]eventlog.Event)
	return func(e eventlog.Event) {
		for _, k := range kinds {
			if e.Kind == k {
				*seen = append(*seen, e)
			}
		}
	}, seen
}

// What each slice is for the receiver.
func TestWhatSlicesAreLoggedAs(t *testing.T) {
	log, seen := logged(eventlog.SliceReceived, eventlog.ChunkStarted, eventlog.ChunkCompleted, eventlog.ChunkFailed, eventlog.AckSent, eventlog.State)
	r := check.Must(NewReceiver(ReceiverConfig{Kind: codec.Repair, Log: log}))
	as := func(s codec.Slice, want string) {
		t.Helper()
		*seen = nil
		r.HandleSlice(r.now, s)
		for _, e := range *seen {
			if e.Kind == eventlog.SliceReceived {
				check.Equal(t, "slice", e.SliceID, s.SliceID)
				check.Equal(t, "as", e.As, want)
				return
			}
		}
		t.Fatalf("slice %d is not in the log", s.SliceID)
	}
	as(sliceOf(0, alike[0], 3), eventlog.New)
	check.Equal(t, "a chunk has begun", (*seen)[1].Kind, eventlog.ChunkStarted)
	as(sliceOf(0, alike[0], 3), eventlog.Duplicate)
	as(sliceOf(0, alike[1], 3), eventlog.Dependent)
	as(sliceOf(3, 0, 3), eventlog.Foreign)
	as(sliceOf(0, 0, 3), eventlog.New)
	as(sliceOf(0, 0, 4), eventlog.Conflict)
	as(sliceOf(0, 1, 3), eventlog.New)
	check.Equal(t, "the chunk is complete", (*seen)[1].Kind, eventlog.ChunkCompleted)
	as(sliceOf(1, 0, 3), eventlog.Early)
	_, _ = r.Read(r.now, nil)
	as(sliceOf(0, 1, 3), eventlog.Late)
	*seen = nil
	_, ok := r.Poll(r.now + 5*ms)
	check.That(t, ok, "an ack is due")
	check.Equal(t, "events of an ack", (*seen)[0].Kind, eventlog.AckSent)
	as(sliceOf(1, 0, 3), eventlog.New)
	_, _ = r.Poll(r.now + giveUp + 5*ms)
	*seen = nil
	for range 3 {
		_, _ = r.Poll(r.now + giveUp)
	}
	check.That(t, r.Err() != nil, "it gave up")
	as(sliceOf(1, 1, 3), eventlog.Foreign)
}

// What slices are sent for, how often, and how a chunk ends at the sender.
func TestWhatIsLoggedOfASender(t *testing.T) {
	log, seen := logged(eventlog.SliceSent, eventlog.SlicesCounted, eventlog.ChunkCompleted, eventlog.ChunkFailed)
	sched := &scripted{deadline: core.Never}
	s := check.Must(NewSender(SenderConfig{Kind: codec.Repair, Scheduler: sched, Log: log}))
	check.Same(t, "submit", s.SubmitEncoded(0, erasure.Encode(chunkOf(0, 2))), nil)
	sends(s, 3)
	check.Equal(t, "sent", []string{(*seen)[0].Why, (*seen)[1].Why, (*seen)[2].Why}, []string{eventlog.First, eventlog.First, eventlog.Repair})
	check.Equal(t, "times", (*seen)[2].Times, 1)
	sends(s, erasure.MaxIDs)
	check.Equal(t, "the ids are used again", (*seen)[len(*seen)-1].Times, 2)
	*seen = nil
	s.HandleAck(ms, codec.Ack{NumSlices: 2, Have: 2, Top: 2})
	check.Equal(t, "delivered", []eventlog.Kind{(*seen)[0].Kind, (*seen)[1].Kind}, []eventlog.Kind{eventlog.SlicesCounted, eventlog.ChunkCompleted})
	check.Same(t, "submit", s.SubmitEncoded(2*ms, erasure.Encode(chunkOf(1, 2))), nil)
	sends(s, 1)
	*seen = nil
	_, _ = s.Poll(2*ms + giveUp)
	check.That(t, errors.Is(s.Err(), ErrGaveUp), "it gave up")
	check.Equal(t, "and said so", (*seen)[0].Kind, eventlog.ChunkFailed)
}
