package explore_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

// pinger sends a ping every 100 us until a pong comes, or no more than so often.
type pinger struct {
	next  core.Micros
	sent  int
	most  int
	heard bool
}

func (p *pinger) Handle(core.Micros, string) { p.heard = true }

func (p *pinger) Deadline() core.Micros {
	if p.heard || p.sent == p.most {
		return core.Never
	}
	return p.next
}

func (p *pinger) Poll(now core.Micros) (string, bool) {
	if now < p.Deadline() {
		return "", false
	}
	p.sent, p.next = p.sent+1, now+100
	return "ping", true
}

// ponger answers each ping.
type ponger struct{ due int }

func (p *ponger) Handle(core.Micros, string) { p.due++ }

func (p *ponger) Deadline() core.Micros { return core.Never }

func (p *ponger) Poll(core.Micros) (string, bool) {
	p.due--
	if p.due < 0 {
		p.due = 0
		return "", false
	}
	return "pong", true
}

func pingPong(mostPings int) func(sim.Carrier[string]) (core.Micros, error) {
	return func(carry sim.Carrier[string]) (core.Micros, error) {
		a := &pinger{most: mostPings}
		w := sim.NewWorld(carry, sim.End[string](a), &ponger{})
		if !w.Run(core.Second, func() bool { return a.heard }) {
			return w.Now(), errors.New("no pong")
		}
		return w.Now(), nil
	}
}

func search(most, mostPings int, within core.Micros) *explore.TroublesResult {
	x := explore.Troubles[string]{
		Delay: 10, Late: 30, Outage: 1000, Most: most, Within: within, Run: pingPong(mostPings),
		Text: func(from int, p string) string { return fmt.Sprint(from, " ", p) },
	}
	return x.Search()
}

// From the last trouble to the end it takes as long as until the next ping is answered:
// 120 us after a packet is lost, as much after an outage, of which its pings are no
// packets any more.
func TestTroublesAreAllTried(t *testing.T) {
	for most, want := range []explore.TroublesResult{
		{Runs: 1, Slowest: 20},
		{Runs: 1 + 8, Slowest: 120, Worst: "packet 0 lost"},
		{Runs: 1 + 8 + 36, Slowest: 120, Worst: "packet 0 lost"},
	} {
		check.Equal(t, fmt.Sprint(most, " troubles"), *search(most, 1000, 120), want)
	}
}

func TestARunThatTakesTooLongIsTold(t *testing.T) {
	r := search(2, 1000, 119)
	check.Equal(t, "problem", r.Err.Error(), "120 us from the last trouble to the end, 119 are allowed")
	check.Equal(t, "trace", r.Trace, "         0 us  0 ping: lost\n       100 us  0 ping\n       110 us  1 pong\n")
	check.That(t, strings.Contains(r.String(), "2 runs; the slowest ends after 120 us: packet 0 lost"), r.String())
}

func TestARunThatFailsIsTold(t *testing.T) {
	r := search(3, 5, 10_000)
	check.Equal(t, "problem", r.Err.Error(), "no pong")
	check.Equal(t, "trace", r.Trace, "         0 us  0 ping: outage\n") // it outlasts five pings
	check.Equal(t, "runs", r.Runs, 5)
}
