package lanes_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Lanes are busy as long as a chunk is in flight or in line; when the last one is done, and not
// before, they release what only chunks in flight need.
func TestWhenLanesRest(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		counts := new(asked)
		l := check.Must(lanes.New(v.of(2, counts.allAtOnce)))
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
			check.Equal(t, "rests", counts.rests, 0)
			now := core.Micros(i) * second
			for _, _, ok := l.PollSlice(now); ok; _, _, ok = l.PollSlice(now) {
			}
			check.That(t, l.HandleAck(now, ack.lane, v.ack(ack.id, 1, 1)), "the ack is ours")
			n, ok := l.Finished()
			check.That(t, ok && n == int64(i), "it is done")
		}
		check.That(t, !l.Sending(), "none is left")
		check.Equal(t, "rests of two lanes", counts.rests, 2)
	})
}

// A slice costs its time at the rate, from when there is something to send.
func TestSpend(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const rate = statemachine.MinRate // one full slice a second
		l := check.Must(lanes.New(v.of(1, func(cfg *lanes.Config) { cfg.MaxRate = rate })))
		check.Must(l.Submit(5*second, make([]byte, 4*codec.SliceSize)))
		for i := range core.Micros(4) {
			at := 5*second + i*second
			check.Same(t, "deadline", max(l.SliceDeadline(), at), at)
			_, s, ok := l.PollSlice(at)
			check.That(t, ok && s.SliceID == int(i), "a slice goes")
			l.Spend(at, codec.MaxDatagramSize+codec.HeaderBytes)
			_, _, ok = l.PollSlice(at + second - 1)
			check.That(t, !ok, "the next one waits")
		}
	})
}

// Machines give up at their time, and not a microsecond before.
func TestExpireIsExact(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		sending, receiving := check.Must(lanes.New(v.of(1))), check.Must(lanes.New(v.of(2)))
		check.Must(sending.Submit(second, make([]byte, 5000)))
		receiving.HandleSlice(second, 1, v.slice(0, 0, 2))
		check.That(t, receiving.Receiving() && !sending.Receiving(), "a chunk arrives")
		for _, l := range []*lanes.Lanes{sending, receiving} {
			l.Expire(11*second - 1)
			check.Same(t, "error", l.Err(), nil)
			l.Expire(11 * second)
			check.That(t, errors.Is(l.Err(), statemachine.ErrGaveUp), "it gave up")
			check.Same(t, "deadline of slices", l.SliceDeadline(), core.Never)
		}
		check.Equal(t, "error", receiving.Err().Error(), "lanes: lane 1: receiving chunk 0: "+statemachine.ErrGaveUp.Error())
	})
}

// A path that is forgotten is one of which nothing is known but a pace: it is that of a new
// scheduler which has sent a slice.
func TestThePaceOfAForgottenPath(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(1, fixedAt(1_000_000))))
		check.Must(l.Submit(0, make([]byte, 5000)))
		_, _, ok := l.PollSlice(0)
		check.That(t, ok, "a slice goes")
		l.ForgetPath(second)
		_, _, ok = l.PollSlice(second)
		check.That(t, !ok, "the pace goes on from now")
		check.That(t, l.SliceDeadline() > second && l.SliceDeadline() < second+10*ms, "at the pace of the rate")
	})
}

// What was done by all lanes is summed up.
func TestStatsOfAllLanes(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(2)))
		for k := range 2 {
			l.HandleSlice(0, k, v.slice(0, 0, 1))
		}
		st := l.Stats()
		check.Equal(t, "slices stored", st.Receiver.SlicesStored, 2)
		check.Equal(t, "complete", st.Complete, 2)
	})
}

// slicesAt polls all slices of a time, and returns by which lanes they go.
func slicesAt(l *lanes.Lanes, now core.Micros) (order []int) {
	for k, _, ok := l.PollSlice(now); ok; k, _, ok = l.PollSlice(now) {
		order = append(order, k)
	}
	return order
}

