package statemachine

// The explorer drives the real Sender and Receiver through every state that they can
// reach together, and checks each. The engine is package conform/sim/explore; here is the
// world of the chunk protocol:
//
//	go test ./statemachine -run TestExplore                                      # small scenarios, in every run
//	go test ./statemachine -run '^TestExplore$' -explore.only='two slices' -v     # one, with its figures
//	go test ./statemachine -run TestExploreLarge -explore.ci -v                   # 1.8 million states: 20 s, 1 GB
//	go test ./statemachine -run TestExploreNightly -explore.nightly -timeout 1h -v # 8 million: 2 minutes, 3 GB
//
// What can happen, at any time: a chunk is submitted; the scheduler has any slice to
// send that was not reported to it as acked, or none; any packet in flight
// arrives, is lost, or is doubled, in any order; a packet that goes out into a full
// network is lost; the receiver is polled, or 2 ms pass first; the reader reads, or
// does not yet; and, where a scenario has it, an end gives up or restarts, or a forged
// slice arrives. A scheduler that returns anything stands for all that conform to
// section 9.1, so what holds here holds for each of them.
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
// What is not explored is a scheduler's own state: TestExploreBase in statemachine/schedule/base
// and TestTroubles in statemachine/schedule/adaptive run theirs in real time, as far as two or three
// troubles go. AKT-3, 16 unreported slices, needs larger chunks. That acks come before
// timers is the driver's to do (SND-4).
//
// What is checked: in each state, what sections 7.2, 8.2 and 11 say (explore_checks);
// of each step, what an event must change and what not (explore_steps); and that from
// each state the connection can end, with everything delivered and reported unless an
// end gave up, however the scheduler chooses: a scheduler that conforms sends each
// slice again and again (SCH-2), so what can happen there does happen at last.
//
// One move is left out: a forged slice that meets a genuine chunk which has had no new
// slice for half of the time to give up. It replaces the number of slices, and the
// sender gives up, as section 12 says.

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

var (
	exploreCI      = flag.Bool("explore.ci", false, "let TestExploreLarge visit 1.8 million states")
	exploreOnly    = flag.String("explore.only", "", "the one scenario that TestExplore or TestExploreBlindly visits")
	exploreNightly = flag.Bool("explore.nightly", false, "let TestExploreNightly visit far more")
)

// scenario is what an exploration lets happen.
type scenario struct {
	name     string
	first    uint16 // id of the first chunk
	sizes    []int  // the chunks to submit, in slices
	slices   int    // how many slice packets the network holds at a time
	acks     int    // how many ack packets it holds at a time
	doubles  bool   // the network may double a packet
	giveUps  bool   // either end may give up at any time
	restarts bool   // either end may restart, once
	pokes    bool   // in every state, everything is tried that must change nothing
	forged   []forgery
	blind    bool // nothing is checked but that the connection can always end
	limit    int  // no more states than this, so that a fault ends, too
}

// forgery is a slice that no sender of this connection made. It reaches the receiver
// once, at any time but when it would replace the number of slices of a genuine chunk.
type forgery struct{ chunk, id, numSlices int }

// scenarios are explored in every run of the tests.
var scenarios = []scenario{
	{name: "one slice", first: 65535, sizes: []int{1, 1, 1}, slices: 2, acks: 2, doubles: true, pokes: true, limit: 200_000},
	{name: "two slices", first: 65535, sizes: []int{2, 2}, slices: 2, acks: 1, doubles: true, pokes: true, limit: 200_000},
	{name: "fewer and more slices", first: 65534, sizes: []int{2, 1, 3}, slices: 1, acks: 1, pokes: true, limit: 200_000},
	{name: "late acks", first: 65535, sizes: []int{1, 2}, slices: 1, acks: 3, doubles: true, limit: 200_000},
	{name: "giving up", first: 65535, sizes: []int{2, 1}, slices: 1, acks: 1, giveUps: true, pokes: true, limit: 200_000},
	{name: "forged slices", first: 65535, sizes: []int{1, 2}, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{0, 0, 2}, {1, 1, 3}}},
	{name: "unknown peers at the start", first: 0, sizes: []int{2}, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{-1, 0, 1}, {-1, 1, 2}, {2, 0, 1}}},
	{name: "restarts", first: 65535, sizes: []int{2, 1}, slices: 1, acks: 1, giveUps: true, restarts: true, limit: 200_000},
}

// largeScenarios have nearly two million states.
var largeScenarios = []scenario{
	{name: "large", first: 65534, sizes: []int{1, 2, 3}, slices: 2, acks: 2, doubles: true, limit: 10_000_000},
	{name: "larger", first: 65534, sizes: []int{2, 2, 3}, slices: 2, acks: 2, doubles: true, limit: 10_000_000},
}

// nightlyScenarios have 1 to 3 million states each.
var nightlyScenarios = []scenario{
	{name: "three chunks", first: 65534, sizes: []int{3, 1, 3}, slices: 2, acks: 2, doubles: true, limit: 40_000_000},
	{name: "more in flight", first: 65535, sizes: []int{2, 3}, slices: 3, acks: 3, doubles: true, limit: 40_000_000},
	{name: "giving up, doubles", first: 65534, sizes: []int{2, 1, 3}, slices: 2, acks: 2, doubles: true, giveUps: true, limit: 40_000_000},
	{name: "forged slices, doubles", first: 65535, sizes: []int{1, 3}, slices: 2, acks: 2, doubles: true, limit: 40_000_000,
		forged: []forgery{{0, 0, 2}, {1, 1, 2}}},
}

