package lanes_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/netsim"
	"github.com/chunkwire/chunkwire/statemachine"
)

const (
	ms      = core.Millisecond
	second  = core.Second
	million = 1_000_000
)

// variant is one of the two.
type variant struct {
	name   string
	repair bool
}

var variants = []variant{{"named", false}, {"repair", true}}

// each runs a test for both variants.
func each(t *testing.T, test func(t *testing.T, v variant)) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) { test(t, v) })
	}
}

// of returns the configuration of n lanes, with changes.
func (v variant) of(n int, changes ...func(*lanes.Config)) lanes.Config {
	cfg := lanes.Config{Lanes: n, SendQueue: 64, Repair: v.repair}
	for _, change := range changes {
		change(&cfg)
	}
	return cfg
}

// slice returns a full slice of a chunk, or the only one of a chunk of one.
func (v variant) slice(chunk uint16, id, n int) codec.Slice {
	data := make([]byte, codec.SliceSize)
	if v.repair {
		return codec.Slice{ChunkID: chunk, SliceID: id, NumSlices: n, LastBytes: codec.SliceSize, Data: data}
	}
	return codec.Slice{ChunkID: chunk, SliceID: id, NumSlices: n, Data: data}
}

// ack returns an ack of the first slices of a chunk of n.
func (v variant) ack(chunk uint16, n, have int) codec.Ack {
	if v.repair {
		return codec.Ack{ChunkID: chunk, NumSlices: n, Have: have, Top: have}
	}
	return codec.Ack{ChunkID: chunk, NumSlices: n, Acked: core.FirstN(have)}
}

// packet is one on its way, and its lane.
type packet struct {
	variant
	typ   codec.Type
	slice codec.Slice
	ack   codec.Ack
	lane  int
}

func (p packet) size() int {
	if p.typ == codec.TypeSlice {
		return p.slice.DatagramSize()
	}
	return codec.KindOf(p.repair).AckSize(p.ack.NumSlices)
}

// id returns that of a slice; 0 of an ack.
func (p packet) id() int { return p.slice.SliceID }

// end is the lanes of one end in a world.
type end struct {
	*lanes.Lanes
	variant variant
	sent    []packet
	drop    func(packet) bool // what is lost at once, or nil
}

func (e *end) Handle(now core.Micros, p packet) {
	if p.typ == codec.TypeSlice {
		e.HandleSlice(now, p.lane, p.slice)
	} else {
		e.HandleAck(now, p.lane, p.ack)
	}
}

func (e *end) Poll(now core.Micros) (p packet, ok bool) {
	for {
		if p, ok = e.next(now); !ok || e.drop == nil || !e.drop(p) {
			return p, ok
		}
	}
}

func (e *end) next(now core.Micros) (p packet, ok bool) {
	k, a, ok := e.PollAck(now)
	p = packet{variant: e.variant, typ: codec.TypeAck, ack: a, lane: k}
	if !ok {
		var s codec.Slice
		k, s, ok = e.PollSlice(now)
		p = packet{variant: e.variant, typ: codec.TypeSlice, slice: s, lane: k}
		if ok {
			e.Spend(now, p.size()+codec.HeaderBytes)
		}
	}
	if ok {
		e.sent = append(e.sent, p)
	}
	return p, ok
}

// world is two ends, a and b.
type world struct {
	*sim.World[packet]
	a, b *end
}

func newWorld(path netsim.Path, a, b lanes.Config) *world { return newWorldOf(1, path, a, b) }

// newWorldOf returns one with a chance of its own.
func newWorldOf(seed uint64, path netsim.Path, a, b lanes.Config) *world {
	newEnd := func(cfg lanes.Config) *end {
		return &end{Lanes: check.Must(lanes.New(cfg)), variant: variant{repair: cfg.Repair}}
	}
	w := &world{a: newEnd(a), b: newEnd(b)}
	down, up := check.Must(netsim.NewLink(path, 2*seed-1)), check.Must(netsim.NewLink(path, 2*seed))
	w.World = sim.NewWorld(sim.Links(down, up, packet.size), sim.End[packet](w.a), w.b)
	return w
}

func content(size int, seed uint64) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)}).Read(b)
	return b
}

// submit puts chunks of a size in line, and returns their numbers.
func (w *world) submit(t testing.TB, from *end, chunks, size int) (numbers []int64) {
	t.Helper()
	for i := range chunks {
		numbers = append(numbers, check.Must(from.Submit(w.Now(), content(size, uint64(i)))))
	}
	return numbers
}

