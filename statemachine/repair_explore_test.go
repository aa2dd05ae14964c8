package statemachine

// The explorer drives the real Sender and Receiver, with the real code, through every state
// that they can reach together, and checks each. The engine is package conform/sim/explore, and what
// is said in package statemachine's explorer of times, of schedulers and of what is compared
// holds here, too. This is the world of repair slices:
//
//	go test ./statemachine -run TestRepairExplore                                      # small scenarios, in every run
//	go test ./statemachine -run '^TestRepairExplore$' -explore.only='two slices' -v     # one, with its figures
//	go test ./statemachine -run TestRepairExploreLarge -explore.ci -v                   # a million states
//	go test ./statemachine -run TestRepairExploreNightly -explore.nightly -timeout 1h -v # far more
//
// What can happen, at any time: a chunk is submitted; the scheduler lets the next id go out,
// or does not; any packet in flight arrives, is lost, or is doubled, in any order; the
// receiver is polled, or 2 ms pass first; the reader reads, or does not yet; and, where a
// scenario has it, an end gives up or restarts, or a forged slice or ack arrives.
//
// Each transmission has another number, so these must be bounded: from number `most` on the
// scheduler repeats the last one, and the network, which may double and delay whatever it
// has had, delivers for it the highest id that the receiver lacks. That ids come again after
// 8,191 is left to TestIDsWrap.
//
// What is checked: in each state and of each step, what an observer says who knows what was
// submitted, and who finds ranks by plain elimination; and that from each state the
// connection can end with everything delivered and reported, unless an end gave up.

import (
	"github.com/chunkwire/chunkwire/codec"
	"testing"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/oracle/repairoracle"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/conform/sim/explore"
	"github.com/chunkwire/chunkwire/core"
)

// scenario is what an exploration lets happen.
type repairScenario struct {
	name     string
	first    uint16 // id of the first chunk
	sizes    []int  // the chunks to submit, in slices
	most     int    // numbers of transmissions of a chunk
	slices   int    // how many slice packets the network holds at a time
	acks     int    // how many ack packets it holds at a time
	doubles  bool   // the network may double a packet
	giveUps  bool   // either end may give up at any time
	restarts bool   // either end may restart, once
	pokes    bool   // in every state, everything is tried that must change nothing
	forged   []repairForgery
	acked    []codec.Ack // forged acks of the chunk in flight, which may arrive once each
	blind    bool        // nothing is checked but that the connection can always end
	limit    int         // no more states than this, so that a fault ends, too
}

// forgery is a slice that no sender of this connection made. It reaches the receiver once, at
// any time but when it would replace the form of a genuine chunk, or be stored in one.
type repairForgery struct{ chunk, id, numSlices, lastBytes int }

// scenarios are explored in every run of the tests.
var repairScenarios = []repairScenario{
	{name: "one slice", first: 65535, sizes: []int{1, 1}, most: 3, slices: 2, acks: 1, doubles: true, pokes: true, limit: 200_000},
	{name: "two slices", first: 65535, sizes: []int{2, 1}, most: 3, slices: 2, acks: 1, pokes: true, limit: 200_000},
	{name: "three slices", first: 65535, sizes: []int{3}, most: 7, slices: 1, acks: 1, pokes: true, limit: 200_000},
	{name: "late acks", first: 65535, sizes: []int{1, 2}, most: 3, slices: 1, acks: 3, doubles: true, limit: 200_000},
	{name: "giving up", first: 65535, sizes: []int{2, 1}, most: 4, slices: 1, acks: 1, giveUps: true, pokes: true, limit: 200_000},
	{name: "forged slices", first: 65535, sizes: []int{1, 2}, most: 3, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []repairForgery{{0, 0, 2, 9}, {1, 1, 2, 9}}},
	{name: "forged spare equations", first: 65535, sizes: []int{3}, most: 7, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []repairForgery{{0, 6, 3, 0}}},
	{name: "forged acks", first: 65535, sizes: []int{2, 1}, most: 3, slices: 1, acks: 1, pokes: true, limit: 200_000,
		acked: []codec.Ack{{Have: 0, Top: 2}, {Have: 1, Top: 1}, {Have: 1, Top: 3}}},
	{name: "unknown peers at the start", first: 0, sizes: []int{2}, most: 4, slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []repairForgery{{-1, 0, 1, 3}, {-1, 1, 2, 3}, {2, 0, 1, 3}}},
	{name: "restarts", first: 65535, sizes: []int{1, 1}, most: 3, slices: 1, acks: 1, giveUps: true, restarts: true, limit: 200_000},
}

// largeScenarios have a million states.
var repairLargeScenarios = []repairScenario{
	{name: "more acks", first: 65535, sizes: []int{3}, most: 6, slices: 2, acks: 2, limit: 1_000_000},
	{name: "doubles", first: 65535, sizes: []int{3}, most: 6, slices: 2, acks: 1, doubles: true, limit: 1_000_000},
	{name: "fewer slices", first: 65534, sizes: []int{3, 1}, most: 6, slices: 2, acks: 1, limit: 1_000_000},
}

// nightlyScenarios have more.
var repairNightlyScenarios = []repairScenario{
	{name: "two chunks", first: 65534, sizes: []int{2, 3}, most: 5, slices: 2, acks: 1, limit: 20_000_000},
	{name: "dependent slices", first: 65535, sizes: []int{3}, most: 7, slices: 2, acks: 1, doubles: true, limit: 20_000_000},
	{name: "forged slices, doubles", first: 65535, sizes: []int{1, 2}, most: 3, slices: 1, acks: 1, doubles: true, limit: 20_000_000,
		forged: []repairForgery{{0, 0, 2, 9}, {1, 3, 3, 4}, {1, 1, 2, 9}, {1, 5, 2, 0}}},
	{name: "giving up, doubles", first: 65534, sizes: []int{3, 1}, most: 5, slices: 2, acks: 1, doubles: true, giveUps: true, limit: 20_000_000},
	{name: "acks, doubles", first: 65535, sizes: []int{3}, most: 6, slices: 2, acks: 2, doubles: true, limit: 20_000_000},
}

