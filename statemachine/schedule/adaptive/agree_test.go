package adaptive_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/chunks"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// both are a sender with the package's scheduler and one with the oracle, beside each other, and
// a path that carries so many slices a time, with a queue.
type both struct {
	*rapid.T
	sender    *chunks.CheckedSender
	now       core.Micros
	carry     core.Micros // what the path takes for a slice
	delay     core.Micros // there and back
	lossy     int         // so many of 100 are lost
	freeAt    core.Micros
	arriveAt  []core.Micros // of what is on its way, with ids
	arriveID  []int
	arrived   core.Set
	chunk     uint16
	numSlices int
}

func newBoth(t *rapid.T, p chunks.Recovery) *both {
	cfg := statemachine.SenderConfig{GiveUp: 60_000_000, Scheduler: check.Must(p.NewScheduler())}
	return &both{T: t, sender: check.Must(chunks.NewCheckedSender(cfg, p.Oracle(), t.Fatalf))}
}

func (b *both) submit(size int) {
	if b.sender.Submit(b.now, make([]byte, size)) == nil {
		b.arriveAt, b.arriveID, b.arrived = nil, nil, core.Set{}
		v := b.sender.Vars()
		b.chunk, b.numSlices = v.ChunkID, v.NumSlices
	}
}

// poll puts what goes out on its way.
func (b *both) poll() {
	for s, ok := b.sender.Poll(b.now); ok; s, ok = b.sender.Poll(b.now) {
		b.freeAt = max(b.freeAt, b.now) + b.carry
		if rapid.IntRange(0, 99).Draw(b.T, "fate") >= b.lossy {
			b.arriveAt, b.arriveID = append(b.arriveAt, b.freeAt+b.delay), append(b.arriveID, s.SliceID)
		}
	}
}

// pass lets time go by, to the next ack or deadline, or to when it is given.
func (b *both) pass(until core.Micros) {
	at := min(until, b.sender.Deadline())
	if len(b.arriveAt) > 0 {
		at = min(at, b.arriveAt[0])
	}
	b.now = max(b.now, at)
	for len(b.arriveAt) > 0 && b.arriveAt[0] <= b.now {
		b.arrived.Add(b.arriveID[0])
		b.arriveAt, b.arriveID = b.arriveAt[1:], b.arriveID[1:]
		if len(b.arriveAt) == 0 || b.arriveAt[0] > b.now || rapid.Bool().Draw(b.T, "each") {
			b.ack(b.arrived)
		}
	}
	b.poll()
}

func (b *both) ack(set core.Set) {
	if b.numSlices > 0 && b.sender.Vars().State == statemachine.SenderSending {
		b.sender.HandleAck(b.now, codec.Ack{ChunkID: b.chunk, NumSlices: b.numSlices, Acked: set})
	}
}

// wildAck acks some of what was sent, whatever has arrived.
func (b *both) wildAck() {
	v := b.sender.Vars()
	if v.State != statemachine.SenderSending {
		return
	}
	set := v.Acked
	for range rapid.IntRange(0, 9).Draw(b.T, "more") {
		if id := rapid.IntRange(0, v.NumSlices-1).Draw(b.T, "id"); v.Sent.Has(id) {
			set.Add(id)
		}
	}
	b.arrived = b.arrived.Union(set)
	b.ack(set)
}

var profiles = []chunks.Recovery{
	{Recovery: "adaptive"}, {Recovery: "adaptive"}, {Recovery: "adaptive"}, {Recovery: "redundant"}, {Recovery: "burst"},
	{Recovery: "fixed", Rate: 20_000_000}, {Recovery: "adaptive", Rate: 9_000_000}, {Recovery: "redundant", Rate: 9_000_000},
}

var sizes = []int{0, 1, 1000, 5000, 20_000, 20_000, 100_000, 100_000, 262_144}

// The package and the oracle send the same slices at the same times, on a path that may change,
// and with acks that no path gives.
func TestSendersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBoth(t, rapid.SampledFrom(profiles).Draw(t, "profile"))
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			switch rapid.SampledFrom([]string{"run", "run", "run", "run", "path", "submit", "submit", "step", "ack", "hold", "marks", "yield", "move"}).Draw(t, "event") {
			case "run":
				for range rapid.IntRange(1, 300).Draw(t, "times") {
					b.pass(b.now + 10_000_000)
				}
			case "path":
				b.carry = rapid.SampledFrom([]core.Micros{0, 90, 900, 9000, 60_000}).Draw(t, "carry")
				b.delay = rapid.SampledFrom([]core.Micros{1, 900, 20_000, 100_000, 600_000}).Draw(t, "delay")
				b.lossy = rapid.SampledFrom([]int{0, 0, 1, 5, 30, 90}).Draw(t, "lossy")
			case "submit":
				b.submit(rapid.SampledFrom(sizes).Draw(t, "size"))
				b.poll()
			case "step":
				b.now += rapid.SampledFrom([]core.Micros{1, 7, 100, 3_000, 25_000, 90_000, 600_000, 11_000_000}).Draw(t, "time")
				b.poll()
			case "ack":
				b.now++ // no ack takes no time
				b.wildAck()
			case "hold":
				b.now++
				b.ack(core.Set{})
			case "marks":
				n := rapid.IntRange(0, 3).Draw(t, "marks")
				b.sender.Host(func(s statemachine.Scheduler) { s.Marked(b.now, n) }, func(s chunkoracle.Scheduler) { s.(chunkoracle.Recovery).Path().OnMarks(int64(n)) })
			case "move":
				b.sender.Host(statemachine.Scheduler.Moved, chunkoracle.Scheduler.Moved)
			case "yield":
				yields := rapid.Bool().Draw(t, "yields")
				b.sender.Host(func(s statemachine.Scheduler) { s.Yield(yields) }, func(s chunkoracle.Scheduler) { s.(chunkoracle.Recovery).Path().Yield(yields) })
			}
		}
	})
}
