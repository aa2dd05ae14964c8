package statemachine

import (
	"fmt"
	"testing"
)

// The second explorer: the real base scheduler (section 9) in its real time, for
// stalls of timers, which the first one leaves to the scheduler. Time cannot be
// folded here. Instead the troubles are counted: each packet arrives on time, but
// for so many that are lost, late or doubled, whichever they are. All ways to
// place the troubles are tried, and from every state that they lead to, all must
// be delivered within a bounded time if nothing goes wrong any more. One trouble
// after the other is allowed, so that a problem is found with as few as it takes.

// baseScenario is what the second explorer tries.
type baseScenario struct {
	name     string
	profile  Profile
	sizes    []int
	troubles int
	readTime Micros // how long a complete chunk waits to be read
	within   Micros // how long it may take from any state with no more troubles
}

// A second is enough, but for one case: an outage in the first chunk can leave a
// bound of 6 s for the round trip (RTT-4), and so a timer of 3 s for the next one
// that is needed (TMR-2); and it can take two to find out what a hold kept out.
var baseScenarios = []baseScenario{
	{"burst", Burst(), []int{sizeOf(3), sizeOf(2)}, 3, 0, 4 * Second},
	{"burst, one chunk", Burst(), []int{sizeOf(8)}, 2, 0, Second},
	{"burst, slow reader", Burst(), []int{sizeOf(1), sizeOf(3)}, 2, 700 * Millisecond, 8 * Second},
	{"article", Article(125_000), []int{sizeOf(3), sizeOf(2)}, 3, 0, Second},
	{"thin", Profile{Rate: 4_000, Cap: maxCost}, []int{sizeOf(3), sizeOf(1)}, 2, 0, 4 * Second},
}

const (
	baseDelay = 25 * Millisecond  // one way
	baseLate  = 120 * Millisecond // how much later than that a late packet is
	baseOut   = 6 * Second        // how long an outage lasts
)

// packetFate is what happens to a packet. All but onTime are troubles.
type packetFate uint8

const (
	onTime packetFate = iota
	lost
	late
	doubled
	outageHere // it is lost, and all that goes out later, for a while
	numFates
)

func (f packetFate) String() string {
	return [...]string{"arrives", "is lost", "is late", "arrives twice", "is lost, and all others for 6 s"}[f]
}

// baseExplorer tries all fates, depth first.
type baseExplorer struct {
	scenario baseScenario
	chunks   [][]byte // of 1 to 8 slices
	base     *Base    // the scheduler at work
	fates    []packetFate
	states   int
	slowest  Micros
	problem  string
	log      func(format string, args ...any) // may be nil
}

func TestExploreBase(t *testing.T) {
	ran := false
	for _, sc := range baseScenarios {
		if *exploreOnly != "" && sc.name != *exploreOnly {
			continue
		}
		ran = true
		t.Run(sc.name, func(t *testing.T) {
			if *exploreNightly {
				sc.troubles++
			}
			var x *baseExplorer
			for troubles := range sc.troubles + 1 {
				x = newBaseExplorer(sc)
				if x.explore(troubles); x.problem != "" {
					t.Fatalf("%s", x.story())
				}
			}
			t.Logf("%-22s up to %d troubles: %d states; from the slowest all is delivered in %d us", sc.name, sc.troubles, x.states, x.slowest)
		})
	}
	must(t, ran, "there is such a scenario")
}

func newBaseExplorer(sc baseScenario) *baseExplorer {
	x := &baseExplorer{scenario: sc, base: NewBase(sc.profile)}
	for i, size := range sc.sizes {
		x.chunks = append(x.chunks, chunkOf(size, uint32(i+1)))
	}
	return x
}

func (x *baseExplorer) explore(troubles int) {
	st := x.start()
	p, more := x.run(&st)
	if more && x.problem == "" {
		x.visit(&st, p, troubles)
	}
}

// visit tries the fates of a packet that goes out, and all that follows. It
// returns how long it takes if nothing more goes wrong.
func (x *baseExplorer) visit(st *baseState, p inFlight, troubles int) (calm Micros) {
	x.states++
	for f := onTime; f < numFates && x.problem == ""; f++ {
		if f != onTime && troubles == 0 || f == outageHere && st.outUntil > 0 {
			break // two outages of 6 s are longer than the time to give up
		}
		left := troubles
		if f != onTime {
			left--
		}
		x.fates = append(x.fates, f)
		took := x.try(st, p, f, left)
		switch f {
		case onTime:
			calm = took
		case outageHere:
			took -= baseOut
		}
		if x.slowest = max(x.slowest, took); took > x.scenario.within && x.problem == "" {
			x.problem = fmt.Sprintf("from here it takes %d us, with nothing going wrong any more (LIVE-2)", took)
		}
		if x.problem != "" {
			return 0 // and the fates stay as they are
		}
		x.fates = x.fates[:len(x.fates)-1]
	}
	return calm
}

func (x *baseExplorer) try(st *baseState, p inFlight, f packetFate, left int) Micros {
	next := st.clone()
	next.send(p, f)
	q, more := x.run(&next)
	took := next.now - st.now
	if more && x.problem == "" {
		took += x.visit(&next, q, left)
	}
	return took
}

// story tells what led to the problem.
func (x *baseExplorer) story() string {
	text := x.problem + "\n"
	teller := newBaseExplorer(x.scenario)
	teller.log = func(format string, args ...any) { text += "  " + fmt.Sprintf(format, args...) + "\n" }
	st := teller.start()
	p, more := teller.run(&st)
	for _, f := range x.fates {
		if !more {
			break
		}
		teller.log("%8d us  %s %v", st.now, p.text(), f)
		st.send(p, f)
		p, more = teller.run(&st)
	}
	return text + fmt.Sprintf("  then: sender %v at chunk %d, receiver %v at chunk %d, %d of %d delivered",
		st.sender.state, st.sender.chunkID, st.receiver.state, st.receiver.chunkID, st.delivered, len(x.chunks))
}