// stream sends chunks from a and reads them at b, in order.
func (w *world) stream(t testing.TB, chunks int, limit core.Micros, size func(i int) int) {
	t.Helper()
	sent, got, done := 0, 0, 0
	var all [][]byte
	ok := w.Run(limit, func() bool {
		for sent < chunks {
			chunk := content(size(sent), uint64(sent))
			n, err := w.a.Submit(w.Now(), chunk)
			if err != nil {
				check.Same(t, "refusal", err, lanes.ErrBusy)
				break
			}
			check.Equal(t, "number", n, int64(sent))
			all = append(all, chunk)
			sent++
		}
		for chunk, ok := w.b.Read(w.Now(), nil); ok; chunk, ok = w.b.Read(w.Now(), nil) {
			check.Bytes(t, fmt.Sprintf("chunk %d", got), chunk, all[got])
			got++
		}
		for _, ok := w.a.Finished(); ok; _, ok = w.a.Finished() {
			done++
		}
		return done == chunks && got == chunks
	})
	if !ok {
		t.Fatalf("at %d us: %d of %d chunks", w.Now(), got, chunks)
	}
}

// Chunks of all sizes come in order, by any number of lanes, over paths with all faults.
func TestChunksComeInOrder(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		for _, n := range []int{1, 2, 5, 16} {
			w := newWorld(netsim.Path{Delay: 20 * time.Millisecond, Loss: 10, Duplicate: 5, Reorder: 20, Rate: 20 * million, Queue: 1 << 18}, v.of(n), v.of(n))
			w.stream(t, 40, 60*second, func(i int) int { return 1 + i*i*163 })
			st := w.a.Stats()
			check.Equal(t, "chunks sent", st.Sender.Chunks, 40)
			check.Equal(t, "chunks received", w.b.Stats().Receiver.Chunks, 40)
			check.That(t, !w.a.Sending() && !w.b.Receiving(), "both are idle")
			w.Wait(20 * second)
			check.Equal(t, "deadline", w.a.Deadline(), core.Never)
			check.Equal(t, "deadline", w.b.Deadline(), core.Never)
		}
	})
}

// When slices of two lanes are due, those of the earlier chunk go first, also when the earlier
// one is on the later lane (LAN-8).
func TestTheEarlierChunkGoesFirst(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		l := check.Must(lanes.New(v.of(2, allAtOnce, func(cfg *lanes.Config) { cfg.GiveUp = 100 * second })))
		at := core.Micros(0)
		send := func() (order []int) { // by which lanes slices go when all timers have run out
			for at += 5 * second; ; {
				k, _, ok := l.PollSlice(at)
				if !ok {
					return order
				}
				order = append(order, k)
			}
		}
		submit := func() { check.Must(l.Submit(at, make([]byte, 10))) }
		submit()
		send()
		submit()
		send()
		check.Equal(t, "lanes", send(), []int{0, 1})
		l.HandleAck(at, 0, v.ack(0, 1, 1))
		n, ok := l.Finished()
		check.That(t, ok && n == 0, "the first chunk is done")
		submit()
		send()
		check.Equal(t, "lanes", send(), []int{1, 0})
	})
}

// A chunk begins only when each slice of the one before was sent (LAN-7).
func TestLanesTakeTurnsAtTheLink(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const n = 8
		w := newWorld(netsim.Path{Delay: 25 * time.Millisecond, Rate: 100 * million, Queue: 1 << 20, Loss: 2}, v.of(n), v.of(n))
		w.stream(t, 24, 60*second, func(int) int { return codec.MaxChunkSize })
		sent := map[int]map[int]bool{} // slices of each chunk
		for _, p := range w.a.sent {
			i := int(p.slice.ChunkID)*n + p.lane
			if sent[i] == nil {
				sent[i] = map[int]bool{}
				if i > 0 && len(sent[i-1]) < codec.MaxSlices {
					t.Fatalf("chunk %d begins when %d slices of the one before were sent", i, len(sent[i-1]))
				}
			}
			sent[i][p.id()] = true
		}
	})
}

