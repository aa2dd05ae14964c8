package statemachine

import "testing"

// Field note 3: a receiver never discards what it acked. An outage of 6 s in mid-chunk
// ends in delivery (RCV-15).
func TestNote3OutageOfSixSeconds(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	w.transfer(chunkOf(1, 1)) // measures the round trip
	from := w.now + 35*ms     // some slices have arrived, some acks are out
	w.toRecv = outage(steady(25*ms), from, from+6*Second)
	w.toSend = outage(steady(25*ms), from, from+6*Second)
	took := w.transfer(chunkOf(262144, 2))
	if took > 6500*ms {
		t.Errorf("it took %d us", took)
	}
	w.settle()
	wantEqual(t, "delivered", w.delivered, 2)
	wantEqual(t, "stored", w.receiver.Stats().SlicesStored, 257)
}

// Field note 3: a longer one ends in an error at both ends (LIVE-3).
func TestNote3OutageOfElevenSeconds(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	w.toRecv = outage(steady(25*ms), 10*ms, 11*Second)
	w.toSend = w.toRecv
	w.submit(chunkOf(262144, 2))
	w.settle()
	wantEqual(t, "sender", w.sender.Err(), ErrGaveUp, anyError)
	wantEqual(t, "receiver", w.receiver.Err(), ErrGaveUp, anyError)
}

// A slow reader looks different from a dead one: holds keep the sender alive
// for longer than it would wait, and the chunk then arrives (SND-11, RCV-14).
func TestHoldsKeepTheSenderAlive(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	w.readTime = 3 * DefaultGiveUp
	w.transfer(chunkOf(3000, 1))
	took := w.transfer(chunkOf(5000, 2))
	if took < 2*DefaultGiveUp || took > 3*DefaultGiveUp+400*ms {
		t.Errorf("it took %d us", took)
	}
	w.settle()
	wantEqual(t, "delivered", w.delivered, 2)
	must(t, w.receiver.Stats().Held > 100, "slices were held")
}

// Without holds it gives up.
func TestWithoutHoldsTheSenderGivesUp(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	w.readTime = 3 * DefaultGiveUp
	w.transfer(chunkOf(3000, 1))
	w.toSend = outage(w.toSend, 0, year)
	w.submit(chunkOf(5000, 2))
	start := w.now
	for w.sender.State() == SenderSending {
		w.step(Never)
	}
	wantEqual(t, "error", w.sender.Err(), ErrGaveUp, anyError)
	wantEqual(t, "gave up after", w.now-start, DefaultGiveUp)
}
