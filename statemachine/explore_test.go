package statemachine

// The explorer drives the real Sender and Receiver through every state that they can
// reach together, and checks each. The engine is package conform/sim/explore; here are the
// worlds of the chunk protocol, of named slices and of repair slices:
//
//	go test ./statemachine -run TestExplore                                      # small scenarios, in every run
//	go test ./statemachine -run '^TestExplore$' -explore.only='two slices' -v     # one of each kind, with its figures
//	go test ./statemachine -run TestExploreLarge -explore.ci -v                   # 2.9 million states: a minute, 1 GB
//	go test ./statemachine -run TestExploreNightly -explore.nightly -timeout 1h -v # far more: minutes, 3 GB
//
// What can happen, at any time: a chunk is submitted; the scheduler has any named slice to
// send that was not reported to it as acked, or lets the next repair slice be sent, or not;
// any packet in flight arrives, is lost, or is doubled, in any order; a packet that is sent into a full
// network is lost; the receiver is polled, or 2 ms pass first; the reader reads, or
// does not yet; and, where a scenario has it, an end gives up or restarts, or a forged
// slice or ack arrives. A scheduler that returns anything stands for all that conform to
// section 9, so what holds here holds for each of them.
//
// Why there are finitely many states. Of the times that a machine keeps, all that
// matters is on which side of now they lie, and there are few (foldSender and
// foldReceiver): the time of the next ack and that of the last one plus 2 ms, half of
// the receiver's time to give up, and the end of either's. So the present is always
// the same time, and each of these lies before or after it, at one place. To pass one
// is a move of its own, possible whenever it lies ahead. Real time has fewer ways: it
// passes at both ends at once, and not without end before a timer. Each end having a
// clock of its own thus adds behavior and leaves none out, so what never happens here
// never happens. Counters, and what the last event handed out, are read by no guard,
// and are left out. Everything else is compared as it is (Key), the content of slices
// included.
//
// Each transmission of a repair slice has another number, so these must be bounded: from
// number `most` on the scheduler repeats the last one, and the network, which may double and
// delay whatever it has had, delivers for it the highest id that the receiver lacks. That
// ids come again after 8,191 is left to TestIDsWrap.
//
// What is not explored is a scheduler's own state: TestExploreBase in statemachine/schedule/base
// and TestTroubles in statemachine/schedule/adaptive run theirs in real time, as far as two or three
// troubles go. AKT-3, 16 unreported slices, needs larger chunks. That acks come before
// timers is the driver's to do (SND-4).
//
// What is checked: in each state, what sections 7.2, 8.2 and 11 say, and of repair slices an observer who
// finds ranks by plain elimination;
// of each step, what an event must change and what not; and that from
// each state the connection can end, with everything delivered and reported unless an
// end gave up, however the scheduler chooses: a scheduler that conforms sends each
// slice again and again (SCH-2), so what can happen there does happen at last.
//
// One move is left out: a forged slice that meets a genuine chunk which has had no new
// slice for half of the time to give up. It replaces the number of slices, and the
// sender gives up, as section 12 says.

