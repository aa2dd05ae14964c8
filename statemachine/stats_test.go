package statemachine

import (
	"github.com/chunkwire/chunkwire/codec"
	"reflect"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// fill sets every number in a struct, of structs too, to a number of its own.
func fill(v reflect.Value, next *int64) {
	for i := range v.NumField() {
		if f := v.Field(i); f.Kind() == reflect.Struct {
			fill(f, next)
		} else {
			*next++
			f.SetInt(*next)
		}
	}
}

func filled[S any](from int64) (s S) {
	fill(reflect.ValueOf(&s).Elem(), &from)
	return s
}

// Add leaves out no counter: each becomes the sum, but for those that are no sums.
func TestStatsAddEveryCounter(t *testing.T) {
	a, b := filled[SenderStats](100), filled[SenderStats](1000)
	want := filled[SenderStats](0)
	sum(reflect.ValueOf(&want).Elem(), reflect.ValueOf(a), reflect.ValueOf(b))
	want.LastChunkTime = b.LastChunkTime
	want.Schedule.SmoothedRTT, want.Schedule.MinRTT = b.Schedule.SmoothedRTT, a.Schedule.MinRTT
	a.Add(b)
	check.Equal(t, "sender", a, want)

	c, d := filled[ReceiverStats](100), filled[ReceiverStats](1000)
	wantR := filled[ReceiverStats](0)
	sum(reflect.ValueOf(&wantR).Elem(), reflect.ValueOf(c), reflect.ValueOf(d))
	wantR.LastChunkTime = d.LastChunkTime
	c.Add(d)
	check.Equal(t, "receiver", c, wantR)
}

func sum(to, a, b reflect.Value) {
	for i := range to.NumField() {
		if f := to.Field(i); f.Kind() == reflect.Struct {
			sum(f, a.Field(i), b.Field(i))
		} else {
			f.SetInt(a.Field(i).Int() + b.Field(i).Int())
		}
	}
}

// A minimum of 0 means that nothing was measured.
func TestTheSmallerMinimumCountsIfThereIsOne(t *testing.T) {
	for _, c := range []struct{ a, b, want core.Micros }{{0, 0, 0}, {5, 0, 5}, {0, 7, 7}, {5, 7, 5}, {7, 5, 5}} {
		s := ScheduleStats{MinRTT: c.a}
		s.Add(ScheduleStats{MinRTT: c.b})
		check.Equal(t, "minimum", s.MinRTT, c.want)
	}
}

// Vars are the variables of sections 7.2 and 8.2.
func TestVars(t *testing.T) {
	s := ackedSender(codec.Named)
	check.Equal(t, "sender", s.Vars(), SenderVars{
		State: SenderSending, Row: "S9", ChunkID: 7, NumSlices: 3, Sent: sentOf(s).sent, Acked: sentOf(s).acked, Transmissions: 3, Have: 1, HeardAt: 0,
	})
	check.Equal(t, "members", [2]int{sentOf(s).sent.Count(), sentOf(s).acked.Count()}, [2]int{3, 1})
	r := receivingReceiver(codec.Named)
	r.HandleSlice(r.now, firstSlice(codec.Named))
	check.Equal(t, "receiver", r.Vars(), ReceiverVars{
		State: ReceiverReceiving, Row: "R7", ChunkID: 8, NumSlices: 3, Received: receivedOf(r).received, Have: 1, ProgressAt: 2 * ms,
		PreviousSlices: 2, Due: PendingAcks{Current: true},
	})
	r = readyReceiver(codec.Named)
	r.HandleSlice(r.now, firstSlice(codec.Named))
	check.Equal(t, "receiver", r.Vars(), ReceiverVars{
		State: ReceiverReady, Row: "R13", ChunkID: 8, PreviousSlices: 2, Due: PendingAcks{Hold: true}, HeldSlices: 3, ReadSize: 2048,
	})
}

// Rest passes on to a scheduler that can, while no chunk is in flight.
func TestRest(t *testing.T) {
	sched := &resting{}
	s := newSender(codec.Named, 7, sched)
	s.Rest()
	check.Equal(t, "rests", sched.rests, 1)
	_ = s.Submit(0, []byte{1})
	s.Rest()
	check.Equal(t, "rests while a chunk is in flight", sched.rests, 1)
	newSender(codec.Named, 7, &inTurn{}).Rest() // this one cannot
}

type resting struct {
	inTurn
	rests int
}

func (r *resting) Rest() { r.rests++ }
