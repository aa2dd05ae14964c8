package statemachine

import "github.com/chunkwire/chunkwire/codec"

// scenario is what an exploration lets happen.
type scenario struct {
	name     string
	first    uint16 // id of the first chunk
	sizes    []int  // the chunks to submit, in bytes
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

// forgery is a slice that no sender of this connection made. It reaches the
// receiver once, at any time but when it would pin a genuine chunk anew: that
// ends in an error, as section 12 says.
type forgery struct{ chunk, id, numSlices int }

// fullSlices and a bit more: the size of a chunk of n slices.
func sizeOf(n int) int { return (n-1)*codec.SliceSize + 2 + n }

// scenarios are explored in every run of the tests.
var scenarios = []scenario{
	{name: "one slice", first: 65535, sizes: []int{sizeOf(1), sizeOf(1), sizeOf(1)},
		slices: 2, acks: 2, doubles: true, pokes: true, limit: 200_000},
	{name: "two slices", first: 65535, sizes: []int{sizeOf(2), sizeOf(2)},
		slices: 2, acks: 1, doubles: true, pokes: true, limit: 200_000},
	{name: "fewer and more slices", first: 65534, sizes: []int{sizeOf(2), sizeOf(1), sizeOf(3)},
		slices: 1, acks: 1, pokes: true, limit: 200_000},
	{name: "late acks", first: 65535, sizes: []int{sizeOf(1), sizeOf(2)},
		slices: 1, acks: 3, doubles: true, limit: 200_000},
	{name: "giving up", first: 65535, sizes: []int{sizeOf(2), sizeOf(1)},
		slices: 1, acks: 1, giveUps: true, pokes: true, limit: 200_000},
	{name: "forged slices", first: 65535, sizes: []int{sizeOf(1), sizeOf(2)},
		slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{0, 0, 2}, {1, 1, 3}}},
	{name: "strangers at the start", first: 0, sizes: []int{sizeOf(2)},
		slices: 1, acks: 1, pokes: true, limit: 200_000,
		forged: []forgery{{-1, 0, 1}, {-1, 1, 2}, {2, 0, 1}}},
	{name: "restarts", first: 65535, sizes: []int{sizeOf(2), sizeOf(1)},
		slices: 1, acks: 1, giveUps: true, restarts: true, limit: 200_000},
}

// largeScenario is what CI explores besides: a million states at least.
var largeScenario = scenario{name: "large", first: 65534, sizes: []int{sizeOf(1), sizeOf(2), sizeOf(3)},
	slices: 2, acks: 2, doubles: true, limit: 10_000_000}

// nightlyScenarios have 3 to 6 million states each.
var nightlyScenarios = []scenario{
	{name: "three chunks", first: 65534, sizes: []int{sizeOf(3), sizeOf(1), sizeOf(3)},
		slices: 2, acks: 2, doubles: true, limit: 40_000_000},
	{name: "more in flight", first: 65535, sizes: []int{sizeOf(2), sizeOf(3)},
		slices: 3, acks: 3, doubles: true, limit: 40_000_000},
	{name: "giving up, doubles", first: 65534, sizes: []int{sizeOf(2), sizeOf(1), sizeOf(3)},
		slices: 2, acks: 2, doubles: true, giveUps: true, limit: 40_000_000},
	{name: "forged slices, doubles", first: 65535, sizes: []int{sizeOf(1), sizeOf(3)},
		slices: 2, acks: 2, doubles: true, limit: 40_000_000, forged: []forgery{{0, 0, 2}, {1, 1, 2}}},
}