// What is just allowed is: the most lanes, the shortest and the longest queue, the largest chunk.
func TestLimits(t *testing.T) {
	for _, cfg := range []lanes.Config{{Lanes: lanes.Most}, {SendQueue: 1}, {SendQueue: 1 << 16}} {
		check.Must(lanes.New(cfg))
	}
	l := check.Must(lanes.New(lanes.Config{}))
	for i := range 9 { // one goes, eight wait
		check.Same(t, "number", check.Must(l.Submit(0, make([]byte, codec.MaxChunkSize))), int64(i))
	}
	_, err := l.Submit(0, []byte("x"))
	check.Same(t, "refusal", err, lanes.ErrBusy)
}

// A chunk begins as long as fewer slices are under way than fit into the path (LAN-10). An ack
// begins the next one at once.
func TestTheNextChunkBeginsWhenThePathHasRoom(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		counts := &asked{fit: 2}
		l := check.Must(lanes.New(v.of(4, counts.allAtOnce)))
		for range 4 {
			check.Must(l.Submit(0, []byte("x")))
		}
		check.Equal(t, "the lanes that send", slicesAt(l, 0), []int{0, 1})
		check.Equal(t, "chunks in line", l.Stats().Queued, 2)
		l.HandleAck(ms, 0, v.ack(0, 1, 1))
		check.Equal(t, "chunks in line", l.Stats().Queued, 1)
		check.That(t, l.SliceDeadline() <= ms, "the third one begins")
		check.Equal(t, "the lanes that send", slicesAt(l, ms), []int{2})
	})
}

// Each lane that begins takes over what the latest one knows of the path (LAN-9); one alone has
// nobody to learn from.
func TestWhoLearnsFromWhom(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		for n, want := range map[int]int{1: 0, 2: 2} {
			counts := &asked{fit: 64}
			l := check.Must(lanes.New(v.of(n, counts.allAtOnce)))
			for range n {
				check.Must(l.Submit(0, []byte("x")))
				slicesAt(l, 0)
			}
			check.Equal(t, "lanes that learned", counts.adopted, want)
		}
	})
}

// The rate binds whatever the scheduler, and gives nothing for time without anything to send: a
// driver that is late makes up for 20 ms only while there is (LAN-12).
func TestARestGivesNothing(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const rate, aSlice = 1_086_000, 8 * ms
		l := check.Must(lanes.New(v.of(1, allAtOnce, func(cfg *lanes.Config) { cfg.MaxRate = rate })))
		send := func(at core.Micros) (sent int) {
			for _, _, ok := l.PollSlice(at); ok; _, _, ok = l.PollSlice(at) {
				l.Spend(at, rate/1000)
				sent++
			}
			return sent
		}
		for _, at := range []core.Micros{5 * second, 9 * second} {
			check.Must(l.Submit(at, make([]byte, 5*codec.SliceSize)))
			check.Same(t, "slices at the begin", send(at), 1)
			check.Same(t, "deadline", l.SliceDeadline(), at+aSlice)
			check.Same(t, "slices of a late driver", send(at+second), 3)
			check.Must(l.Submit(at+second+20*ms, make([]byte, codec.SliceSize)))
			check.Same(t, "the last one", send(at+second+20*ms), 1)
			l.HandleAck(at+second+20*ms, 0, v.ack(uint16(l.Stats().Sender.Chunks), 5, 5))
			send(at + 2*second)
			l.HandleAck(at+2*second, 0, v.ack(uint16(l.Stats().Sender.Chunks), 1, 1))
			check.That(t, !l.Sending(), "all is there")
		}
	})
}

// The schedulers that lanes make themselves keep to the rate, too.
func TestSchedulersKnowTheRate(t *testing.T) {
	l := check.Must(lanes.New(lanes.Config{MaxRate: statemachine.MinRate}))
	check.Must(l.Submit(0, make([]byte, 4*codec.SliceSize)))
	for now := core.Micros(0); now < second; now += ms {
		check.Equal(t, "a slice a second", len(slicesAt(l, now)) == 1, now == 0)
	}
}

