package tcp

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim"
)

const (
	ms     = machine.Millisecond
	second = machine.Second
)

// host is an end in a sim.World, which counts what arrived there for the first time.
type host struct {
	End
	got int64
}

func (h *host) Handle(now machine.Micros, d Datagram) {
	if h.End.Handle(now, d) {
		h.got++
	}
}

// shared is flows that share a link each way.
type shared struct {
	*sim.World[Datagram]
	down, up *netsim.Link
	senders  []*host
	others   []*host // their receivers
	path     netsim.Path
}

// ipHeaders is what IP and UDP add to a datagram.
const ipHeaders = 28

// wire is a path without loss: bits a second, a round trip, and a queue in datagrams.
func wire(rate int64, roundTrip time.Duration, queue int) netsim.Path {
	return netsim.Path{Rate: rate, Delay: roundTrip / 2, Queue: queue * (dataSize + ipHeaders), Overhead: ipHeaders}
}

// bdp is how many datagrams a path carries in a round trip.
func bdp(p netsim.Path) int {
	return int(p.Rate * int64(2*p.Delay) / int64(time.Second) / 8 / (dataSize + ipHeaders))
}

// later is an end that begins at a time.
type later struct {
	End
	at machine.Micros
}

func (l *later) Poll(now machine.Micros) (Datagram, bool) {
	if now < l.at {
		return Datagram{}, false
	}
	return l.End.Poll(now)
}

func (l *later) Deadline() machine.Micros { return max(l.at, l.End.Deadline()) }

// flow is a sender and its receiver.
type flow struct{ sender, receiver End }

func of(c Config) flow {
	s, r := New(c)
	return flow{s, r}
}

// over lets flows share a path, the acks a way back of the same delay without limits. Each
// begins 137 ms after the one before.
func over(p netsim.Path, seed uint64, flows ...flow) *shared {
	w := &shared{path: p}
	w.down = check.Must(netsim.NewLink(p, seed))
	w.up = check.Must(netsim.NewLink(netsim.Path{Delay: p.Delay}, seed+1))
	var ends []sim.End[Datagram]
	for i, f := range flows {
		s := &host{End: &later{f.sender, machine.Micros(i) * 137 * ms}}
		r := &host{End: f.receiver}
		w.senders, w.others = append(w.senders, s), append(w.others, r)
		ends = append(ends, s, r)
	}
	w.World = sim.NewWorld(w.carry, ends...)
	return w
}

func (w *shared) carry(now time.Duration, from int, d Datagram, deliver func(time.Duration, int, Datagram)) {
	link := w.down
	if from%2 == 1 {
		link = w.up
	}
	arrivals := link.Send(now, d.Size)
	for i := range arrivals.Len() {
		deliver(arrivals.At(i), from^1, d)
	}
}

// during returns how many distinct datagrams each flow brings in a time.
func (w *shared) during(d machine.Micros) []int64 {
	got := make([]int64, len(w.others))
	for i, r := range w.others {
		got[i] = -r.got
	}
	w.Wait(d)
	for i, r := range w.others {
		got[i] += r.got
	}
	return got
}

// use returns which part of the path's rate so many datagrams in a time are.
func (w *shared) use(n int64, d machine.Micros) float64 {
	return float64(n*(dataSize+ipHeaders)*8) * float64(second) / float64(w.path.Rate) / float64(d)
}

func sum(n []int64) (all int64) {
	for _, x := range n {
		all += x
	}
	return all
}

// jain is the index of fairness.
func jain(shares []int64) float64 {
	var total, squares float64
	for _, x := range shares {
		total += float64(x)
		squares += float64(x) * float64(x)
	}
	return total * total / squares / float64(len(shares))
}

func atLeast(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want {
		t.Errorf("%s: %.3f, want at least %.3f", what, got, want)
	}
}
