package lanes_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/bitset"
	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/lanes"
	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/schedule/adaptive"
	"github.com/chunkwire/chunkwire/schedule/base"
	"github.com/chunkwire/chunkwire/statemachine"
)

// restful counts how often a scheduler released what only a chunk in flight needs.
type restful struct {
	*base.Scheduler
	rests *int
}

func (r restful) Rest() { *r.rests++ }

// Lanes are busy as long as a chunk is in flight or in line; when the last one is done, and not
// before, they release what only chunks in flight need.
func TestWhenLanesRest(t *testing.T) {
	rests := 0
	l := check.Must(lanes.New(of(2, func(cfg *lanes.Config) {
		cfg.NewScheduler = func() (statemachine.Scheduler, error) {
			return restful{check.Must(base.New(base.Burst())), &rests}, nil
		}
	})))
	check.That(t, !l.Sending(), "nothing is sent")
	for range 3 {
		check.Must(l.Submit(0, []byte("x")))
		for _, _, ok := l.PollSlice(0); ok; _, _, ok = l.PollSlice(0) {
		}
		check.That(t, l.Sending(), "a chunk is sent")
	}
	check.Equal(t, "queued", l.Stats().Queued, 1)
	for i, ack := range []struct {
		lane int
		id   uint16
	}{{0, 0}, {1, 0}, {0, 1}} {
		check.That(t, l.Sending(), "a chunk is left")
		check.Equal(t, "rests", rests, 0)
		now := machine.Micros(i) * second
		for _, _, ok := l.PollSlice(now); ok; _, _, ok = l.PollSlice(now) {
		}
		check.That(t, l.HandleAck(now, ack.lane, codec.Ack{ChunkID: ack.id, NumSlices: 1, Acked: bitset.FirstN(1)}), "the ack is ours")
		n, ok := l.Finished()
		check.That(t, ok && n == int64(i), "it is done")
	}
	check.That(t, !l.Sending(), "none is left")
	check.Equal(t, "rests of two lanes", rests, 2)
}

// A slice costs its time at the rate, from when there is something to send.
func TestSpend(t *testing.T) {
	const rate = statemachine.MinRate // one full slice a second
	l := check.Must(lanes.New(of(1, func(cfg *lanes.Config) { cfg.MaxRate = rate })))
	check.Must(l.Submit(5*second, make([]byte, 4*codec.SliceSize)))
	for i := range machine.Micros(4) {
		at := 5*second + i*second
		check.Same(t, "deadline", max(l.SliceDeadline(), at), at)
		_, s, ok := l.PollSlice(at)
		check.That(t, ok && s.SliceID == int(i), "a slice goes")
		l.Spend(at, codec.MaxDatagramSize+codec.HeaderBytes)
		_, _, ok = l.PollSlice(at + second - 1)
		check.That(t, !ok, "the next one waits")
	}
}

// Machines give up at their time, and not a microsecond before.
func TestExpireIsExact(t *testing.T) {
	sending, receiving := check.Must(lanes.New(of(1))), check.Must(lanes.New(of(2)))
	check.Must(sending.Submit(second, make([]byte, 5000)))
	receiving.HandleSlice(second, 1, codec.Slice{NumSlices: 2, Data: make([]byte, codec.SliceSize)})
	check.That(t, receiving.Receiving() && !sending.Receiving(), "a chunk arrives")
	for _, l := range []*lanes.Lanes{sending, receiving} {
		l.Expire(11*second - 1)
		check.Same(t, "error", l.Err(), nil)
		l.Expire(11 * second)
		check.That(t, errors.Is(l.Err(), statemachine.ErrGaveUp), "it gave up")
		check.Same(t, "deadline of slices", l.SliceDeadline(), machine.Never)
	}
	check.Equal(t, "error", receiving.Err().Error(), "lanes: lane 1: receiving chunk 0: "+statemachine.ErrGaveUp.Error())
}

// A path that is forgotten is one of which nothing is known but a pace: it is that of a new
// scheduler which has sent a slice.
func TestThePaceOfAForgottenPath(t *testing.T) {
	l := check.Must(lanes.New(of(1, func(cfg *lanes.Config) {
		cfg.NewScheduler = func() (statemachine.Scheduler, error) { return adaptive.New(adaptive.Fixed(1_000_000)) }
	})))
	check.Must(l.Submit(0, make([]byte, 5000)))
	_, _, ok := l.PollSlice(0)
	check.That(t, ok, "a slice goes")
	l.ForgetPath(second)
	_, _, ok = l.PollSlice(second)
	check.That(t, !ok, "the pace goes on from now")
	check.That(t, l.SliceDeadline() > second && l.SliceDeadline() < second+10*ms, "at the pace of the rate")
}

// What was done by all lanes is summed up.
func TestStatsOfAllLanes(t *testing.T) {
	l := check.Must(lanes.New(of(2)))
	for k := range 2 {
		l.HandleSlice(0, k, codec.Slice{NumSlices: 1, Data: []byte("x")})
	}
	st := l.Stats()
	check.Equal(t, "slices stored", st.Receiver.SlicesStored, 2)
	check.Equal(t, "complete", st.Complete, 2)
}
