package packet

import (
	"github.com/chunkwire/chunkwire/core"
)

const (
	longestSample = 1 << 40 // in microseconds, about 12 days; keeps sums within 64 bits
	minPeriod     = 5 * core.Second
	overtaken     = 2 // numbers
)

// roundTrip is what samples say of the round trip (PKE-2 to PKE-4).
type roundTrip struct {
	measured             bool
	srtt, jitter, latest core.Micros
	least                [2]core.Micros // the smallest of this period and of the one before
	periodAt             core.Micros    // when this period began
	patience             core.Micros
	decayedAt            core.Micros // the whole second up to which patience has fallen
}

// add takes a sample (PKE-2, PKE-3).
func (t *roundTrip) add(now, r core.Micros) {
	switch {
	case !t.measured:
		t.measured, t.srtt, t.periodAt, t.least = true, r, now, [2]core.Micros{r, r}
	case now-t.periodAt >= minPeriod:
		t.periodAt, t.least = now, [2]core.Micros{r, t.least[0]}
	default:
		t.least[0] = min(t.least[0], r)
	}
	t.latest = r
	t.jitter += (max(r-t.srtt, t.srtt-r) - t.jitter) / 16
	t.srtt += (r - t.srtt) / 10
}

// minRTT returns the smallest recent sample (PKE-3).
func (t *roundTrip) minRTT() core.Micros { return min(t.least[0], t.least[1]) }

// overtook takes the age of a packet that was acked after a newer one (PKE-4).
func (t *roundTrip) overtook(now, age core.Micros) {
	t.decay(now)
	t.patience = max(t.patience, min(age*9/8, t.srtt*3/2))
}

// decay lets patience fall by a sixteenth for each whole second that began.
func (t *roundTrip) decay(now core.Micros) {
	seconds := (now - t.decayedAt) / core.Second
	t.decayedAt += seconds * core.Second
	for ; seconds > 0 && t.patience >= 16; seconds-- {
		t.patience -= t.patience / 16
	}
}

// sample takes what an ack says of the round trip (PKE-1, PKE-4, PKE-6, PKE-10).
func (e *Endpoint) sample(in sentInput) {
	if in.number < e.pathFrom {
		return
	}
	r := min(e.now-in.sent.at, longestSample)
	e.history.add(r)
	if in.newest {
		e.trip.add(e.now, r)
		e.arrival.sampled = true
	}
	if in.before >= in.number+overtaken {
		e.trip.overtook(e.now, r)
	}
}

// evaluate gives the conditions of the path to the congestion machine (PKC-1, PKC-2).
func (e *Endpoint) evaluate() {
	e.congestion.Evaluate(e.now, Conditions{
		Measured: e.trip.measured,
		SRTT:     e.trip.srtt,
		MinRTT:   e.trip.minRTT(),
		Silent:   e.newestLost > e.newestAcked,
	})
}

// ForgetPath makes estimates and mode begin anew: the peer is at another address, or this end
// is. Packets that were sent before give no sample, and their loss says nothing.
func (e *Endpoint) ForgetPath(now core.Micros) {
	e.advance(now)
	e.trip, e.history, e.seconds = roundTrip{}, history{}, seconds{}
	e.congestion = NewCongestion(e.congestion.profile)
	e.pathFrom, e.newestLost = e.sent.next, core.NoNumber
}

// RoundTrip returns of Estimates what the layer above needs all the time.
func (e *Endpoint) RoundTrip(now core.Micros) (measured bool, srtt, patience core.Micros) {
	e.now = max(e.now, now)
	e.trip.decay(e.now)
	return e.trip.measured, e.trip.srtt, e.trip.patience
}

// Estimates are what an endpoint knows of its path (section 8).
type Estimates struct {
	Measured bool        // there was a sample; else the next four are 0
	SRTT     core.Micros // the smoothed round trip
	Jitter   core.Micros // the smoothed distance of samples from it
	Latest   core.Micros // the latest sample
	MinRTT   core.Micros // the smallest of the last 5 to 10 s
	// Patience is how old a packet must be before an ack of a newer one means that it is
	// lost, and not overtaken.
	Patience core.Micros

	Settled int // packets acked in time or lost, in the last ten whole seconds
	Lost    int // of these
	// Rates are in bits a second, over the last ten whole seconds.
	SentRate, ReceivedRate, AckedRate int64
}

// LossPerMille returns the loss in tenths of a percent. It is not known while nothing was
// settled (PKE-5).
func (e Estimates) LossPerMille() (loss int, known bool) {
	if e.Settled == 0 {
		return 0, false
	}
	return 1000 * e.Lost / e.Settled, true
}

// Estimates returns what is known at now. Later events are not before now (PKN-3), but
// nothing else that is due is done.
func (e *Endpoint) Estimates(now core.Micros) Estimates {
	e.now = max(e.now, now)
	e.trip.decay(e.now)
	sum := e.seconds.sum(e.now)
	return Estimates{
		Measured: e.trip.measured, SRTT: e.trip.srtt, Jitter: e.trip.jitter, Latest: e.trip.latest,
		MinRTT: e.trip.minRTT(), Patience: e.trip.patience,
		Settled: int(sum[settledCount]), Lost: int(sum[lostCount]),
		SentRate: rate(sum[sentBytes]), ReceivedRate: rate(sum[receivedBytes]), AckedRate: rate(sum[ackedBytes]),
	}
}

// Samples returns figures over the round trips of the last packets that were acked, for
// display (PKE-6).
func (e *Endpoint) Samples() Samples { return e.history.figures() }