import (
	"flag"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

var (
	exploreCI      = flag.Bool("explore.ci", false, "let TestExploreLarge visit 2.9 million states")
	exploreOnly    = flag.String("explore.only", "", "the one scenario of each kind that TestExplore or TestExploreBlindly visits")
	exploreNightly = flag.Bool("explore.nightly", false, "let TestExploreNightly visit far more")
)

// scenario is what an exploration lets happen.
type scenario struct {
	kind     codec.Kind
	name     string
	first    uint16 // id of the first chunk
	sizes    []int  // the chunks to submit, in slices
	most     int    // numbers of transmissions of a chunk; of repair slices
	slices   int    // how many slice packets the network holds at a time
	acks     int    // how many ack packets it holds at a time
	doubles  bool   // the network may double a packet
	giveUps  bool   // either end may give up at any time
	restarts bool   // either end may restart, once
	pokes    bool   // in every state, everything is tried that must change nothing
	forged   []forgery
	acked    []codec.Ack // forged acks of the chunk in flight, which may arrive once each
	blind    bool        // nothing is checked but that the connection can always end
	limit    int         // no more states than this, so that a fault ends, too
}

// forgery is a slice that no sender of this connection made. It reaches the receiver once, at
// any time but when it would replace the form of a genuine chunk, or be stored in one.
// lastBytes 0 stands for the size in the genuine chunk.
type forgery struct{ chunk, id, numSlices, lastBytes int }

// scenarios are explored in every run of the tests.
var scenarios = []scenario{
	{kind: codec.Named, name: "one slice", first: 65535, sizes: []int{1, 1, 1}, slices: 2, acks: 2, doubles: true, pokes: true, limit: 200_000},
	{kind: codec.Named, name: "two slices", first: 65535, sizes: []int{2, 2}, slices: 2, acks: 1, doubles: true, pokes: true, limit: 200_000},
	{kind: codec.Named, name: "fewer and more slices", first: 65534, sizes: []int{2, 1, 3}, slices: 1, acks: 1, pokes: true, limit: 200_000},
	{kind: codec.Named, name: "late acks", first: 65535, sizes: []int{1, 2}, slices: 1, acks: 3, doubles: true, limit: 200_000},
	{kind: codec.Named, name: "giving up", first: 65535, sizes: []int{2, 1}, slices: 1, acks: 1, giveUps: true, pokes: true, limit: 200_000},
	{kind: codec.Named, name: "forged slices", first: 65535, sizes: []int{1, 2}, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{0, 0, 2, 5}, {1, 1, 3, 5}}},
	{kind: codec.Named, name: "unknown peers at the start", first: 0, sizes: []int{2}, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{-1, 0, 1, 5}, {-1, 1, 2, 5}, {2, 0, 1, 5}}},
	{kind: codec.Named, name: "restarts", first: 65535, sizes: []int{2, 1}, slices: 1, acks: 1, giveUps: true, restarts: true, limit: 200_000},

	{kind: codec.Repair, name: "one slice", first: 65535, sizes: []int{1, 1}, most: 3, slices: 2, acks: 1, doubles: true, pokes: true, limit: 200_000},
	{kind: codec.Repair, name: "two slices", first: 65535, sizes: []int{2, 1}, most: 3, slices: 2, acks: 1, pokes: true, limit: 200_000},
	{kind: codec.Repair, name: "three slices", first: 65535, sizes: []int{3}, most: 7, slices: 1, acks: 1, pokes: true, limit: 200_000},
	{kind: codec.Repair, name: "late acks", first: 65535, sizes: []int{1, 2}, most: 3, slices: 1, acks: 3, doubles: true, limit: 200_000},
	{kind: codec.Repair, name: "giving up", first: 65535, sizes: []int{2, 1}, most: 4, slices: 1, acks: 1, giveUps: true, pokes: true, limit: 200_000},
	{kind: codec.Repair, name: "forged slices", first: 65535, sizes: []int{1, 2}, most: 3, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{0, 0, 2, 9}, {1, 1, 2, 9}}},
	{kind: codec.Repair, name: "forged spare equations", first: 65535, sizes: []int{3}, most: 7, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{0, 6, 3, 0}}},
	{kind: codec.Repair, name: "forged acks", first: 65535, sizes: []int{2, 1}, most: 3, slices: 1, acks: 1, pokes: true, limit: 200_000,
		acked: []codec.Ack{{Have: 0, Top: 2}, {Have: 1, Top: 1}, {Have: 1, Top: 3}}},
	{kind: codec.Repair, name: "unknown peers at the start", first: 0, sizes: []int{2}, most: 4, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{-1, 0, 1, 3}, {-1, 1, 2, 3}, {2, 0, 1, 3}}},
	{kind: codec.Repair, name: "restarts", first: 65535, sizes: []int{1, 1}, most: 3, slices: 1, acks: 1, giveUps: true, restarts: true, limit: 200_000},
}

// largeScenarios have nearly three million states.
var largeScenarios = []scenario{
	{kind: codec.Named, name: "large", first: 65534, sizes: []int{1, 2, 3}, slices: 2, acks: 2, doubles: true, limit: 10_000_000},
	{kind: codec.Named, name: "larger", first: 65534, sizes: []int{2, 2, 3}, slices: 2, acks: 2, doubles: true, limit: 10_000_000},

	{kind: codec.Repair, name: "more acks", first: 65535, sizes: []int{3}, most: 6, slices: 2, acks: 2, limit: 1_000_000},
	{kind: codec.Repair, name: "doubles", first: 65535, sizes: []int{3}, most: 6, slices: 2, acks: 1, doubles: true, limit: 1_000_000},
	{kind: codec.Repair, name: "fewer slices", first: 65534, sizes: []int{3, 1}, most: 6, slices: 2, acks: 1, limit: 1_000_000},
}

// nightlyScenarios have up to 3 million states each.
var nightlyScenarios = []scenario{
	{kind: codec.Named, name: "three chunks", first: 65534, sizes: []int{3, 1, 3}, slices: 2, acks: 2, doubles: true, limit: 40_000_000},
	{kind: codec.Named, name: "more in flight", first: 65535, sizes: []int{2, 3}, slices: 3, acks: 3, doubles: true, limit: 40_000_000},
	{kind: codec.Named, name: "giving up, doubles", first: 65534, sizes: []int{2, 1, 3}, slices: 2, acks: 2, doubles: true, giveUps: true, limit: 40_000_000},
	{kind: codec.Named, name: "forged slices, doubles", first: 65535, sizes: []int{1, 3}, slices: 2, acks: 2, doubles: true, limit: 40_000_000,
		forged: []forgery{{0, 0, 2, 5}, {1, 1, 2, 5}}},

	{kind: codec.Repair, name: "two chunks", first: 65534, sizes: []int{2, 3}, most: 5, slices: 2, acks: 1, limit: 20_000_000},
	{kind: codec.Repair, name: "dependent slices", first: 65535, sizes: []int{3}, most: 7, slices: 2, acks: 1, doubles: true, limit: 20_000_000},
	{kind: codec.Repair, name: "forged slices, doubles", first: 65535, sizes: []int{1, 2}, most: 3, slices: 1, acks: 1, doubles: true, limit: 20_000_000,
		forged: []forgery{{0, 0, 2, 9}, {1, 3, 3, 4}, {1, 1, 2, 9}, {1, 5, 2, 0}}},
	{kind: codec.Repair, name: "giving up, doubles", first: 65534, sizes: []int{3, 1}, most: 5, slices: 2, acks: 1, doubles: true, giveUps: true, limit: 20_000_000},
	{kind: codec.Repair, name: "acks, doubles", first: 65535, sizes: []int{3}, most: 6, slices: 2, acks: 2, doubles: true, limit: 20_000_000},
}