// What lanes are for: a stream over a path that holds more than a chunk. One lane cannot fill it;
// eight do, without flooding it (LAN-9, LAN-10).
func TestAStreamFillsTheLink(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const chunks, rate = 64, 100 * million
		ideal := core.Micros(8 * chunks * codec.MaxChunkSize * int64(second) / rate)
		var took [9]core.Micros
		for _, n := range []int{1, 8} {
			w := newWorld(netsim.Path{Delay: 25 * time.Millisecond, Rate: rate, Queue: 1 << 20}, v.of(n), v.of(n))
			w.stream(t, chunks, 60*second, func(int) int { return codec.MaxChunkSize })
			took[n] = w.Now()
			st := w.a.Stats().Sender
			t.Logf("%d lanes: %d us, %d of %d slices resent or repair", n, took[n], st.SlicesResent+st.SlicesRepair, st.SlicesSent)
			check.That(t, (st.SlicesResent+st.SlicesRepair)*10 <= st.SlicesSent, "little is sent again on a path without loss")
		}
		if took[1] < 3*ideal || took[8] > ideal*10/8 {
			t.Errorf("one lane took %d us, eight %d us; at the link's rate it is %d us", took[1], took[8], ideal)
		}
	})
}

// A chunk does not begin while as many slices are under way as the path holds, or may hold, as
// long as nothing is known of it (LAN-10).
func TestNoChunkBeginsOnAFullPath(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 100 * time.Millisecond}, v.of(4), v.of(4))
		w.submit(t, w.a, 4, 10*codec.SliceSize)
		w.Wait(50 * ms)
		sent := map[int]int{} // slices by lane
		for _, p := range w.a.sent {
			sent[p.lane]++
		}
		check.That(t, len(sent) == 2 && sent[0] >= 10 && sent[0]+sent[1] == 16, fmt.Sprint("two chunks begin before an ack: ", sent))
		check.That(t, w.Run(5*second, func() bool { return w.a.Stats().Sender.Chunks == 4 || w.b.ReadSize() > 0 }), "then they go")
	})
}

// Lanes leave a thin path no pause in which its queue empties. Unless they empty it themselves,
// together, they take it for the path's length, and it overflows (LAN-10).
func TestLanesOnAThinPathKeepTheQueueShort(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		path := netsim.Path{Delay: 50 * time.Millisecond, Rate: million, Queue: 64 << 10, Overhead: codec.HeaderBytes}
		w := newWorld(path, v.of(8), v.of(8))
		w.stream(t, 16, 60*second, func(int) int { return codec.MaxChunkSize })
		st := w.a.Stats().Sender
		t.Logf("%d of %d slices resent or repair, smallest round trip %d us", st.SlicesResent+st.SlicesRepair, st.SlicesSent, st.Schedule.MinRTT)
		check.That(t, (st.SlicesResent+st.SlicesRepair)*20 <= st.SlicesSent && st.Schedule.MinRTT <= 125*ms, "the queue stays short")
	})
}

// A lane that begins goes on at the pace of the one before (LAN-9).
func TestALaneTakesOverThePace(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const rate, slices = million, 10
		between := core.Micros((codec.MaxDatagramSize + codec.HeaderBytes) * 8 * int64(second) / rate)
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond}, v.of(3, fixedAt(rate)), v.of(3))
		last, sent := core.Micros(-1), 0
		w.a.drop = func(p packet) bool {
			if sent++; last >= 0 && w.Now()-last < between-1 {
				t.Errorf("slice %d goes %d us after the one before", sent, w.Now()-last)
			}
			last = w.Now()
			return false
		}
		w.stream(t, 6, 60*second, func(int) int { return slices * codec.SliceSize })
		check.Equal(t, "slices", sent, 6*slices)
	})
}

// A lane that is late holds up the others only when each of them has a whole chunk that waits
// (LAN-5): however much is sent, that bounds what is held.
func TestOneSlowLane(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond}, v.of(4), v.of(4))
		w.a.drop = func(p packet) bool { return p.lane == 1 }
		w.submit(t, w.a, 8, 10_000)
		w.Wait(second)
		check.That(t, bytes.Equal(first(w.b.Read(w.Now(), nil)), content(10_000, 0)), "the first chunk can be read")
		w.Wait(4 * second)
		_, ok := w.b.Read(w.Now(), nil)
		check.That(t, !ok && w.b.ReadSize() == 0, "the second one cannot")
		check.Equal(t, "complete", w.b.Stats().Complete, 3)
		done := 0
		for _, ok := w.a.Finished(); ok; _, ok = w.a.Finished() {
			done++
		}
		check.Equal(t, "done", done, 4) // 0, 2, 3, and 4 by lane 0
		w.a.drop = nil
		for i := 1; i < 8; i++ {
			check.That(t, w.Run(w.Now()+5*second, func() bool { return w.b.ReadSize() > 0 }), "the next comes")
			check.Bytes(t, "chunk", first(w.b.Read(w.Now(), nil)), content(10_000, uint64(i)))
		}
	})
}

