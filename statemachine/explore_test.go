package statemachine

// The explorer drives the real Sender and Receiver through every state that they
// can reach together, breadth first, and checks each:
//
//	go test ./statemachine -run TestExplore                                      # small scenarios, in every run
//	go test ./statemachine -run '^TestExplore$' -explore.only='two slices' -v     # one, with its figures
//	go test ./statemachine -run TestExploreLarge -explore.ci -v                   # over a million states: 30 s, 1.5 GB
//	go test ./statemachine -run TestExploreNightly -explore.nightly -timeout 1h -v # 16 million: 8 minutes, 5 GB
//
// What can happen, at any time: a chunk is submitted; the scheduler has any slice
// to send that it has not been told is acked, or none; any packet in flight
// arrives, is lost, or is doubled, in any order; a packet that goes out into a
// full network is lost; the receiver is polled, or 2 ms pass first; the reader
// reads, or does not yet; and, where a scenario has it, an end gives up or
// restarts, or a forged slice arrives. A scheduler that returns anything stands
// for all that conform to section 9.1, so what holds here holds for each of them.
//
// Why there are finitely many states. Of the times that a machine keeps, all that
// matters is on which side of now they lie, and there are few (foldSender and
// foldReceiver): the time of the next ack and that of the last one plus 2 ms, half
// of the receiver's time to give up, and the end of either's. So the present is
// always the same time, and each of these lies before or after it, at one place.
// To pass one is a move of its own, possible whenever it lies ahead. Real time has
// fewer ways: it passes at both ends at once, and not without end before a timer.
// Each end having a clock of its own thus adds behavior and leaves none out, so
// what never happens here never happens. Counters, and what the last event handed
// out, are read by no guard, and are left out. Everything else is compared as it
// is (exKey), the content of slices included.
//
// What is not explored is the adaptive scheduler's own state: here are any scheduler,
// and Base in virtual time; recovery/troubles_test.go does the like for the adaptive
// one, as far as two or three troubles go.
//
// What is checked: in each state, what sections 7.2, 8.2 and 11 say (explore_checks);
// of each step, what an event must change and what not (explore_steps); and that
// from each state the connection can end, with everything delivered and reported
// unless an end gave up, however the scheduler chooses (explore_stalls). A problem
// is told as the shortest conversation that leads to it.
//
// That the explorer finds what it should is shown by fuzz/faults. Stalls of other
// implementations that no state here can show, and why:
//
//	 2  an in-flight window: this protocol's machines have none. What it is to bring
//	    about, all acks lost for 6 s, is in TestExploreBase.
//	16, 17, 18, 20  timers, cursor and pace are the scheduler's: TestExploreBase.
//	    That acks come before timers is the driver's to do (SND-4).
//	AKT-3  16 unreported slices need larger chunks.
//
// And one move is left out: a forged slice that meets a genuine chunk which has
// had no new slice for half of the time to give up. It pins the chunk anew, and
// the sender gives up, as section 12 says.

import (
	"flag"
	"testing"
)

var (
	exploreCI      = flag.Bool("explore.ci", false, "let TestExploreLarge visit a million states")
	exploreOnly    = flag.String("explore.only", "", "the one scenario that TestExplore, TestExploreBlindly or TestExploreBase visits")
	exploreNightly = flag.Bool("explore.nightly", false, "let TestExploreNightly visit far more")
)

func TestExplore(t *testing.T) {
	var taken [lastRow + 1]bool
	for _, sc := range chosenScenarios(t) {
		t.Run(sc.name, func(t *testing.T) {
			e := exploreAndReport(t, sc)
			for row, is := range e.rows {
				taken[row] = taken[row] || is
			}
		})
	}
	if *exploreOnly != "" || t.Failed() {
		return
	}
	for row := S1Start; row <= lastRow; row++ {
		if !taken[row] {
			t.Errorf("no exploration takes row %v", row)
		}
	}
	t.Logf("all rows of both tables are taken: %v to %v, %v to %v", S1Start, lastSenderRow, R1OnlySlice, lastRow)
}

// The same with all checks off but one: is there always a way to the end? So it
// is the way on that stalls block, not a check that knows them by name.
func TestExploreBlindly(t *testing.T) {
	for _, sc := range chosenScenarios(t) {
		sc.blind, sc.pokes = true, false
		t.Run(sc.name, func(t *testing.T) { exploreAndReport(t, sc) })
	}
}

func chosenScenarios(t *testing.T) []scenario {
	t.Helper()
	if *exploreOnly == "" {
		return scenarios
	}
	for _, sc := range scenarios {
		if sc.name == *exploreOnly {
			return []scenario{sc}
		}
	}
	t.Fatalf("there is no scenario %q", *exploreOnly)
	return nil
}

func exploreAndReport(t *testing.T, sc scenario) *explorer {
	t.Helper()
	e := explore(sc)
	if e.problem != nil {
		t.Fatalf("%s\nafter %s", e.story(), e.summary())
	}
	t.Log(e.summary())
	return e
}

func TestExploreLarge(t *testing.T) {
	if !*exploreCI {
		t.Skip("needs -explore.ci")
	}
	e := exploreAndReport(t, largeScenario)
	if n := len(e.from); n < 1_000_000 {
		t.Errorf("%d states are fewer than a million", n)
	}
}

func TestExploreNightly(t *testing.T) {
	if !*exploreNightly {
		t.Skip("needs -explore.nightly")
	}
	for _, sc := range nightlyScenarios {
		t.Run(sc.name, func(t *testing.T) { exploreAndReport(t, sc) })
	}
}
