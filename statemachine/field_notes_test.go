package statemachine

import (
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// What broke in other libraries that do this job, as the numbered field notes
// that the project began with: a test for each. Field notes 1, 2, 5 and 6 are in
// stalls_test.go; 3 in outage_test.go; 4 and 16 to 22 in pace_notes_test.go; 11, 25
// and 33 in forged_test.go; 12 in restart_test.go; 13 in wrap_test.go; 26 in
// sizes_test.go; 30 in memory_test.go; 24, 31 and 32 in transport; 27 and 29 in
// codec and testvectors.

// Field note 7: at the start there is no previous chunk: 65535 is not answered, whatever
// the number of its slices (RCV-6).
func TestNote7NoPreviousChunkAtTheStart(t *testing.T) {
	for _, first := range []uint16{0, 1, 65535} {
		c := converseFrom(t, first)
		for _, n := range []int{1, 2, 256} {
			c.forge(sliceOf(first-1, 0, n))
			c.answer()
		}
		wantEqual(t, "ignored", c.receiver.Stats().Ignored, 3)
		wantEqual(t, "deadline", c.receiver.Deadline(), Never)
		c.exchange(chunkOf(2000, 1))
		c.advance(Second)
		c.forge(sliceOf(first-1, 0, 2))
		c.answer()
	}
}

// Field note 8: an ack of another chunk, or with another number of slices, changes nothing
// (SND-5).
func TestNote8ForeignAcksChangeNothing(t *testing.T) {
	good := ackOf(7, "110")
	for _, a := range []struct {
		name  string
		wrong func(a *codec.Ack)
	}{
		{"the chunk before", func(a *codec.Ack) { a.ChunkID-- }},
		{"the chunk after", func(a *codec.Ack) { a.ChunkID++ }},
		{"half the ids away", func(a *codec.Ack) { a.ChunkID += 32768 }},
		{"a slice less", func(a *codec.Ack) { a.NumSlices-- }},
		{"a slice more", func(a *codec.Ack) { a.NumSlices++ }},
		{"no slices", func(a *codec.Ack) { a.NumSlices = 0 }},
		{"a bit too many", func(a *codec.Ack) { a.Acked.Set(3) }},
		{"a bit far too many", func(a *codec.Ack) { a.Acked.Set(255) }},
	} {
		s := sentSender()
		before := *s
		wrong := good
		a.wrong(&wrong)
		s.HandleAck(Second, wrong)
		if s.Row() != S6ForeignAck || s.acked != before.acked || s.heardFromAt != before.heardFromAt ||
			s.Stats().AcksIgnored != 1 || s.Deadline() != before.Deadline() {
			t.Errorf("%s: the ack %v changed something", a.name, wrong)
		}
	}
	s := sentSender()
	s.HandleAck(Second, good)
	wantEqual(t, "the good one: row", s.Row(), S9News)
}

// Field note 9: a chunk starts with everything anew, also a smaller one
// (SND-10, RCV-10). See also TestAChunkStartsEverythingAnew.
func TestNote9EverythingStartsAnew(t *testing.T) {
	c := converse(t)
	for i, size := range []int{262144, 1, 3000, 1024, 262144, 5} {
		c.exchange(chunkOf(size, uint32(i)))
		c.advance(ms)
		wantEqual(t, "received", c.receiver.Received(), ids())
	}
	wantEqual(t, "stored", c.receiver.Stats().SlicesStored, 256+1+3+1+256+1)
}

// Field note 9: also after losses, in mid-chunk of what the timers and counts were.
func TestNote9EverythingStartsAnewAfterLosses(t *testing.T) {
	c := converse(t)
	c.submit(chunkOf(4096, 1))
	c.send(0, 1, 2, 3)
	c.loseSlices()
	for _, want := range [][]int{{2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3}} {
		c.advance(250 * ms)
		c.send(want...)
	}
	c.arrive()
	c.answer(ackOf(0, "1111"))
	c.hear()
	c.read(chunkOf(4096, 1))

	c.advance(Second)
	c.submit(chunkOf(2048, 2))
	wantEqual(t, "sent", c.sender.Sent(), ids())
	wantEqual(t, "acked", c.sender.Acked(), ids())
	wantEqual(t, "heard", c.sender.HeardFromAt(), c.now)
	c.send(0, 1)
	c.lose(0)
	c.arrive()
	c.answer(ackOf(1, "01"))
	wantEqual(t, "receiver gives up", c.receiver.Deadline(), c.now+DefaultGiveUp)
}

// Field notes 10 and 31: a rejected submit leaves the sender as it was (SND-1, LIM-1).
func TestNote10RejectedSubmit(t *testing.T) {
	for _, c := range []struct {
		name string
		from func() *Sender
		size int
		want error
	}{
		{"empty", idleSender, 0, ErrChunkSize},
		{"too large", idleSender, 262145, ErrChunkSize},
		{"busy", ackedSender, 10, ErrBusy},
		{"busy, and empty", ackedSender, 0, ErrBusy},
		{"busy, and too large", startedSender, 262145, ErrBusy},
		{"failed", failed(ackedSender()), 10, ErrGaveUp},
	} {
		s, twin := c.from(), c.from()
		if err := s.Submit(s.now, make([]byte, c.size)); err != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		for range 5 {
			a, okA := s.Poll(s.now)
			b, okB := twin.Poll(twin.now)
			wantEqual(t, c.name+": what goes out", a, b)
			wantEqual(t, c.name+": whether", okA, okB)
		}
		wantEqual(t, c.name+": state", s.State(), twin.State())
		wantEqual(t, c.name+": deadline", s.Deadline(), twin.Deadline())
		wantEqual(t, c.name+": acked", s.Acked(), twin.Acked())
		wantEqual(t, c.name+": sent", s.Sent(), twin.Sent())
		wantEqual(t, c.name+": stats", s.Stats(), twin.Stats())
	}
}

// Field note 10: a sender that refused takes the next chunk that is right.
func TestNote10ARefusalIsForgotten(t *testing.T) {
	s := idleSender()
	wantEqual(t, "too large", s.Submit(0, make([]byte, 262145)), ErrChunkSize, anyError)
	wantEqual(t, "right", s.Submit(0, make([]byte, 262144)), nil)
}

// Field note 14: resent slices are byte-identical, and are made of the caller's bytes
// (SLC-4, SND-18).
func TestNote14ResentSlicesAreTheSame(t *testing.T) {
	c := converse(t)
	c.submit(chunkOf(2500, 1))
	c.send(0, 1, 2)
	first := c.slices
	c.slices = nil
	for range 12 {
		c.now = c.sender.Deadline()
		for s := range slicesOut(c.sender, c.now) {
			wantEqual(t, "slice", s, first[s.SliceID])
		}
	}
}

// Field note 15: each chunk is delivered exactly once; a late duplicate starts nothing
// (RCV-12, SAFE-1).
func TestNote15LateDuplicatesStartNothing(t *testing.T) {
	c := converse(t)
	old := slicesOf(0, chunkOf(2000, 1))
	c.exchange(chunkOf(2000, 1))
	c.advance(ms)
	for _, s := range old {
		c.forge(s)
	}
	c.states(SenderIdle, ReceiverWaiting)
	c.nothingToRead()
	c.exchange(chunkOf(100, 2))
	c.advance(Second)
	for _, s := range old { // not even of the previous chunk any more
		c.forge(s)
	}
	c.answer()
	c.states(SenderIdle, ReceiverWaiting)
	c.nothingToRead()
}

// Field note 23: zero means what is written beside it; both ends give up after the
// same time (SND-17, CID-1).
func TestNote23WhatZeroMeans(t *testing.T) {
	s, r := NewSender(SenderConfig{}), NewReceiver(ReceiverConfig{})
	wantEqual(t, "sender gives up after", s.giveUp, 10*Second)
	wantEqual(t, "receiver gives up after", r.giveUp, 10*Second)
	wantEqual(t, "first chunk", []uint16{s.ChunkID(), r.ChunkID()}, []uint16{0, 0})
	f := fly(t, Profile{}, 256) // rate 0: unlimited; spacing 0: none
	wantEqual(t, "slices at once", len(f.all()), 256)
	wantEqual(t, "resend delay 0 is derived", f.Deadline(), InitialResendDelay)
}

// Field note 28: an ack is validated whole, then applied: not even its good bits count
// when another is bad.
func TestNote28AnAckIsValidatedWhole(t *testing.T) {
	s := sentSender()
	bad := ackOf(7, "111")
	bad.Acked.Set(64)
	s.HandleAck(0, bad)
	wantEqual(t, "acked", s.Acked(), ids())
	wantEqual(t, "state", s.State(), SenderSending)
}
