package statemachine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

// senderCannot is the list of what cannot occur.
var senderCannot = []cannotOccur[SenderState]{
	{SenderIdle, AckNothingNew, "no ack has as few slices as an idle sender: none"},
	{SenderIdle, AckHold, "no ack has as few slices as an idle sender: none"},
	{SenderIdle, AckNews, "no ack has as few slices as an idle sender: none"},
	{SenderIdle, AckAll, "no ack has as few slices as an idle sender: none"},
	{SenderIdle, PollSlice, "the scheduler is asked only while sending"},
	{SenderIdle, PollGiveUp, "nothing is waited for"},
	{SenderFailed, PollSlice, "the scheduler is asked only while sending"},
	{SenderFailed, PollGiveUp, "nothing is waited for any more"},
}

// senderEvent is an event, and the guard that holds for it as the sender sees it.
type senderEvent struct {
	apply func(s *Sender)
	guard func(s *Sender) Guard
}

func submitEvent(size int) senderEvent {
	return senderEvent{
		apply: func(s *Sender) { _ = s.Submit(0, chunkOf(size, 9)) },
		guard: func(*Sender) Guard {
			if size == 0 || size > 262144 {
				return SizeInvalid
			}
			return SizeValid
		},
	}
}

func ackEvent(a codec.Ack) senderEvent {
	return senderEvent{
		apply: func(s *Sender) { s.HandleAck(0, a) },
		guard: func(s *Sender) Guard { return s.ackGuard(a, a.Acked.Intersect(s.sent).Minus(s.acked)) },
	}
}

func pollEvent(now Micros, want Guard) senderEvent {
	return senderEvent{
		apply: func(s *Sender) { s.Poll(now) },
		guard: func(*Sender) Guard { return want },
	}
}

// A sender in each of its states, reached by events only. The chunk has three
// slices and the id 7.

func idleSender() *Sender {
	return NewSender(SenderConfig{FirstChunkID: 7, Scheduler: NewBase(Fixed(0))})
}

func idleAgainSender() *Sender {
	s := NewSender(SenderConfig{FirstChunkID: 6, Scheduler: NewBase(Fixed(0))})
	_ = s.Submit(0, chunkOf(5, 1))
	s.Poll(0)
	s.HandleAck(0, ackOf(6, "1"))
	return s
}

func startedSender() *Sender {
	s := idleSender()
	_ = s.Submit(0, chunkOf(3000, 1))
	return s
}

func sentSender() *Sender {
	s := startedSender()
	for range 3 {
		s.Poll(0)
	}
	return s
}

func ackedSender() *Sender {
	s := sentSender()
	s.HandleAck(0, ackOf(7, "010"))
	return s
}

func failed(s *Sender) func() *Sender {
	return func() *Sender {
		s.Poll(s.now + DefaultGiveUp)
		return s
	}
}

var senderDrives = []struct {
	state SenderState
	guard Guard
	row   Row
	from  func() *Sender
	event senderEvent
}{
	{SenderIdle, SizeValid, S1Start, idleSender, submitEvent(3000)},
	{SenderIdle, SizeInvalid, S2RefuseSize, idleAgainSender, submitEvent(0)},
	{SenderIdle, AckForeign, S5IdleAck, idleAgainSender, ackEvent(ackOf(7, "1"))},
	{SenderIdle, PollNothing, S12IdlePoll, idleAgainSender, pollEvent(Second, PollNothing)},
	{SenderSending, SizeValid, S3RefuseBusy, startedSender, submitEvent(3000)},
	{SenderSending, SizeInvalid, S3RefuseBusy, ackedSender, submitEvent(262145)},
	{SenderSending, AckForeign, S6ForeignAck, sentSender, ackEvent(ackOf(8, "111"))},
	{SenderSending, AckNothingNew, S7OldAck, ackedSender, ackEvent(ackOf(7, "010"))},
	{SenderSending, AckHold, S8HoldAck, sentSender, ackEvent(ackOf(7, "000"))},
	{SenderSending, AckNews, S9News, ackedSender, ackEvent(ackOf(7, "100"))},
	{SenderSending, AckAll, S10Complete, ackedSender, ackEvent(ackOf(7, "101"))},
	{SenderSending, PollSlice, S13SendSlice, startedSender, pollEvent(0, PollSlice)},
	{SenderSending, PollNothing, S14Wait, sentSender, pollEvent(0, PollNothing)},
	{SenderSending, PollGiveUp, S15GiveUp, sentSender, pollEvent(DefaultGiveUp, PollGiveUp)},
	{SenderFailed, SizeValid, S4RefuseFailed, failed(sentSender()), submitEvent(1)},
	{SenderFailed, SizeInvalid, S4RefuseFailed, failed(sentSender()), submitEvent(0)},
	{SenderFailed, AckForeign, S11FailedAck, failed(sentSender()), ackEvent(ackOf(6, "111"))},
	{SenderFailed, AckNothingNew, S11FailedAck, failed(ackedSender()), ackEvent(ackOf(7, "000"))},
	{SenderFailed, AckHold, S11FailedAck, failed(sentSender()), ackEvent(ackOf(7, "000"))},
	{SenderFailed, AckNews, S11FailedAck, failed(sentSender()), ackEvent(ackOf(7, "001"))},
	{SenderFailed, AckAll, S11FailedAck, failed(sentSender()), ackEvent(ackOf(7, "111"))},
	{SenderFailed, PollNothing, S16FailedPoll, failed(sentSender()), pollEvent(0, PollNothing)},
}

