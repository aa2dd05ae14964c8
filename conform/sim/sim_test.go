package sim_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
)

// clock is an end that sends numbers at given times, and writes down everything.
type clock struct {
	name string
	due  []core.Micros
	log  *[]string
	sent int
}

func (c *clock) note(format string, args ...any) {
	*c.log = append(*c.log, c.name+" "+fmt.Sprintf(format, args...))
}

func (c *clock) Handle(now core.Micros, p int) { c.note("%d gets %d", now, p) }

func (c *clock) Poll(now core.Micros) (int, bool) {
	if c.sent == len(c.due) || c.due[c.sent] > now {
		return 0, false
	}
	c.sent++
	c.note("%d sends %d", now, c.sent)
	return c.sent, true
}

func (c *clock) Deadline() core.Micros {
	if c.sent == len(c.due) {
		return core.Never
	}
	return c.due[c.sent]
}

// twoClocks are ends that are 10 us apart.
func twoClocks(a, b []core.Micros) (w *sim.World[int], log *[]string) {
	log = new([]string)
	down, up := sim.Steady[int](10), sim.Steady[int](10)
	return sim.NewWorld(sim.Fates(&down, &up), sim.End[int](&clock{name: "a", due: a, log: log}), &clock{name: "b", due: b, log: log}), log
}

// Packets come first, in the order in which they were sent, and then the ends are
// polled, each until it has nothing more.
func TestAStepHandlesPacketsBeforePolls(t *testing.T) {
	w, log := twoClocks([]core.Micros{0, 0, 10}, []core.Micros{10, 15})
	w.Flush()
	w.At(10, func() { *log = append(*log, "call at 10") })
	w.At(3, func() { *log = append(*log, "call at 3") })
	for w.Step(core.Never) {
	}
	check.Equal(t, "what happens", strings.Join(*log, "; "),
		"a 0 sends 1; a 0 sends 2; call at 3; b 10 gets 1; b 10 gets 2; call at 10; a 10 sends 3; b 10 sends 1; "+
			"b 15 sends 2; b 20 gets 3; a 20 gets 1; a 25 gets 2")
	check.Equal(t, "steps", w.Steps(), 10)
	check.Equal(t, "now", w.Now(), 25)
}

func TestStepAndLimit(t *testing.T) {
	w, log := twoClocks([]core.Micros{100}, nil)
	check.That(t, !w.Step(99), "nothing happens until 99")
	check.Equal(t, "now", w.Now(), 0)
	check.That(t, w.Step(100), "something happens at 100")
	check.Equal(t, "now", w.Now(), 100)
	check.That(t, w.Run(200, func() bool { return len(*log) == 2 }), "the packet arrives")
	check.That(t, !w.Run(core.Never, func() bool { return false }), "then nothing more happens")
	check.Equal(t, "now", w.Now(), 110)
}

func TestWaitRunsWhatHappensMeanwhile(t *testing.T) {
	w, log := twoClocks([]core.Micros{0, 30}, nil)
	w.Wait(29)
	check.Equal(t, "now", w.Now(), 29)
	check.Equal(t, "so far", len(*log), 2) // 30 is still to come
	w.At(0, func() { *log = append(*log, "at once") })
	w.Wait(1)
	check.Equal(t, "what happens", strings.Join(*log, "; "), "a 0 sends 1; b 10 gets 1; at once; a 30 sends 2")
}

// Worlds that run together step in the order of their events, whichever has them.
func TestTogether(t *testing.T) {
	a, log := twoClocks([]core.Micros{0, 15}, nil)
	b, other := twoClocks([]core.Micros{3, 15}, nil)
	var order []string
	done := func() bool {
		for _, l := range []*[]string{log, other} {
			order, *l = append(order, *l...), nil
		}
		return len(order) >= 7
	}
	check.That(t, sim.Together(core.Never, done, a, b), "it is done")
	check.Equal(t, "what happens", strings.Join(order, "; "),
		"a 0 sends 1; a 3 sends 1; b 10 gets 1; b 13 gets 1; a 15 sends 2; a 15 sends 2; b 25 gets 2")
	check.That(t, !sim.Together(24, func() bool { return false }, a, b), "nothing more happens until 24")
	check.Equal(t, "now", b.Now(), 15)
}

// endless is an end that never stops sending, or whose deadline never moves.
type endless struct {
	clock
	sends bool
}

func (e *endless) Poll(core.Micros) (int, bool) { return 0, e.sends }
func (e *endless) Deadline() core.Micros        { return 5 }

func TestAWorldWithoutEndPanics(t *testing.T) {
	for sends, want := range map[bool]string{true: "end 0 never stops sending at 5 us", false: "time stands still at 5 us"} {
		lost := func(core.Micros, int) []core.Micros { return nil }
		fate := sim.Fate[int](lost)
		w := sim.NewWorld(sim.Fates(&fate, &fate), sim.End[int](&endless{sends: sends}))
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("panic %q, want %q", got, want)
				}
			}()
			w.Run(core.Never, func() bool { return false })
		}()
	}
}

// Fates may be changed on the way, and each direction has its own.
func TestFates(t *testing.T) {
	down, up := sim.Steady[int](10), sim.Steady[int](3)
	carry := sim.Fates(&down, &up)
	send := func(at time.Duration, from int) (arrivals []string) {
		carry(at, from, 7, func(at time.Duration, to, p int) { arrivals = append(arrivals, fmt.Sprint(at, to, p)) })
		return arrivals
	}
	check.Equal(t, "down", send(0, 0), []string{"10µs 1 7"})
	check.Equal(t, "up", send(0, 1), []string{"3µs 0 7"})
	down = sim.Outage(down, 20, 40)
	for at, arrives := range map[time.Duration]bool{19: true, 20: false, 39: false, 40: true} {
		check.Equal(t, "arrives", len(send(at*time.Microsecond, 0)) == 1, arrives)
	}
	up = func(now core.Micros, p int) []core.Micros {
		return []core.Micros{now, now + core.Micros(p)}
	}
	check.Equal(t, "doubled", send(0, 1), []string{"0s 0 7", "7µs 0 7"})
}

// A link each way: sizes count, and so do its faults.
func TestLinks(t *testing.T) {
	down := check.Must(netsim.NewLink(netsim.Path{Rate: 8e6, Delay: time.Millisecond}, 1)) // a byte a microsecond
	up := check.Must(netsim.NewLink(netsim.Path{Duplicate: 100}, 1))
	var log []string
	size := func(p int) int { return 100 * p }
	w := sim.NewWorld(sim.Links(down, up, size),
		sim.End[int](&clock{name: "a", due: []core.Micros{0, 0}, log: &log}), &clock{name: "b", due: []core.Micros{50}, log: &log})
	w.Run(core.Never, func() bool { return false })
	check.Equal(t, "what happens", strings.Join(log, "; "),
		"a 0 sends 1; a 0 sends 2; b 50 sends 1; a 50 gets 1; a 50 gets 1; b 1100 gets 1; b 1300 gets 2")
}
