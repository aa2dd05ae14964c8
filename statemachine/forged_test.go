package statemachine

import "testing"

// Field note 11: a forged first slice pins a wrong number of slices. The genuine ones
// conflict, are counted and not answered, until half of the time to give up
// has gone by; then the next one pins anew, and the chunk arrives (RCV-7).
func TestNote11ForgedFirstSlice(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	w.receiver.HandleSlice(0, sliceOf(0, 2, 7))
	w.submit(chunkOf(3000, 1))
	for w.receiver.Stats().Repins == 0 {
		w.step(Never)
		if got := w.receiver.Received(); w.receiver.Stats().Repins == 0 && got != ids(2) {
			t.Fatalf("received %v", got)
		}
	}
	if w.now < 5*Second || w.now > 5*Second+300*ms {
		t.Errorf("pinned anew at %d", w.now)
	}
	w.settle()
	wantEqual(t, "delivered", w.delivered, 1)
	wantEqual(t, "sender", w.sender.State(), SenderIdle)
	must(t, w.receiver.Stats().Conflicts > 3, "conflicts are counted")
	wantEqual(t, "pinned anew", w.receiver.Stats().Repins, 1)
}

// Field note 11: exactly half of the time to give up counts (RCV-7).
func TestNote11WhenASlicePinsAnew(t *testing.T) {
	for _, c := range []struct {
		after Micros
		want  Row
	}{
		{DefaultGiveUp/2 - 1, R8ConflictingSlice},
		{DefaultGiveUp / 2, R9RepinningSlice},
	} {
		r := receivingReceiver()
		r.HandleSlice(r.now+c.after, sliceOf(8, 1, 2))
		wantEqual(t, "row", r.Row(), c.want)
	}
}

// Field note 11: a conflicting slice changes nothing: it is no progress, and no ack is due
// (RCV-7).
func TestNote11ConflictingSlicesChangeNothing(t *testing.T) {
	c := converse(t)
	c.forge(sliceOf(0, 0, 3))
	c.answer(ackOf(0, "100"))
	c.advance(Second)
	c.forge(sliceOf(0, 1, 2))
	c.forge(sliceOf(0, 0, 1))
	c.answer()
	wantEqual(t, "conflicts", c.receiver.Stats().Conflicts, 2)
	wantEqual(t, "received", c.receiver.Received(), ids(0))
	wantEqual(t, "pinned", c.receiver.NumSlices(), 3)
	wantEqual(t, "deadline", c.receiver.Deadline(), DefaultGiveUp)
}

// Field note 11: what was pinned anew starts from nothing, and has its own time.
func TestNote11PinnedAnewStartsFromNothing(t *testing.T) {
	c := converse(t)
	c.forge(sliceOf(0, 0, 3))
	c.forge(sliceOf(0, 2, 3))
	c.answer(ackOf(0, "101"))
	c.advance(6 * Second)
	c.forge(slicesOf(0, chunkOf(2000, 1))[1])
	c.answer(ackOf(0, "01"))
	wantEqual(t, "deadline", c.receiver.Deadline(), 16*Second)
	c.forge(sliceOf(0, 0, 3))
	wantEqual(t, "the forged one's turn to conflict", c.receiver.Row(), R8ConflictingSlice)
	c.advance(Second)
	c.forge(slicesOf(0, chunkOf(2000, 1))[0])
	c.answer(ackOf(0, "11"))
	wantEqual(t, "time of the chunk", c.receiver.Stats().LastChunkTime, Second)
	c.read(chunkOf(2000, 1))
}

// Field note 11: a chunk of one slice pins anew and is complete.
func TestNote11AChunkOfOneSlicePinsAnew(t *testing.T) {
	c := converse(t)
	c.forge(sliceOf(0, 0, 3))
	c.answer(ackOf(0, "100"))
	c.advance(5 * Second)
	c.forge(slicesOf(0, chunkOf(10, 1))[0])
	c.answer(ackOf(0, "1"))
	wantEqual(t, "pinned anew", c.receiver.Stats().Repins, 1)
	c.read(chunkOf(10, 1))
}

// Field note 25: the number of slices that the first slice pinned is the one that counts,
// and an id beyond it is refused before anything is stored.
func TestNote25ThePinnedNumberCounts(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	give(r, sliceOf(0, 0, 3))
	give(r, sliceOf(0, 200, 256))
	wantEqual(t, "row", r.Row(), R8ConflictingSlice)
	s := sliceOf(0, 1, 3)
	s.SliceID = 3
	give(r, s)
	wantEqual(t, "row", r.Row(), R12ForeignSlice)
	wantEqual(t, "stored", r.Stats().SlicesStored, 1)
	must(t, len(r.slices) == 1, "one slice is kept")
}

// Field note 33: a forged slice costs no state beyond what it carries, and its answer is
// no larger than BND-2 says.
func TestNote33NothingIsGainedBySpoofing(t *testing.T) {
	r := NewReceiver(ReceiverConfig{})
	for n := 1; n <= 256; n++ {
		give(r, sliceOf(5, 0, n)) // foreign: no answer at all
	}
	noAck(t, r, year)
	wantEqual(t, "memory", len(r.slices), 0)
}
