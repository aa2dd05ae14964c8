package statemachine

import "testing"

// Field note 4: completion makes an ack due at once: on a clean link nothing is sent
// twice, and a chunk takes one round trip and its last slice's time.
func TestNote4CompletionIsAckedAtOnce(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	for chunk := range 5 {
		n := 1 + 60*chunk
		took := w.transfer(chunkOf(n*1024, 1))
		wantEqual(t, "time", took, Micros(n-1)*85+50*ms)
	}
	wantEqual(t, "resent", w.sender.Stats().SlicesResent, 0)
}

// Field note 16: at the same time an ack comes before the resend timer.
func TestNote16AcksBeforeTimers(t *testing.T) {
	c := converse(t)
	c.submit(chunkOf(2000, 1))
	c.send(0, 1)
	c.arrive()
	c.answer(ackOf(0, "11"))
	c.advance(250 * ms)
	wantEqual(t, "deadline", c.sender.Deadline(), c.now)
	c.hear()
	c.send()
	c.states(SenderIdle, ReceiverReady)
}

// Field note 16: the loss of the last slices is found by time alone.
func TestNote16TailLoss(t *testing.T) {
	w := newWorld(t, Burst(), 20*ms)
	w.transfer(chunkOf(1, 1))
	n := 0
	w.toRecv = func(now Micros) []Micros {
		if n++; n == 9 || n == 10 {
			return nil
		}
		return []Micros{now + 10*ms}
	}
	took := w.transfer(chunkOf(10*1024, 1))
	if took > 60*ms {
		t.Errorf("it took %d us", took)
	}
	wantEqual(t, "resent", w.sender.Stats().SlicesResent, 2)
	wantEqual(t, "timeouts", w.sender.Stats().Schedule.Timeouts, 1)
}

// Field note 17: the cursor moves behind what was sent, time is noted when it is sent, and
// field note 19: the first slice goes out at once, at t = 0.
func TestNote17And19TheFirstSliceGoesOutAtOnce(t *testing.T) {
	for _, start := range []Micros{0, 1, year} {
		c := converse(t)
		c.now = start
		c.submit(chunkOf(3000, 1))
		wantEqual(t, "deadline", max(c.sender.Deadline(), start), start)
		c.send(0, 1, 2)
		wantEqual(t, "resend time", c.sender.Deadline(), start+250*ms)
		c.lose(1)
		c.arrive()
		c.answer(ackOf(0, "101"))
		c.hear()
		c.now = c.sender.Deadline()
		c.send(1)
	}
}

// Field note 18: nothing is sent twice without a loss, at any round trip; a first chunk
// does not know the round trip, so up to 250 ms.
func TestNote18NothingIsSentTwiceWithoutALoss(t *testing.T) {
	for _, rtt := range []Micros{100, ms, 5 * ms, 20 * ms, 100 * ms, 245 * ms, 400 * ms, 2 * Second} {
		for _, size := range []int{1, 1024, 5000, 70_000, 262144} {
			w := newWorld(t, Burst(), rtt)
			for chunk := range 5 {
				w.transfer(chunkOf(size, 1))
				w.now += 30 * ms
				if chunk == 0 && rtt < 250*ms {
					wantEqual(t, "resent in a first chunk", w.sender.Stats().SlicesResent, 0)
				}
				if chunk == 2 { // the first three may have had to find out
					w.sender.stats.SlicesResent = 0
				}
			}
			if n := w.sender.Stats().SlicesResent; n != 0 {
				t.Errorf("round trip %d, %d bytes: %d slices resent", rtt, size, n)
			}
		}
	}
}

// Field note 20: many slices go out at a time, and a caller that comes every 16 ms sends
// as many as one that comes in time.
func TestNote20ManySlicesATick(t *testing.T) {
	s := NewSender(SenderConfig{Scheduler: NewBase(Fixed(0))})
	_ = s.Submit(0, chunkOf(262144, 1))
	wantEqual(t, "slices at once", count(slicesOut(s, 0)), 256)

	s = NewSender(SenderConfig{})
	_ = s.Submit(0, chunkOf(262144, 1))
	wantEqual(t, "slices at first", count(slicesOut(s, 0)), 1)
	wantEqual(t, "slices 16 ms later", count(slicesOut(s, 16*ms)), 188)
}

// Field note 21: the first burst obeys the budget too.
func TestNote21TheFirstBurstObeysTheBudget(t *testing.T) {
	s := NewSender(SenderConfig{Scheduler: NewBase(Fixed(125_000))})
	_ = s.Submit(Second, chunkOf(262144, 1))
	wantEqual(t, "slices at once", count(slicesOut(s, Second)), 16)
}

// Field note 22: acks have a hard cap. A clean chunk of 256 slices needs few.
func TestNote22FewAcks(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	w.transfer(chunkOf(262144, 1))
	if n := w.receiver.Stats().AcksSent; n < 16 || n > 20 {
		t.Errorf("%d acks for 256 slices", n)
	}
}

// Field note 22: a flood of duplicates does not make a flood of acks.
func TestNote22AFloodOfDuplicates(t *testing.T) {
	r := receivingReceiver()
	before := r.Stats().AcksSent
	start := r.now
	duplicate := sliceOf(8, 0, 3)
	for now := start; now < start+Second; now += 50 {
		r.HandleSlice(now, duplicate)
		count(acksOut(r, now))
	}
	if n := r.Stats().AcksSent - before; n < 490 || n > 500 {
		t.Errorf("%d acks in a second", n)
	}
}
