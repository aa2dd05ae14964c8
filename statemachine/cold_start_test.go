package statemachine

import "testing"

// The first flight of a connection is lost whole, as it is when the peer starts
// later. Nothing is known of the round trip, and every slice that arrives was
// sent more often; still what is missing is found soon.
func TestAnOutageAtTheStartOfAConnection(t *testing.T) {
	for _, outageTime := range []Micros{300 * ms, Second, 3 * Second, 6 * Second, 9 * Second} {
		for _, rtt := range []Micros{ms, 50 * ms, 400 * ms} {
			w := newWorld(t, Burst(), rtt)
			w.toRecv = outage(w.toRecv, 0, outageTime)
			took := w.transfer(chunkOf(262144, 1))
			if limit := outageTime + 4*rtt + 700*ms; took > limit {
				t.Errorf("%d us of outage, round trip %d: it took %d, want %d at the most", outageTime, rtt, took, limit)
			}
		}
	}
}

// A path whose first sample is tiny may become slower.
func TestTheEstimateRisesFromTheSmallestSample(t *testing.T) {
	for _, first := range []Micros{0, 1, 10, 15} {
		e := measured(first)
		for range 200 {
			e.clean(50 * ms)
		}
		if e.smoothed < 49*ms {
			t.Errorf("from %d: the estimate is %d after 200 samples of 50 ms", first, e.smoothed)
		}
	}
}
