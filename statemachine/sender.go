package statemachine

import "github.com/chunkwire/chunkwire/codec"

// SenderConfig sets up a Sender. The zero value is ready to use.
type SenderConfig struct {
	// FirstChunkID is the id of the first chunk; both ends must agree (CID-1).
	FirstChunkID uint16
	// GiveUp is how long a chunk may stay without progress before the sender
	// fails, at most 2^61; 0 means DefaultGiveUp.
	GiveUp Micros
	// Scheduler says which slice goes next, and when; nil means a Base with the
	// Burst profile. A scheduler serves one sender.
	Scheduler Scheduler
	// Observe, when not nil, is told what happens to each slice as it happens.
	Observe func(Observation)
}

// Sender is the sending end of one connection (section 7). One chunk is in
// flight at a time (CON-2).
type Sender struct {
	state   SenderState
	row     Row
	now     Micros
	giveUp  Micros
	sched   Scheduler
	observe func(Observation)

	// The chunk in flight, or the next one's id when there is none.
	chunkID     uint16
	chunk       []byte // the caller's; nil unless SENDING
	numSlices   int
	sent        codec.Bitset // sent at least once
	acked       codec.Bitset // subset of sent; a bit never goes back (SAFE-3)
	startedAt   Micros
	heardFromAt Micros // when the peer last gave a sign that it will take the chunk

	// What the last step has for its caller.
	refusal error
	out     codec.Slice

	stats SenderStats
}

// NewSender returns an idle sender.
func NewSender(cfg SenderConfig) *Sender {
	s := &Sender{chunkID: cfg.FirstChunkID, giveUp: giveUpAfter(cfg.GiveUp), sched: cfg.Scheduler, observe: cfg.Observe}
	if s.sched == nil {
		s.sched = NewBase(Burst())
	}
	return s
}

// senderInput is what a transition's actions need of its event.
type senderInput struct {
	chunk   []byte
	news    codec.Bitset
	sliceID int
}

// Submit starts the transfer of a chunk of 1..codec.MaxChunkSize bytes. The
// sender does not copy it: it must stay as it is until the sender is idle
// again (SND-18). Submit fails with ErrChunkSize, ErrBusy or ErrGaveUp, and then
// the sender is as it was (SND-1, LIM-1).
func (s *Sender) Submit(now Micros, chunk []byte) error {
	s.advance(now)
	s.refusal = nil
	guard := SizeValid
	if len(chunk) < 1 || len(chunk) > codec.MaxChunkSize {
		guard = SizeInvalid
	}
	s.step(guard, senderInput{chunk: chunk})
	return s.refusal
}

// HandleAck takes an ack that arrived at now (SND-2).
func (s *Sender) HandleAck(now Micros, a codec.Ack) {
	s.advance(now)
	s.stats.AcksReceived++
	// A slice that was never sent cannot have arrived (SND-7).
	news := a.Acked.Intersect(s.sent).Minus(s.acked)
	s.step(s.ackGuard(a, news), senderInput{news: news})
}

// ackGuard tells what an ack means; the first case that holds counts (SND-5,
// SND-6, SND-8).
func (s *Sender) ackGuard(a codec.Ack, news codec.Bitset) Guard {
	switch {
	case a.ChunkID != s.chunkID || a.NumSlices != s.numSlices || a.Validate() != nil:
		return AckForeign
	case !news.Empty():
		if s.acked.Count()+news.Count() == s.numSlices {
			return AckAll
		}
		return AckNews
	case s.acked.Empty() && a.Acked.Empty():
		return AckHold
	}
	return AckNothingNew
}

// Poll returns a slice to send at now, or false when none is due. Call it until
// it says false (SND-9). The slice's data points into the chunk.
func (s *Sender) Poll(now Micros) (codec.Slice, bool) {
	s.advance(now)
	guard, sliceID := PollNothing, 0
	if s.state == SenderSending {
		if s.now-s.heardFromAt >= s.giveUp {
			guard = PollGiveUp
		} else if id, ok := s.sched.Next(s.now); ok {
			guard, sliceID = PollSlice, id
		}
	}
	s.step(guard, senderInput{sliceID: sliceID})
	if s.row == S13SendSlice {
		return s.out, true
	}
	return codec.Slice{}, false
}

// Rest lets go of memory that the next chunk would use again, for a sender that
// may stay idle. While a chunk is in flight it does nothing.
func (s *Sender) Rest() {
	if r, ok := s.sched.(Rester); ok && s.state != SenderSending {
		r.Rest()
	}
}

// Deadline returns when Poll has something to do next, if nothing else happens
// before: Never unless a chunk is in flight (SND-16).
func (s *Sender) Deadline() Micros {
	if s.state != SenderSending {
		return Never
	}
	return min(s.sched.Deadline(), s.heardFromAt+s.giveUp)
}

// The actions of the transition table.

// start begins a chunk; nothing of the one before remains (SND-10).
func (s *Sender) start(chunk []byte) {
	s.chunk = chunk
	s.numSlices = codec.NumSlices(len(chunk))
	s.sent, s.acked = codec.Bitset{}, codec.Bitset{}
	s.startedAt, s.heardFromAt = s.now, s.now
	s.sched.Begin(Flight{
		Now: s.now, ChunkID: s.chunkID, NumSlices: s.numSlices,
		LastBytes: len(chunk) - (s.numSlices-1)*codec.SliceSize, Observe: s.observe,
	})
}

// hear notes a sign of life (SND-11).
func (s *Sender) hear() { s.heardFromAt = s.now }

// note takes news, and passes it on to the scheduler (SND-12).
func (s *Sender) note(news codec.Bitset) {
	s.hear()
	s.acked = s.acked.Union(news)
	s.stats.SlicesAcked += int64(news.Count())
	if s.observe != nil {
		for id := news.Next(0); id >= 0; id = news.Next(id + 1) {
			s.observe(Observation{Kind: Acked, At: s.now, ChunkID: s.chunkID, SliceID: id})
		}
	}
	s.sched.Acked(s.now, news)
}

// complete counts the chunk as delivered and goes on to the next id (SND-13).
func (s *Sender) complete() {
	s.stats.Chunks++
	s.stats.ChunkBytes += int64(len(s.chunk))
	s.stats.LastChunkTime = s.now - s.startedAt
	s.drop()
	s.chunkID++ // modulo 2^16 (CID-2)
	s.numSlices = 0
}

// drop lets go of the caller's chunk.
func (s *Sender) drop() {
	s.chunk = nil
	s.out = codec.Slice{}
}

// send makes the slice that goes out: always the same bytes of the chunk (SND-14,
// SLC-4, LIM-2).
func (s *Sender) send(id int) {
	from := id * codec.SliceSize
	to := min(from+codec.SliceSize, len(s.chunk))
	s.out = codec.Slice{ChunkID: s.chunkID, SliceID: id, NumSlices: s.numSlices, Data: s.chunk[from:to:to]}
	kind := Sent
	if s.sent.Has(id) {
		kind = Resent
		s.stats.SlicesResent++
	}
	s.sent.Set(id)
	s.stats.SlicesSent++
	s.stats.BytesSent += int64(codec.SliceDatagramSize(id, s.numSlices, to-from))
	if s.observe != nil {
		s.observe(Observation{Kind: kind, At: s.now, ChunkID: s.chunkID, SliceID: id})
	}
}

// advance takes a time before the latest one as that one (TIM-1).
func (s *Sender) advance(now Micros) { s.now = max(s.now, now) }
