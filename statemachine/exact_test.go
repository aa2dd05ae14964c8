package statemachine

import "testing"

// A budget counts millionths of a byte, and each of them (BUD-4, BUD-6).
func TestTheLastMillionthOfAByteCounts(t *testing.T) {
	b := newBudget(Profile{Rate: perByte - 1, Cap: 10, AckPays: true})
	must(t, b.take(10), "all is taken")
	b.refill(1)
	wantEqual(t, "one is missing of a byte", b.when(1), 2)
	b.acked(1)
	wantEqual(t, "the ack pays it", b.left, perByte)
	wantEqual(t, "then a byte is there", b.when(1), 1)
}

// The shortest fixed resend delay is one, and not none (TMR-2).
func TestAResendDelayOfAMicrosecond(t *testing.T) {
	f := fly(t, Profile{ResendDelay: 1}, 1)
	f.sends(0)
	wantEqual(t, "deadline", f.Deadline(), 1)
}

// While nothing is known of the round trip there is no margin: news that comes
// after the delay leaves no time at all (TMR-3).
func TestNoMarginWithoutARoundTrip(t *testing.T) {
	f := fly(t, atOnce, 2)
	f.sends(0, 1)
	f.at(250*ms).sends(0, 1)
	f.at(600 * ms).acked(1)
	wantEqual(t, "deadline", f.Deadline(), 600*ms)
}

// A machine gives up at its time and not before: after a microsecond, and after
// 2^61, the longest there is (SND-15, RCV-15).
func TestTheShortestAndTheLongestTimeToGiveUp(t *testing.T) {
	for configured, wait := range map[Micros]Micros{1: 1, 1<<61 - 1: 1<<61 - 1, 1 << 61: 1 << 61, 1<<61 + 1: 1 << 61, Never: 1 << 61} {
		s, r := NewSender(SenderConfig{GiveUp: configured}), NewReceiver(ReceiverConfig{GiveUp: configured})
		chunk := chunkOf(2048, 1)
		_ = s.Submit(0, chunk)
		r.HandleSlice(0, slicesOf(0, chunk)[0])
		s.Poll(wait - 1)
		r.Poll(wait - 1)
		must(t, s.Err() == nil && r.Err() == nil, "both still wait")
		s.Poll(wait)
		r.Poll(wait)
		must(t, s.Err() == ErrGaveUp && r.Err() == ErrGaveUp, "both have given up")
		must(t, r.NumSlices() == 0 && r.Received().Empty(), "nothing is arriving any more")
	}
}

// The smallest bound on the round trip is one as well (RTT-4, RTT-6).
func TestABoundOfAMicrosecond(t *testing.T) {
	var e rttEstimator
	e.boundedBy(2)
	e.boundedBy(1)
	e.startChunk()
	wantEqual(t, "estimate", e, rttEstimator{smoothed: 1, bound: 1, known: rttBounded}, opaque)
}
