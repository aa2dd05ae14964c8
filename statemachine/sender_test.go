package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

func TestASenderIsReadyWithoutConfiguration(t *testing.T) {
	s := NewSender(SenderConfig{})
	wantEqual(t, "deadline", s.Deadline(), Never)
	wantEqual(t, "pace", s.sched.(*Base).profile, Burst())
	wantEqual(t, "submit", s.Submit(0, chunkOf(3000, 1)), nil)
	p, ok := s.Poll(0)
	must(t, ok && p.SliceID == 0, "slice 0 goes out at once")
	wantEqual(t, "deadline", s.Deadline(), 85)
}

// What is no news and no hold is no sign of life (SND-8, SND-9, SND-15, SND-16).
func TestASenderGivesUp(t *testing.T) {
	for _, giveUp := range []Micros{0, 3 * Second} {
		limit := giveUp
		if giveUp == 0 {
			limit = 10 * Second
		}
		s := NewSender(SenderConfig{GiveUp: giveUp, Scheduler: NewBase(Fixed(0))})
		_ = s.Submit(Second, chunkOf(3000, 1))
		s.Poll(Second)
		s.HandleAck(2*Second, ackOf(0, "100"))
		wantEqual(t, "heard", s.HeardFromAt(), 2*Second)
		s.HandleAck(2*Second+ms, ackOf(0, "100")) // nothing new, no sign of life
		s.HandleAck(2*Second+ms, ackOf(1, "100"))
		s.HandleAck(2*Second+ms, ackOf(0, "000"))
		end := 2*Second + limit
		for s.Deadline() < end {
			s.Poll(s.Deadline())
		}
		wantEqual(t, "deadline", s.Deadline(), end)
		s.Poll(end - 1)
		wantEqual(t, "error", s.Err(), nil)
		_, ok := s.Poll(end)
		must(t, !ok, "nothing goes out any more")
		wantEqual(t, "error", s.Err(), ErrGaveUp, anyError)
		wantEqual(t, "deadline", s.Deadline(), Never)
		wantEqual(t, "submit", s.Submit(end, []byte{1}), ErrGaveUp, anyError)
		ignored := s.Stats().AcksIgnored
		s.HandleAck(end, ackOf(0, "111"))
		wantEqual(t, "state", s.State(), SenderFailed)
		wantEqual(t, "acks ignored", s.Stats().AcksIgnored, ignored+1)
		must(t, s.chunk == nil && s.out.Data == nil, "the chunk is let go of")
	}
}

// An ack at the very time to give up comes before the timer (SND-4).
func TestAnAckAtTheTimeToGiveUpCounts(t *testing.T) {
	s := sentSender()
	s.HandleAck(10*Second, ackOf(7, "010"))
	s.Poll(10 * Second)
	wantEqual(t, "state", s.State(), SenderSending)
}

// Neither alone nor beside news (SND-6, SND-7).
func TestAnAckOfASliceThatWasNeverSentIsNoNews(t *testing.T) {
	s := startedSender()
	s.Poll(0)
	s.HandleAck(0, ackOf(7, "011"))
	wantEqual(t, "row", s.Row(), S7OldAck)
	wantEqual(t, "acked", s.Acked(), ids())
	s.HandleAck(0, ackOf(7, "111"))
	wantEqual(t, "row", s.Row(), S9News)
	wantEqual(t, "acked", s.Acked(), ids(0))
	p, _ := s.Poll(0)
	wantEqual(t, "next slice", p.SliceID, 1)
}

// It is then the sender of the next one (SND-13, SND-16).
func TestACompleteSenderLetsGoOfTheChunk(t *testing.T) {
	s := sentSender()
	s.HandleAck(0, ackOf(7, "111"))
	must(t, s.chunk == nil && s.out.Data == nil, "the chunk is let go of")
	wantEqual(t, "slices", s.NumSlices(), 0)
	wantEqual(t, "next chunk", s.ChunkID(), 8)
	wantEqual(t, "deadline", s.Deadline(), Never)
}

// What a caller appends to a slice's data must not end up in the next slice.
func TestSlicesHaveNoRoomBehindThem(t *testing.T) {
	s := startedSender()
	p, _ := s.Poll(0)
	wantEqual(t, "length and room", []int{len(p.Data), cap(p.Data)}, []int{1024, 1024})
}