// exWorld is an explore.World.
type repairExWorld struct {
	repairScenario
	chunks  [][]byte
	encoded []*erasure.Encoded
	rows    map[core.Row]bool // rows taken

	// Scratch.
	sched  *repairAnyScheduler
	before repairExState
	memory *Memory
	code   erasure.Decoder
	ids    []int
}

func repairNewExWorld(sc repairScenario) *repairExWorld {
	w := &repairExWorld{repairScenario: sc, sched: &repairAnyScheduler{}, rows: map[core.Row]bool{}, memory: &Memory{}}
	for i, n := range sc.sizes {
		w.chunks = append(w.chunks, chunktest.Chunk((n-1)*erasure.SliceSize+2+n, uint32(i+1)))
		w.encoded = append(w.encoded, erasure.Encode(w.chunks[i]))
	}
	return w
}

// Start returns two new machines.
func (w *repairExWorld) Start() (st repairExState) {
	w.newSender(&st)
	w.newReceiver(&st)
	st.detach()
	return st
}

// Ended: a connection has ended when all is delivered and reported, or when an end has
// failed and the other waits for nothing.
func (w *repairExWorld) Ended(st *repairExState) bool {
	s, r, n := &st.sender, &st.receiver, len(w.chunks)
	broken := s.state == SenderFailed || r.state == ReceiverFailed || st.restarted != 0
	done := int(st.submitted) == n && int(st.reported) == n && int(st.delivered) == n
	senderDone := s.state == SenderFailed || s.state == SenderIdle && int(st.submitted) == n
	receiverDone := r.state == ReceiverFailed || r.state == ReceiverWaiting
	return senderDone && receiverDone && (broken || done)
}

// explored explores a scenario. It returns the rows that were taken.
func repairExplored(t *testing.T, sc repairScenario) (*explore.Result, map[core.Row]bool) {
	t.Helper()
	w := repairNewExWorld(sc)
	r := explore.Run[repairExState, exMove](w, explore.Limits{States: sc.limit, Livelocks: !sc.restarts}) // restarts end only by giving up
	if r.Err != nil {
		t.Fatalf("%v (LIVE-2, LIVE-3 if nothing else)\n%s\nafter %v", r.Err, r.Trace, r)
	}
	t.Logf("%-22s chunks of %v slices from id %d, %d ids, %d+%d packets in flight: %v", sc.name, sc.sizes, sc.first, sc.most, sc.slices, sc.acks, r)
	return r, w.rows
}

func TestRepairExplore(t *testing.T) {
	missing := map[core.Row]bool{}
	for _, l := range append(SenderTable(codec.Repair), ReceiverTable(codec.Repair)...) {
		missing[l.Row] = true
	}
	for _, sc := range repairChosenScenarios(t) {
		t.Run(sc.name, func(t *testing.T) {
			_, taken := repairExplored(t, sc)
			for row := range taken {
				delete(missing, row)
			}
		})
	}
	if *exploreOnly == "" && !t.Failed() && len(missing) > 0 {
		t.Errorf("no exploration takes the rows %v", missing)
	}
}

// The same with all checks off but one: is there always a way to the end?
func TestRepairExploreBlindly(t *testing.T) {
	for _, sc := range repairChosenScenarios(t) {
		sc.blind, sc.pokes = true, false
		t.Run(sc.name, func(t *testing.T) { repairExplored(t, sc) })
	}
}

func repairChosenScenarios(t *testing.T) (chosen []repairScenario) {
	t.Helper()
	for _, sc := range repairScenarios {
		if *exploreOnly == "" || sc.name == *exploreOnly {
			chosen = append(chosen, sc)
		}
	}
	if chosen == nil {
		t.Fatalf("there is no scenario %q", *exploreOnly)
	}
	return chosen
}

func TestRepairExploreLarge(t *testing.T) {
	if !*exploreCI {
		t.Skip("needs -explore.ci")
	}
	states := 0
	for _, sc := range repairLargeScenarios {
		r, _ := repairExplored(t, sc)
		states += r.States
	}
	if states < 1_000_000 {
		t.Errorf("%d states are fewer than a million", states)
	}
}

func TestRepairExploreNightly(t *testing.T) {
	if !*exploreNightly {
		t.Skip("needs -explore.nightly")
	}
	for _, sc := range repairNightlyScenarios {
		t.Run(sc.name, func(t *testing.T) { repairExplored(t, sc) })
	}
}

// States with the same key are the same, in every variable of the machines. A variable
// that a machine gets one day must be in the key, or be folded away.
func TestRepairExploreTakesNoTwoStatesForOne(t *testing.T) {
	w := repairNewExWorld(repairScenario{first: 65535, sizes: []int{3, 1}, most: 4, slices: 1, acks: 1, giveUps: true, forged: []repairForgery{{0, 0, 2, 3}}})
	if r := explore.RunComparing[repairExState, exMove](w, explore.Limits{States: 200_000, Livelocks: true}); r.Err != nil {
		t.Fatalf("%v\n%s", r.Err, r.Trace)
	}
}

// rankOf is the rank of ids by plain elimination.
func rankOf(k int, ids ...int) int {
	d := repairoracle.NewDecoder(int64(k), 1)
	for _, id := range ids {
		d.Add(int64(id), nil)
	}
	return int(d.Rank())
}
