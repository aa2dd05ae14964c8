package statemachine

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
)

// roundsAreBounded: at one time no more goes out than a chunk's slices, and than
// the three acks that can be due (BND-2, BND-3, ACQ-2).
func roundsAreBounded() property {
	return func(w *world, m moment) {
		w.Helper()
		if m.kind == sliceOut && m.nth >= codec.MaxSlices || m.kind == ackOut && m.nth >= 3 {
			w.Fatalf("bounded work per event (BND-3): packet %d at the same time", m.nth+1)
		}
	}
}

// What goes out at one time is bounded (BND-2, BND-3).
func TestRoundsAreBounded(t *testing.T) { holdsInEveryWorld(t, roundsAreBounded) }

// countingScheduler counts how often it is asked or told.
type countingScheduler struct {
	Scheduler
	calls int
}

func (c *countingScheduler) Begin(f Flight) { c.calls++; c.Scheduler.Begin(f) }
func (c *countingScheduler) Acked(now Micros, news codec.Bitset) {
	c.calls++
	c.Scheduler.Acked(now, news)
}
func (c *countingScheduler) Held(now Micros) { c.calls++; c.Scheduler.Held(now) }
func (c *countingScheduler) Next(now Micros) (sliceID int, ok bool) {
	c.calls++
	return c.Scheduler.Next(now)
}

// kept is how many bytes can be reached from a value: what an event can at most
// go over. It looks into everything, unexported fields too, and counts what is
// reached twice once.
func kept(v any) int {
	seen := map[uintptr]bool{}
	var beyond func(v reflect.Value) int
	beyond = func(v reflect.Value) (n int) {
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() || v.Kind() == reflect.Pointer && seen[v.Pointer()] {
				return 0
			}
			if v.Kind() == reflect.Pointer {
				seen[v.Pointer()] = true
			}
			return int(v.Elem().Type().Size()) + beyond(v.Elem())
		case reflect.Struct:
			for i := range v.NumField() {
				n += beyond(v.Field(i))
			}
		case reflect.Slice:
			n = v.Cap() * int(v.Type().Elem().Size())
			if v.Type().Elem().Kind() != reflect.Uint8 {
				for i := range v.Len() {
					n += beyond(v.Index(i))
				}
			}
		case reflect.Map, reflect.Chan:
			n = v.Len() * (int(v.Type().Elem().Size()) + 16)
		case reflect.String:
			n = v.Len()
		}
		return n
	}
	return beyond(reflect.ValueOf(v))
}

// Bounded work per event (BND-3). How often a loop goes round cannot be seen from
// outside, but all that it could go over can: what the machine keeps, the event
// itself, and what others do for it. So, for any history of events, of each:
//
//   - what the machine keeps is bounded: by a chunk's slices, not by the events so far;
//   - its scheduler is called once at most, and answers one slice at most;
//   - at most one observation a slice and kind comes of it;
//   - it allocates nothing, once the machine has its memory.
func TestBoundedWorkPerEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		observed := 0
		sched := &countingScheduler{Scheduler: NewBase(drawProfile(t))}
		s := NewSender(SenderConfig{Scheduler: sched, Observe: func(Observation) { observed++ }})
		r := NewReceiver(ReceiverConfig{})
		largest := chunkOf(codec.MaxChunkSize, 1)
		give(r, slicesOf(0, largest)...)
		buffer, _ := r.Read(0, nil)
		_ = s.Submit(0, largest)
		now := Micros(0)
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			now += Micros(rapid.SampledFrom([]int64{0, 1, 3000, 300_000}).Draw(t, "later"))
			event := drawEvent(t, s, r, now, buffer[:0])
			finish := rapid.IntRange(0, 3).Draw(t, "the chunk is finished before") == 0
			var calls, told int
			allocated := testing.AllocsPerRun(1, func() { // twice, and the second time counts
				if finish {
					finishChunk(s, now)
				}
				callsBefore, toldBefore := sched.calls, observed
				event()
				calls, told = max(calls, sched.calls-callsBefore), max(told, observed-toldBefore)
			})
			switch {
			case calls > 1:
				t.Fatalf("bounded work per event (BND-3): the scheduler is called %d times", calls)
			case told > 2*codec.MaxSlices+1:
				t.Fatalf("bounded work per event (BND-3): %d observations", told)
			case allocated > 0:
				t.Fatalf("bounded work per event (BND-3): %v allocations", allocated)
			}
		}
		// The chunk itself, a note on each slice, and a few hundred bytes.
		if n := kept(s) - len(largest); n > 256*64+2048 {
			t.Fatalf("bounded work per event (BND-3): the sender keeps %d bytes beside the chunk", n)
		}
		if n := kept(r); n > codec.MaxChunkSize+2048+1024 {
			t.Fatalf("bounded work per event (BND-1, BND-3): the receiver keeps %d bytes", n)
		}
	})
}

// finishChunk lets all slices go out that may, and acks them.
func finishChunk(s *Sender, now Micros) {
	for range endless {
		if _, ok := s.Poll(now); !ok {
			break
		}
	}
	s.HandleAck(now, fullAck(s.ChunkID(), s.NumSlices()))
}

// drawEvent draws any event of either machine.
func drawEvent(t *rapid.T, s *Sender, r *Receiver, now Micros, buffer []byte) func() {
	switch rapid.IntRange(0, 4).Draw(t, "event") {
	case 0:
		return func() { s.Poll(now); r.Poll(now) }
	case 1:
		a := codec.Ack{ChunkID: s.ChunkID(), NumSlices: s.NumSlices()}
		a.Acked = codec.FirstN(rapid.SampledFrom([]int{0, 100, a.NumSlices}).Draw(t, "acked"))
		return func() { s.HandleAck(now, a) }
	case 2:
		chunk := chunkOf(codec.MaxChunkSize, 1)
		return func() { _ = s.Submit(now, chunk) }
	case 3:
		return func() { _, _ = r.Read(now, buffer) }
	}
	n := rapid.SampledFrom([]int{1, 2, 256}).Draw(t, "slices")
	chunkID := r.ChunkID() + uint16(rapid.IntRange(-1, 1).Draw(t, "chunk"))
	list := slicesOf(chunkID, chunkOf(n*1024, 1))
	some := list[:rapid.IntRange(1, n).Draw(t, "some")]
	return func() { give(r, some...) }
}
