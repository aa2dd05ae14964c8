package statemachine

import (
	"math"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/codec"
)

func TestMicrosAndDurations(t *testing.T) {
	wantEqual(t, "from a duration", FromDuration(3*time.Millisecond+1999), 3001)
	wantEqual(t, "to a duration", (2 * Second).Duration(), 2*time.Second)
	wantEqual(t, "the longest that fits", Micros(math.MaxInt64/1000).Duration(), time.Duration(math.MaxInt64/1000*1000))
	wantEqual(t, "one more", Micros(math.MaxInt64/1000+1).Duration(), math.MaxInt64)
	wantEqual(t, "never", Never.Duration(), math.MaxInt64)
}

// A time before the last one given counts as the last one (TIM-1).
func TestTimeDoesNotRunBackward(t *testing.T) {
	c := converse(t)
	c.now = Second
	c.submit(chunkOf(1, 1))
	c.send(0)
	c.now = 0
	c.arrive()
	c.answer(ackOf(0, "1"))
	c.send()
	wantEqual(t, "resend time", c.sender.Deadline(), Second+250*ms)
	c.now = Second + 250*ms - 1
	c.send()
	c.now++
	c.send(0)
}

func TestAnEarlierTimeCountsAsTheLastOne(t *testing.T) {
	s := NewSender(SenderConfig{Scheduler: NewBase(Fixed(0))})
	_ = s.Submit(Second, chunkOf(3000, 1))
	count(slicesOut(s, 0))
	s.Poll(Second + 100*ms)
	s.HandleAck(0, ackOf(0, "001"))
	wantEqual(t, "round trip", s.Stats().Schedule.SmoothedRTT, 100*ms)
	wantEqual(t, "heard", s.HeardFromAt(), Second+100*ms)

	r := NewReceiver(ReceiverConfig{})
	r.HandleSlice(Second, sliceOf(0, 0, 3))
	nextAck(t, r, 0)
	r.HandleSlice(0, sliceOf(0, 1, 3))
	wantEqual(t, "ack due", r.Deadline(), Second+2*ms)
	nextAck(t, r, Second+2*ms)
	wantEqual(t, "gives up", r.Deadline(), Second+DefaultGiveUp)
}

// Whatever is called, its time counts for all that comes after (TIM-1).
func TestEveryCallMovesTime(t *testing.T) {
	for name, call := range map[string]func(s *Sender){
		"submit": func(s *Sender) { _ = s.Submit(5*Second, nil) },
		"ack":    func(s *Sender) { s.HandleAck(5*Second, codec.Ack{}) },
		"poll":   func(s *Sender) { s.Poll(5 * Second) },
	} {
		s := NewSender(SenderConfig{})
		call(s)
		_ = s.Submit(Second, []byte{1})
		wantEqual(t, name+": heard", s.HeardFromAt(), 5*Second)
	}
	for name, call := range map[string]func(r *Receiver){
		"slice": func(r *Receiver) { r.HandleSlice(5*Second, codec.Slice{}) },
		"read":  func(r *Receiver) { _, _ = r.Read(5*Second, nil) },
		"poll":  func(r *Receiver) { r.Poll(5 * Second) },
	} {
		r := NewReceiver(ReceiverConfig{})
		call(r)
		r.HandleSlice(Second, sliceOf(0, 0, 2))
		wantEqual(t, name+": ack due", r.Deadline(), 5*Second)
	}
}
