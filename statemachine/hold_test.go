package statemachine

import "testing"

// A hold stops what has not gone out yet; news lets it go (S8, SCH-10, SCH-8).
func TestAHoldStopsTheSender(t *testing.T) {
	s := NewSender(SenderConfig{Scheduler: NewBase(Profile{Spacing: ms})})
	_ = s.Submit(0, chunkOf(3*1024, 1))
	_, ok := s.Poll(0)
	must(t, ok, "the first slice goes out")
	s.HandleAck(ms, ackOf(0, "000"))
	_, ok = s.Poll(ms)
	must(t, !ok, "the second waits for the peer")
	s.HandleAck(2*ms, ackOf(0, "100"))
	slice, ok := s.Poll(2 * ms)
	must(t, ok && slice.SliceID == 1, "now it goes out")
}
