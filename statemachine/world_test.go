package statemachine

import (
	"container/heap"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
)

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// fate says what happens to a packet: when each copy of it arrives. None means
// that it is lost.
type fate func(now Micros) []Micros

// world is a sender and a receiver with a network between them, in which time
// goes by from event to event. The properties that watch it stop the test as soon
// as one does not hold (see checks_test.go).
type world struct {
	tester
	sender   *Sender
	receiver *Receiver
	profile  Profile
	now      Micros
	toRecv   fate
	toSend   fate
	readTime Micros // how long a complete chunk waits to be read
	readAt   Micros
	network  packetHeap
	sent     int // packets so far

	submitted [][]byte
	delivered int
	watchers  []property
}

type packet struct {
	at    Micros
	seq   int // packets that arrive at the same time keep their order
	slice codec.Slice
	ack   codec.Ack
	isAck bool
}

// steady is a network that loses nothing.
func steady(delay Micros) fate {
	return func(now Micros) []Micros { return []Micros{now + delay} }
}

// outage is a network that loses everything from one time to another.
func outage(otherwise fate, from, to Micros) fate {
	return func(now Micros) []Micros {
		if now >= from && now < to {
			return nil
		}
		return otherwise(now)
	}
}

func newWorld(t tester, p Profile, rtt Micros) *world {
	w := &world{
		tester:   t,
		sender:   NewSender(SenderConfig{Scheduler: NewBase(p)}),
		receiver: NewReceiver(ReceiverConfig{}),
		profile:  p.withinLimits(),
		toRecv:   steady(rtt / 2),
		toSend:   steady(rtt - rtt/2),
		readAt:   Never,
	}
	w.watch(allProperties...)
	return w
}

// transfer submits a chunk and lets the world go on until the sender is idle.
// It returns how long that took.
func (w *world) transfer(chunk []byte) Micros {
	w.Helper()
	w.submit(chunk)
	start := w.now
	for w.sender.State() == SenderSending {
		w.step(Never)
	}
	if w.sender.State() != SenderIdle {
		w.Fatalf("the sender is %v after %d us", w.sender.State(), w.now-start)
	}
	return w.now - start
}

func (w *world) submit(chunk []byte) {
	w.Helper()
	if err := w.sender.Submit(w.now, chunk); err != nil {
		w.Fatalf("submit: %v", err)
	}
	w.submitted = append(w.submitted, chunk)
	w.show(moment{kind: submitted})
	w.polls()
}

// settle lets the world go on until nothing is left to do.
func (w *world) settle() {
	for w.nextEvent() != Never {
		w.step(Never)
	}
}

func (w *world) nextEvent() Micros {
	next := min(w.sender.Deadline(), w.receiver.Deadline(), w.readAt)
	if len(w.network) > 0 {
		next = min(next, w.network[0].at)
	}
	return next
}

// step goes on to the next event, but not beyond a limit, and handles what
// happens then: packets first, then the reader, then what is due.
func (w *world) step(limit Micros) {
	w.Helper()
	next := w.nextEvent()
	if next == Never {
		w.Fatalf("nothing will ever happen again: sender %v, receiver %v", w.sender.State(), w.receiver.State())
	}
	w.now = max(w.now, min(next, limit))
	w.show(moment{kind: timePassed})
	for len(w.network) > 0 && w.network[0].at <= w.now {
		w.arrive(heap.Pop(&w.network).(packet))
	}
	if w.receiver.State() == ReceiverReady && w.readAt == Never {
		w.readAt = w.now + w.readTime
	}
	if w.now >= w.readAt {
		w.read()
	}
	w.polls()
}

func (w *world) arrive(p packet) {
	w.Helper()
	if p.isAck {
		w.show(moment{kind: ackComes, ack: p.ack})
		w.sender.HandleAck(w.now, p.ack)
		w.show(moment{kind: ackTaken, ack: p.ack})
	} else {
		w.show(moment{kind: sliceComes, slice: p.slice})
		w.receiver.HandleSlice(w.now, p.slice)
		w.show(moment{kind: sliceTaken, slice: p.slice})
	}
}

func (w *world) read() {
	w.Helper()
	got, err := w.receiver.Read(w.now, nil)
	if err != nil {
		w.Fatalf("read: %v", err)
	}
	w.delivered++
	w.readAt = Never
	w.show(moment{kind: chunkRead, chunk: got})
}

// endless is more polls at a time than any machine has packets for.
const endless = 10_000

// polls asks both machines until they have nothing more to say.
func (w *world) polls() {
	w.Helper()
	slices, acks := 0, 0
	for ; slices < endless; slices++ {
		s, ok := w.sender.Poll(w.now)
		if !ok {
			break
		}
		w.show(moment{kind: sliceOut, slice: s, nth: slices})
		w.send(w.toRecv, packet{slice: s})
	}
	for ; acks < endless; acks++ {
		a, ok := w.receiver.Poll(w.now)
		if !ok {
			break
		}
		w.show(moment{kind: ackOut, ack: a, nth: acks})
		w.send(w.toSend, packet{ack: a, isAck: true})
	}
	if slices == endless || acks == endless {
		w.Fatalf("at %d the polls have no end", w.now)
	}
	w.show(moment{kind: polled})
}

func (w *world) send(f fate, p packet) {
	for _, at := range f(w.now) {
		w.sent++
		p.at, p.seq = at, w.sent
		heap.Push(&w.network, p)
	}
}

// packetHeap orders packets by the time at which they arrive.
type packetHeap []packet

func (h packetHeap) Len() int { return len(h) }
func (h packetHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h packetHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *packetHeap) Push(p any)   { *h = append(*h, p.(packet)) }
func (h *packetHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

// A world without any trouble.
func TestAWorldWithoutTrouble(t *testing.T) {
	w := newWorld(t, Burst(), 50*ms)
	took := w.transfer(chunkOf(262144, 1))
	wantEqual(t, "time", took, 255*85+50*ms)
	w.settle()
	wantEqual(t, "delivered", w.delivered, 1)
}