// exWorld is an explore.World.
type exWorld struct {
	scenario
	chunks [][]byte
	rows   map[core.Row]bool // rows taken

	// Scratch.
	sched   *anyScheduler
	before  exState
	pages   []*[codec.SliceSize]byte // every content that a slice has had, once
	scratch [codec.SliceSize]byte
}

func newExWorld(sc scenario) *exWorld {
	w := &exWorld{scenario: sc, sched: &anyScheduler{}, rows: map[core.Row]bool{}}
	for i, n := range sc.sizes {
		w.chunks = append(w.chunks, chunktest.Chunk((n-1)*codec.SliceSize+2+n, uint32(i+1)))
	}
	return w
}

// Start returns two new machines.
func (w *exWorld) Start() (st exState) {
	w.newSender(&st)
	w.newReceiver(&st)
	st.detach()
	return st
}

// Ended: a connection has ended when all is delivered and reported, or when an end has
// failed and the other waits for nothing.
func (w *exWorld) Ended(st *exState) bool {
	s, r, n := &st.sender, &st.receiver, len(w.chunks)
	failed := s.state == SenderFailed || r.state == ReceiverFailed || st.restarted != 0
	done := int(st.submitted) == n && int(st.reported) == n && int(st.delivered) == n
	senderDone := s.state == SenderFailed || s.state == SenderIdle && int(st.submitted) == n
	receiverDone := r.state == ReceiverFailed || r.state == ReceiverWaiting
	return senderDone && receiverDone && (failed || done)
}

// genuine reports whether a packet could be a slice of a chunk of this connection.
func (w *exWorld) genuine(p exPacket) bool {
	i := int(p.chunkID() - w.first)
	return i < len(w.chunks) && p.numSlices() == slicesIn(w.chunks[i]) && p.rest() < p.numSlices()
}

// slice returns a genuine packet as the slice that it is.
func (w *exWorld) slice(p exPacket) codec.Slice {
	data := w.chunks[p.chunkID()-w.first][p.rest()*codec.SliceSize:]
	return codec.Slice{ChunkID: p.chunkID(), SliceID: p.rest(), NumSlices: p.numSlices(), Data: data[:min(len(data), codec.SliceSize)]}
}

var forgedData = chunktest.Chunk(codec.SliceSize, 99)

func (w *exWorld) forgedSlice(f forgery) codec.Slice {
	data := forgedData
	if f.id == f.numSlices-1 {
		data = data[:5]
	}
	return codec.Slice{ChunkID: w.first + uint16(f.chunk), SliceID: f.id, NumSlices: f.numSlices, Data: data}
}

// explored explores a scenario. It returns the rows that were taken.
func explored(t *testing.T, sc scenario) (*explore.Result, map[core.Row]bool) {
	t.Helper()
	w := newExWorld(sc)
	r := explore.Run[exState, exMove](w, explore.Limits{States: sc.limit, Livelocks: !sc.restarts}) // restarts end only by giving up
	if r.Err != nil {
		t.Fatalf("%v (LIVE-2, LIVE-3 if nothing else)\n%s\nafter %v", r.Err, r.Trace, r)
	}
	sizes := strings.Trim(strings.ReplaceAll(fmt.Sprint(sc.sizes), " ", ", "), "[]")
	t.Logf("%-22s chunks of %s slices from id %d, %d+%d packets in flight: %v", sc.name, sizes, sc.first, sc.slices, sc.acks, r)
	return r, w.rows
}

func TestExplore(t *testing.T) {
	missing := map[core.Row]bool{}
	for _, l := range append(SenderTable(codec.Named), ReceiverTable(codec.Named)...) {
		missing[l.Row] = true
	}
	for _, sc := range chosenScenarios(t) {
		t.Run(sc.name, func(t *testing.T) {
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
		t.Run(sc.name, func(t *testing.T) { explored(t, sc) })
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
	states := 0
	for _, sc := range largeScenarios {
		r, _ := explored(t, sc)
		states += r.States
	}
	if states < 1_500_000 {
		t.Errorf("%d states are fewer than 1.5 million", states)
	}
}

func TestExploreNightly(t *testing.T) {
	if !*exploreNightly {
		t.Skip("needs -explore.nightly")
	}
	for _, sc := range nightlyScenarios {
		t.Run(sc.name, func(t *testing.T) { explored(t, sc) })
	}
}

// States with the same key are the same, in every variable of the machines. A variable
// that a machine gets one day must be in the key, or be folded away.
func TestExploreTakesNoTwoStatesForOne(t *testing.T) {
	w := newExWorld(scenario{first: 65535, sizes: []int{3, 1}, slices: 1, acks: 1, giveUps: true, forged: []forgery{{0, 0, 2}}})
	if r := explore.RunComparing[exState, exMove](w, explore.Limits{States: 100_000, Livelocks: true}); r.Err != nil {
		t.Fatalf("%v\n%s", r.Err, r.Trace)
	}
}