// Each size that has another last slice (LIM-2, LIM-3, SND-14).
func TestSlicesAreCutAsTheyShould(t *testing.T) {
	for _, size := range []int{1, 1023, 1024, 1025, 2048, 3000} {
		chunk := chunkOf(size, 5)
		s := NewSender(SenderConfig{FirstChunkID: 99, Scheduler: NewBase(Fixed(0))})
		_ = s.Submit(0, chunk)
		var got []codec.Slice
		for p := range slicesOut(s, 0) {
			got = append(got, p)
		}
		wantEqual(t, "slices", got, slicesOf(99, chunk))
	}
}

func TestSenderStats(t *testing.T) {
	s := NewSender(SenderConfig{Scheduler: NewBase(Fixed(0))})
	_ = s.Submit(Second, chunkOf(2100, 1))
	for range 3 {
		s.Poll(Second)
	}
	s.HandleAck(Second+40*ms, ackOf(1, "111"))
	s.HandleAck(Second+40*ms, ackOf(0, "001"))
	s.Poll(Second + 40*ms) // slice 0 again
	s.HandleAck(Second+50*ms, ackOf(0, "001"))
	s.HandleAck(Second+80*ms, ackOf(0, "111"))
	s.HandleAck(Second+80*ms, ackOf(0, "111"))
	wantEqual(t, "stats", s.Stats(), SenderStats{
		Chunks: 1, ChunkBytes: 2100, SlicesSent: 4, SlicesResent: 1, SlicesAcked: 3,
		BytesSent: 3*(1024+13) + 52 + 14, AcksReceived: 5, AcksIgnored: 3, LastChunkTime: 80 * ms,
		Schedule: ScheduleStats{SmoothedRTT: 42_625, MinRTT: 40 * ms, Lost: 1},
	})
}

func TestWhatIsObserved(t *testing.T) {
	var seen []Observation
	s := NewSender(SenderConfig{
		FirstChunkID: 5, Scheduler: NewBase(Fixed(0)),
		Observe: func(o Observation) { seen = append(seen, o) },
	})
	_ = s.Submit(0, chunkOf(3000, 1))
	for range 3 {
		s.Poll(0)
	}
	s.HandleAck(40*ms, ackOf(5, "001"))
	s.Poll(40 * ms)
	s.HandleAck(41*ms, ackOf(5, "111"))
	wantEqual(t, "observed", seen, []Observation{
		{Kind: Sent, At: 0, ChunkID: 5, SliceID: 0},
		{Kind: Sent, At: 0, ChunkID: 5, SliceID: 1},
		{Kind: Sent, At: 0, ChunkID: 5, SliceID: 2},
		{Kind: Acked, At: 40 * ms, ChunkID: 5, SliceID: 2},
		{Kind: MeasuredRTT, At: 40 * ms, ChunkID: 5, SliceID: 2, RTT: 40 * ms},
		{Kind: Resent, At: 40 * ms, ChunkID: 5, SliceID: 0},
		{Kind: Acked, At: 41 * ms, ChunkID: 5, SliceID: 0},
		{Kind: Acked, At: 41 * ms, ChunkID: 5, SliceID: 1},
		{Kind: MeasuredRTT, At: 41 * ms, ChunkID: 5, SliceID: 1, RTT: 41 * ms},
		{Kind: Spurious, At: 41 * ms, ChunkID: 5, SliceID: 0},
	})
}

func TestNamesOfObservations(t *testing.T) {
	var got []string
	for _, k := range []ObservationKind{Sent, Resent, Acked, Spurious, MeasuredRTT} {
		got = append(got, k.String())
	}
	wantEqual(t, "names", got, []string{"sent", "resent", "acked", "spurious", "rtt"})
}

// Another scheduler takes the place of Base without a change to the sender: it
// is asked only while a chunk is in flight, and told everything in order (SND-9, SND-12).
func TestAnotherScheduler(t *testing.T) {
	sched := &stubScheduler{next: []int{1, 0}, deadline: 77}
	s := NewSender(SenderConfig{FirstChunkID: 3, Scheduler: sched})
	s.Poll(0)
	_ = s.Submit(5, chunkOf(1500, 1))
	wantEqual(t, "deadline", s.Deadline(), 77)
	for _, want := range []int{1, 0} {
		p, ok := s.Poll(6)
		must(t, ok, "a slice goes out")
		wantEqual(t, "slice", p.SliceID, want)
	}
	s.Poll(6)
	s.HandleAck(9, ackOf(3, "11"))
	s.Poll(9)
	wantEqual(t, "what it was told", sched.log, []string{"begin 5: 3, 2 slices, 476 bytes", "next", "next", "next", "news 9: 2"})
	wantEqual(t, "stats", s.Stats().Schedule, ScheduleStats{Lost: 4})
}
