package statemachine

import "testing"

// Field note 12: when one side alone restarts, the other ends in an error.
func TestNote12TheReceiverRestarts(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	w.transfer(chunkOf(3000, 1))
	w.settle()
	w.receiver = NewReceiver(ReceiverConfig{})
	start := w.now
	_ = w.sender.Submit(w.now, chunkOf(3000, 2))
	for w.sender.State() == SenderSending {
		w.now = w.sender.Deadline()
		for s := range slicesOut(w.sender, w.now) {
			w.receiver.HandleSlice(w.now, s)
		}
		_, answered := w.receiver.Poll(w.now)
		must(t, !answered, "a chunk from the future is not answered")
	}
	wantEqual(t, "sender", w.sender.Err(), ErrGaveUp, anyError)
	wantEqual(t, "gave up after", w.now-start, DefaultGiveUp)
}

// Field note 12: and a sender that starts again is not heard. Both have to be new.
func TestNote12TheSenderRestarts(t *testing.T) {
	for _, completed := range []int{2, 3, 40} {
		c := converse(t)
		for range completed {
			c.exchange(chunkOf(3000, 1))
			c.advance(Second)
		}
		c.sender = NewSender(SenderConfig{Scheduler: NewBase(Fixed(0))})
		start := c.now
		c.submit(chunkOf(3000, 2))
		for c.sender.State() == SenderSending {
			c.now = c.sender.Deadline()
			for s := range slicesOut(c.sender, c.now) {
				c.forge(s)
			}
			c.answer()
		}
		wantEqual(t, "sender", c.sender.Err(), ErrGaveUp, anyError)
		wantEqual(t, "gave up after", c.now-start, DefaultGiveUp)
	}
}

// Field note 12: a sender that disappears in mid-chunk is an error at the receiver.
func TestNote12TheSenderDisappears(t *testing.T) {
	c := converse(t)
	c.submit(chunkOf(3000, 1))
	c.send(0, 1, 2)
	c.lose(2)
	c.arrive()
	for c.receiver.Deadline() != Never {
		c.now = c.receiver.Deadline()
		c.answers()
	}
	wantEqual(t, "receiver", c.receiver.Err(), ErrGaveUp, anyError)
	wantEqual(t, "gave up after", c.now, DefaultGiveUp)
}