// A sender that is held gives up at its time, whichever lane it is on.
func TestALaterLaneGivesUpFirst(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(2, allAtOnce)))
		for range 2 {
			check.Must(l.Submit(0, make([]byte, 2*codec.SliceSize)))
			slicesAt(l, 0)
		}
		l.HandleAck(5*second, 0, v.ack(0, 2, 1))
		l.Hold(core.Never)
		check.Equal(t, "slices while they are held", slicesAt(l, 10*second-1), []int(nil))
		check.Same(t, "error", l.Err(), nil)
		check.Same(t, "deadline", l.SliceDeadline(), 10*second)
		check.Equal(t, "slices", slicesAt(l, 10*second), []int(nil))
		check.Equal(t, "error", l.Err().Error(), "lanes: lane 1: sending chunk 0: "+statemachine.ErrGaveUp.Error())
	})
}

// A receiver gives up when it is asked for acks, too.
func TestAReceiverGivesUpWhenItIsPolled(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(1)))
		check.That(t, l.HandleSlice(second, 0, v.slice(0, 0, 2)), "a slice comes")
		for _, _, ok := l.PollAck(11 * second); ok; _, _, ok = l.PollAck(11 * second) {
		}
		check.That(t, errors.Is(l.Err(), statemachine.ErrGaveUp), "it gave up")
	})
}

// To let machines give up takes no ack away that is to be sent.
func TestExpireLeavesTheAcks(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(1)))
		l.HandleSlice(20*second, 0, v.slice(0, 0, 2))
		l.Expire(21 * second)
		_, a, ok := l.PollAck(21 * second)
		check.That(t, ok && a.NumSlices == 2, "the ack is due")
	})
}

// A slice beyond the limit is not of this connection.
func TestASliceBeyondTheLimitIsNotOurs(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(2, func(cfg *lanes.Config) { cfg.ReceiveLimit = 1 })))
		slice := v.slice(0, 0, 1)
		check.That(t, l.HandleSlice(0, 0, slice), "the first chunk is taken")
		check.That(t, !l.HandleSlice(0, 1, slice), "the second is not")
	})
}

// An ack that nobody waits for lets nothing rest.
func TestAStrayAckChangesNothing(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		counts := new(asked)
		l := check.Must(lanes.New(v.of(2, counts.allAtOnce)))
		check.That(t, !l.HandleAck(0, 1, v.ack(0, 1, 1)), "it is not ours")
		check.Equal(t, "rests", counts.rests, 0)
	})
}

// Lanes whose schedulers can be made no more go on with those that they have.
func TestAPathThatCannotBeForgotten(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		made := 0
		l := check.Must(lanes.New(v.of(1, makers(func() error {
			if made++; made > 1 {
				return errors.New("no more")
			}
			return nil
		}))))
		l.ForgetPath(0)
		check.Must(l.Submit(0, []byte("x")))
		check.Equal(t, "slices", slicesAt(l, 0), []int{0})
	})
}

// The slice that lets the next chunk begin begins it: a driver that sends one slice at a time knows
// at once that there is more.
func TestASliceBeginsTheNextChunk(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(2, allAtOnce)))
		for range 2 {
			check.Must(l.Submit(second, []byte("x")))
		}
		for k := range 2 {
			check.That(t, l.SliceDeadline() <= second, "a slice is due")
			lane, _, ok := l.PollSlice(second)
			check.That(t, ok && lane == k, "it goes")
		}
		check.That(t, l.SliceDeadline() > second, "no more")
	})
}

// The time of a chunk is that of the chunk that was read last, whatever lane it came by.
func TestReadTimeIsOfTheLatestChunk(t *testing.T) {
	l := check.Must(lanes.New(lanes.Config{Lanes: 3}))
	for lane, took := range []core.Micros{10 * ms, 30 * ms, 20 * ms} {
		l.HandleSlice(0, lane, codec.Slice{SliceID: 0, NumSlices: 2, Data: make([]byte, codec.SliceSize)})
		l.HandleSlice(took, lane, codec.Slice{SliceID: 1, NumSlices: 2, Data: make([]byte, 1)})
	}
	for _, want := range []core.Micros{10 * ms, 30 * ms, 20 * ms} {
		_, ok := l.Read(40*ms, nil)
		check.That(t, ok, "it is complete")
		check.Same(t, "it took", l.ReadTime(), want)
	}
}
