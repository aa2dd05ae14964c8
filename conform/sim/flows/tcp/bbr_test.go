package tcp

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/flows"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// What BBR's draft promises: a link is full with a queue far below what it holds, though a part of all is lost
// by chance;
// beside NewReno on a short queue it takes most; once in 10 s four datagrams are under way.
func TestBBR(t *testing.T) {
	for _, loss := range []float64{0, 5} {
		path := netsim.Path{Rate: 20e6, Delay: 20 * ms.Duration(), Queue: 400 << 10, Loss: loss, Overhead: 28}
		up := netsim.Path{Delay: path.Delay, Overhead: 28}
		w := check.Must(flows.NewWorld(flows.Path{Down: path, Up: up}, 1))
		sends, receives := New(Config{Model: BBR})
		f := w.Add("bbr", sends, receives)
		w.Run(30 * core.Second)
		got := w.Figures(flows.Down, 10*core.Second, 30*core.Second, f)
		check.That(t, got.Use > .85 && got.Wait.Mean < 20 && got.LostQueue < .001, fmt.Sprintf("loss %v: %+v", loss, got))
		n := 0
		for at := 10 * core.Second; at < 30*core.Second; at += flows.Slot {
			if f.Counts(flows.Down, at, at+flows.Slot).Sent < 50 { // of 240
				n++
			}
		}
		check.That(t, loss > 0 || n >= 2 && n <= 8, fmt.Sprintf("%d tenths of a second are empty", n)) // with loss the queue is
	}
	path := netsim.Path{Rate: 20e6, Delay: 20 * ms.Duration(), Queue: 25 << 10, Overhead: 28}
	w := check.Must(flows.NewWorld(flows.Path{Down: path, Up: netsim.Path{Delay: path.Delay}}, 1))
	var both []*flows.Flow
	for _, m := range []Model{BBR, NewReno} {
		sends, receives := New(Config{Model: m})
		both = append(both, w.Add(m.String(), sends, receives))
	}
	w.Run(40 * core.Second)
	got := w.Figures(flows.Down, 10*core.Second, 40*core.Second, both...)
	check.That(t, got.Use > .9 && got.Shares[0] > 3*got.Shares[1], fmt.Sprintf("beside NewReno: %+v", got))
}