var kindNames = [...]string{codec.Named: "named", codec.Repair: "repair"}

// explored explores a scenario. It returns the rows that were taken.
func explored(t *testing.T, sc scenario) (*explore.Result, map[core.Row]bool) {
	t.Helper()
	limits := explore.Limits{States: sc.limit, Livelocks: !sc.restarts} // restarts end only by giving up
	var r *explore.Result
	var rows map[core.Row]bool
	if sc.kind == codec.Repair {
		w := newRepairWorld(sc)
		r, rows = explore.Run[repairState, exMove](w, limits), w.rows
	} else {
		w := newNamedWorld(sc)
		r, rows = explore.Run[namedState, exMove](w, limits), w.rows
	}
	if r.Err != nil {
		t.Fatalf("%v (LIVE-2, LIVE-3 if nothing else)\n%s\nafter %v", r.Err, r.Trace, r)
	}
	t.Logf("%-22s chunks of %v slices from id %d, %d+%d packets in flight: %v", sc.name, sc.sizes, sc.first, sc.slices, sc.acks, r)
	return r, rows
}

func TestExplore(t *testing.T) {
	missing := map[core.Row]bool{}
	for _, kind := range kinds {
		for _, l := range append(SenderTable(kind), ReceiverTable(kind)...) {
			missing[l.Row] = true
		}
	}
	for _, sc := range chosenScenarios(t) {
		t.Run(kindNames[sc.kind]+"/"+sc.name, func(t *testing.T) {
			_, taken := explored(t, sc)
			for row := range taken {
				delete(missing, row)
			}
		})
	}
	if *exploreOnly == "" && !t.Failed() && len(missing) > 0 {
		t.Errorf("no exploration takes the rows %v", missing)
	}
}

// The same with all checks off but one: is there always a way to the end? So it is the
// way on that stalls block, not a check that knows them by name.
func TestExploreBlindly(t *testing.T) {
	for _, sc := range chosenScenarios(t) {
		sc.blind, sc.pokes = true, false
		t.Run(kindNames[sc.kind]+"/"+sc.name, func(t *testing.T) { explored(t, sc) })
	}
}

func chosenScenarios(t *testing.T) (chosen []scenario) {
	t.Helper()
	for _, sc := range scenarios {
		if *exploreOnly == "" || sc.name == *exploreOnly {
			chosen = append(chosen, sc)
		}
	}
	if chosen == nil {
		t.Fatalf("there is no scenario %q", *exploreOnly)
	}
	return chosen
}

func TestExploreLarge(t *testing.T) {
	if !*exploreCI {
		t.Skip("needs -explore.ci")
	}
	states := map[codec.Kind]int{}
	for _, sc := range largeScenarios {
		r, _ := explored(t, sc)
		states[sc.kind] += r.States
	}
	if states[codec.Named] < 1_500_000 || states[codec.Repair] < 1_000_000 {
		t.Errorf("%v states are fewer than 1.5 million and a million", states)
	}
}

func TestExploreNightly(t *testing.T) {
	if !*exploreNightly {
		t.Skip("needs -explore.nightly")
	}
	for _, sc := range nightlyScenarios {
		t.Run(kindNames[sc.kind]+"/"+sc.name, func(t *testing.T) { explored(t, sc) })
	}
}

// States with the same key are the same, in every variable of the machines. A variable
// that a machine gets one day must be in the key, or be folded away.
func TestExploreTakesNoTwoStatesForOne(t *testing.T) {
	sc := scenario{first: 65535, sizes: []int{3, 1}, most: 4, slices: 1, acks: 1, giveUps: true, forged: []forgery{{0, 0, 2, 5}}}
	limits := explore.Limits{States: 200_000, Livelocks: true}
	for _, r := range []*explore.Result{
		explore.RunComparing[namedState, exMove](newNamedWorld(sc), limits),
		explore.RunComparing[repairState, exMove](newRepairWorld(sc.of(codec.Repair)), limits),
	} {
		if r.Err != nil {
			t.Fatalf("%v\n%s", r.Err, r.Trace)
		}
	}
}

func (sc scenario) of(kind codec.Kind) scenario {
	sc.kind = kind
	return sc
}