func first(b []byte, _ bool) []byte { return b }

// Nothing is lost while the receiving end does not read, however long that is: the other end
// waits (CON-3).
func TestAReaderThatIsSlow(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond, Loss: 5}, v.of(4), v.of(4))
		w.submit(t, w.a, 16, 50_000)
		w.Wait(60 * second) // six times what a chunk without progress lives
		check.Equal(t, "complete", w.b.Stats().Complete, 4)
		check.Equal(t, "slices stored", w.b.Stats().Receiver.SlicesStored, 4*49)
		check.Same(t, "error", w.a.Err(), nil)
		for i := range 16 {
			check.That(t, w.Run(w.Now()+10*second, func() bool { return w.b.ReadSize() == 50_000 }), "the next comes")
			check.Bytes(t, "chunk", first(w.b.Read(w.Now(), nil)), content(50_000, uint64(i)))
		}
	})
}

// A lane that fails ends all of them, at both ends; what came before it can be read (LAN-6).
func TestALaneThatFails(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond}, v.of(3), v.of(3))
		w.a.drop = func(p packet) bool { return p.lane == 1 && p.id() > 0 }
		w.submit(t, w.a, 6, 5000)
		check.That(t, w.Run(60*second, func() bool { return w.a.Err() != nil && w.b.Err() != nil }), "both ends fail")
		for _, err := range []error{w.a.Err(), w.b.Err()} {
			check.That(t, errors.Is(err, statemachine.ErrGaveUp) && strings.Contains(err.Error(), "lane 1: "), err.Error())
		}
		w.a.sent = nil
		w.Wait(5 * second)
		check.Equal(t, "sent after the failure", len(w.a.sent), 0)
		_, err := w.a.Submit(w.Now(), []byte("x"))
		check.Same(t, "refusal", err, w.a.Err())
		check.Bytes(t, "first chunk", first(w.b.Read(w.Now(), nil)), content(5000, 0))
		_, ok := w.b.Read(w.Now(), nil)
		check.That(t, !ok, "no other can be read")
	})
}

// With one lane an error does not name it.
func TestOneLaneThatFails(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Loss: 100}, v.of(0), v.of(0))
		w.submit(t, w.a, 1, 5000)
		check.That(t, w.Run(60*second, func() bool { return w.a.Err() != nil }), "it fails")
		check.Equal(t, "time", w.Now(), 10*second)
		check.Equal(t, "error", w.a.Err().Error(), "lanes: sending chunk 0: "+statemachine.ErrGaveUp.Error())
	})
}

// A driver that cannot send still lets machines give up.
func TestExpire(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{}, v.of(2), v.of(2))
		w.submit(t, w.a, 2, 5000)
		w.a.drop = func(p packet) bool { return p.id() >= 3 }
		w.Flush()
		w.Wait(ms)
		check.That(t, w.b.Receiving(), "a chunk arrives")
		w.a.Expire(10*second - 1)
		w.b.Expire(10*second - 1)
		check.That(t, w.a.Err() == nil && w.b.Err() == nil, "not yet")
		w.a.Expire(11 * second)
		w.b.Expire(11 * second)
		check.That(t, errors.Is(w.a.Err(), statemachine.ErrGaveUp), "the sender gave up")
		check.That(t, errors.Is(w.b.Err(), statemachine.ErrGaveUp), "the receiver gave up")
	})
}

// A chunk that waits can be taken back, one in flight cannot; the next one takes its lane.
func TestWithdraw(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond}, v.of(2, func(cfg *lanes.Config) { cfg.SendQueue = 2 }), v.of(2))
		w.a.drop = func(packet) bool { return true }
		w.submit(t, w.a, 1, 9000)
		w.Wait(5 * ms)
		for i := range 3 {
			check.Must(w.a.Submit(w.Now(), content(9000, uint64(i+1))))
			w.Wait(5 * ms)
		}
		w.a.drop = nil
		_, err := w.a.Submit(w.Now(), []byte("x"))
		check.Same(t, "refusal", err, lanes.ErrBusy)
		check.Equal(t, "queued", w.a.Stats().Queued, 2)
		check.That(t, !w.a.Withdraw(0) && w.a.Withdraw(2) && !w.a.Withdraw(2), "only the one that waits")
		for _, i := range []uint64{0, 1, 3} {
			check.That(t, w.Run(second, func() bool { return w.b.ReadSize() > 0 }), "the next comes")
			check.Bytes(t, "chunk", first(w.b.Read(w.Now(), nil)), content(9000, i))
		}
	})
}