// Whatever can hold, in each state (SND-1, SND-2, SND-5 to SND-9).
func TestEveryEventInEveryStateOfTheSender(t *testing.T) {
	driven := map[combination[SenderState]]Row{}
	for _, d := range senderDrives {
		s := d.from()
		wantEqual(t, "state before", s.State(), d.state)
		wantEqual(t, d.state.String()+": guard", d.event.guard(s), d.guard)
		d.event.apply(s)
		want := rowsFor(SenderTable(), d.state, d.guard)[0]
		wantEqual(t, d.state.String()+", "+d.guard.String()+": row", s.Row().String(), want.Row.String())
		wantEqual(t, d.state.String()+", "+d.guard.String()+": row by name", s.Row(), d.row)
		wantEqual(t, d.state.String()+", "+d.guard.String()+": next state", s.State(), want.To)
		driven[combination[SenderState]{d.state, d.guard}] = s.Row()
	}
	checkDriven(t, senderStates, senderGuards, SenderTable(), driven, senderCannot)
}

// askedScheduler is a Base that counts how often it is asked.
type askedScheduler struct {
	*Base
	asked int
}

func (a *askedScheduler) Next(now Micros) (int, bool) {
	a.asked++
	return a.Base.Next(now)
}

// What is listed as impossible does not occur in random walks, and every row
// taken is one of the state that the sender was in.
func TestSenderMeetsNothingImpossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sched := &askedScheduler{Base: NewBase(Fixed(0))}
		s := NewSender(SenderConfig{FirstChunkID: 65535, Scheduler: sched})
		now := Micros(0)
		for range rapid.IntRange(1, 60).Draw(t, "events") {
			before, asked := s.State(), sched.asked
			now += rapid.SampledFrom([]Micros{0, 1, 300 * Millisecond, 4 * Second}).Draw(t, "later")
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				size := rapid.SampledFrom([]int{0, 1, 3000, 262145}).Draw(t, "size")
				_ = s.Submit(now, make([]byte, size))
			case 1, 2:
				a := codec.Ack{
					ChunkID:   s.ChunkID() + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk")),
					NumSlices: rapid.SampledFrom([]int{-1, 0, 1, 3, 257}).Draw(t, "slices"),
				}
				a.Acked[0] = rapid.Uint64Range(0, 15).Draw(t, "bits")
				g := ackEvent(a).guard(s)
				if why := whyNot(senderCannot, before, g); why != "" {
					t.Fatalf("%v, %v occurred, though: %s", before, g, why)
				}
				s.HandleAck(now, a)
			case 3:
				s.Poll(now)
				if before != SenderSending && sched.asked != asked {
					t.Fatalf("the scheduler was asked in %v", before)
				}
			}
			tr := SenderTable()[s.Row()-1]
			if tr.From != before || tr.To != s.State() {
				t.Fatalf("row %v from %v to %v, want %v to %v", s.Row(), before, s.State(), tr.From, tr.To)
			}
		}
	})
}
