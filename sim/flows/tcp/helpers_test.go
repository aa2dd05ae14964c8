package tcp

import (
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/sim/flows"
)

const (
	ms      = machine.Millisecond
	second  = machine.Second
	headers = 28 // of IP and UDP
)

// wire is a path without loss: bits a second, a round trip, and a queue in datagrams.
func wire(rate int64, roundTrip time.Duration, queue int) netsim.Path {
	return netsim.Path{Rate: rate, Delay: roundTrip / 2, Queue: queue * (dataSize + headers), Overhead: headers}
}

// over lets flows share a path, the acks a way back of the same delay without limits.
func over(p netsim.Path, seed uint64, flow ...Config) *flows.World {
	w := check.Must(flows.NewWorld(flows.Path{Down: p, Up: netsim.Path{Delay: p.Delay, Overhead: headers}}, seed))
	for _, c := range flow {
		sends, receives := New(c)
		w.Add("tcp", sends, receives)
	}
	return w
}

// figures are what all flows did from one time to another.
func figures(w *flows.World, from, to machine.Micros) flows.Figures {
	w.Run(to)
	return w.Figures(flows.Down, from, to, w.Flows()...)
}

func atLeast(t *testing.T, what string, got, want float64) {
	t.Helper()
	if got < want {
		t.Errorf("%s: %.3f, want at least %.3f", what, got, want)
	}
}