func TestRefusals(t *testing.T) {
	l := check.Must(lanes.New(lanes.Config{}))
	check.Equal(t, "lanes", l.Len(), 1)
	for _, size := range []int{0, codec.MaxChunkSize + 1} {
		_, err := l.Submit(0, make([]byte, size))
		check.That(t, errors.Is(err, statemachine.ErrChunkSize), "a chunk of no or too many bytes")
	}
	for _, cfg := range []lanes.Config{{Lanes: -1}, {Lanes: 17}, {SendQueue: -1}, {SendQueue: 1<<16 + 1}, {ReceiveLimit: -1}, {MaxRate: 1}, {GiveUp: -1}} {
		_, err := lanes.New(cfg)
		check.That(t, errors.Is(err, core.ErrConfig), "bad configuration")
	}
	broken := errors.New("broken")
	_, err := lanes.New(lanes.Config{NewScheduler: func() (statemachine.Scheduler, error) { return nil, broken }})
	check.That(t, errors.Is(err, broken), "a scheduler that cannot be made")
}

// What comes beyond the limit is not answered.
func TestReceiveLimit(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond}, v.of(3), v.of(3, func(cfg *lanes.Config) { cfg.ReceiveLimit = 4 }))
		w.submit(t, w.a, 6, 3000)
		got := 0
		w.Run(60*second, func() bool {
			for _, ok := w.b.Read(w.Now(), nil); ok; _, ok = w.b.Read(w.Now(), nil) {
				got++
			}
			return w.a.Err() != nil
		})
		check.Equal(t, "chunks", got, 4)
		check.That(t, errors.Is(w.a.Err(), statemachine.ErrGaveUp), "the sender gives up")
		check.Same(t, "error of the receiver", w.b.Err(), nil)
	})
}

// The rate bounds all lanes together, and IP and UDP headers count (LAN-12).
func TestMaxRate(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		const rate = 2 * million
		limit := func(cfg *lanes.Config) { cfg.MaxRate = rate }
		w := newWorld(netsim.Path{Delay: 5 * time.Millisecond}, v.of(4, limit), v.of(4))
		bytes := 0
		w.a.drop = func(p packet) bool {
			bytes += p.size() + codec.HeaderBytes
			return false
		}
		w.stream(t, 8, 60*second, func(int) int { return 100_000 })
		used := int64(bytes) * 8 * int64(second) / int64(w.Now())
		t.Logf("%d of %d bit/s", used, rate)
		check.That(t, used <= rate && used > rate*8/10, "the rate is kept, and used")
	})
}

// Lanes that yield keep a shorter queue.
func TestYield(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		queue := map[bool]core.Micros{}
		for _, yields := range []bool{false, true} {
			w := newWorld(netsim.Path{Delay: 20 * time.Millisecond, Rate: 10 * million, Queue: 1 << 20}, v.of(4), v.of(4))
			w.a.Yield(yields)
			w.stream(t, 40, 60*second, func(int) int { return 200_000 })
			s := w.a.Stats().Sender.Schedule
			queue[yields] = s.SmoothedRTT - s.MinRTT
		}
		check.That(t, queue[true] > 0 && 4*queue[true] < 3*queue[false], fmt.Sprint(queue))
	})
}

// Slices that are held wait, and acks do not; a sender gives up all the same.
func TestHold(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond}, v.of(1), v.of(1))
		w.a.Hold(100 * ms)
		w.submit(t, w.a, 1, 2000)
		check.Equal(t, "the first deadline", w.a.SliceDeadline(), 100*ms)
		w.Wait(90 * ms)
		check.Equal(t, "slices while they are held", len(w.a.sent), 0)
		w.Wait(20 * ms)
		after := len(w.a.sent)
		check.That(t, after >= 2, "then they go")
		check.That(t, w.Run(second, func() bool { return w.a.Stats().Sender.Chunks == 1 }), "the chunk arrives")
		w.a.Hold(core.Never)
		w.submit(t, w.a, 2, 2000)
		check.That(t, w.Run(60*second, func() bool { return w.a.Err() != nil }), "it gives up")
		check.Equal(t, "slices", len(w.a.sent), after)
	})
}

// A path that is forgotten is learned again: what follows goes at the first pace.
func TestForgetPath(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		path := netsim.Path{Delay: 50 * time.Millisecond, Rate: million, Queue: 1 << 16}
		w := newWorld(path, v.of(2), v.of(2))
		w.stream(t, 4, 60*second, func(int) int { return 60_000 })
		check.That(t, w.a.Stats().Sender.Schedule.MinRTT >= 100_000, "the path is known")
		w.a.ForgetPath(w.Now())
		check.Equal(t, "round trip", w.a.Stats().Sender.Schedule.SmoothedRTT, 0)
		w.submit(t, w.a, 1, 60_000)
		check.That(t, w.Run(w.Now()+20*second, func() bool { return w.a.Stats().Sender.Chunks == 5 }), "it goes on")
	})
}

// A path that was forgotten holds as many slices as a new one: nothing is counted as in flight that is not.
func TestAForgottenPathIsEmpty(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		sent := func(isForgotten bool) (n int) {
			l := check.Must(lanes.New(v.of(2)))
			if isForgotten {
				l.ForgetPath(0)
			}
			check.Must(l.Submit(second, make([]byte, codec.MaxChunkSize)))
			for now := core.Micros(second); now < second+200*ms; now += ms {
				for _, _, ok := l.PollSlice(now); ok; _, _, ok = l.PollSlice(now) {
					n++
				}
			}
			return n
		}
		check.Equal(t, "slices in flight", sent(true), sent(false))
	})
}

// Statistics name what is under way.
func TestStats(t *testing.T) {
	each(t, func(t *testing.T, v variant) {
		w := newWorld(netsim.Path{Delay: 10 * time.Millisecond}, v.of(2), v.of(2))
		check.Equal(t, "sending", w.a.Stats().Sending, lanes.Progress{})
		w.submit(t, w.a, 1, 5000)
		w.Flush()
		check.Equal(t, "slices", w.a.Stats().Sending.NumSlices, 5)
		w.Wait(10 * ms)
		check.Equal(t, "slices here", w.b.ReadSize()+w.b.Stats().Receiving.NumSlices > 0, true)
	})
}

// Whatever is submitted, withdrawn and lost, chunks come whole and in order, each submitted one
// is finished once, and what was withdrawn never comes.
func TestLanesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom(variants).Draw(t, "variant")
		n := rapid.IntRange(1, 6).Draw(t, "lanes")
		path := netsim.Path{
			Delay: time.Duration(rapid.IntRange(0, 50).Draw(t, "delay")) * time.Millisecond,
			Loss:  float64(rapid.IntRange(0, 30).Draw(t, "loss")), Reorder: float64(rapid.IntRange(0, 30).Draw(t, "reorder")),
		}
		w := newWorld(path, v.of(n), v.of(n))
		var want [][]byte
		byNumber := map[int64][]byte{}
		finished := map[int64]bool{}
		withdrawn := map[int64]bool{}
		got := 0
		look := func() bool {
			for chunk, ok := w.b.Read(w.Now(), nil); ok; chunk, ok = w.b.Read(w.Now(), nil) {
				check.Bytes(t, "chunk", chunk, want[got])
				got++
			}
			for n, ok := w.a.Finished(); ok; n, ok = w.a.Finished() {
				check.That(t, !finished[n] && !withdrawn[n], "each is finished once")
				finished[n] = true
			}
			return got == len(want) && len(finished) == len(want)
		}
		for i := range rapid.IntRange(1, 20).Draw(t, "chunks") {
			chunk := content(rapid.IntRange(1, 20_000).Draw(t, "size"), uint64(i))
			number := check.Must(w.a.Submit(w.Now(), chunk))
			byNumber[number] = chunk
			if rapid.Bool().Draw(t, "withdraw") && w.a.Withdraw(number) {
				withdrawn[number] = true
			} else {
				want = append(want, chunk)
			}
			over := w.Now() + core.Micros(rapid.IntRange(0, 100_000).Draw(t, "pause"))
			w.Flush()
			w.Run(over, func() bool { look(); return false })
		}
		check.That(t, w.Run(w.Now()+120*second, look), "all comes")
		check.Equal(t, "lanes in use", w.a.Sending(), false)
	})
}
