package statemachine

import (
	"bytes"
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
// goes by from event to event. It stops the test as soon as a property does not
// hold (see checks_test.go).
type world struct {
	tester
	sender   *Sender
	receiver *Receiver
	now      Micros
	toRecv   fate
	toSend   fate
	readTime Micros // how long a complete chunk waits to be read
	readAt   Micros
	network  packetHeap
	sent     int // packets so far

	submitted [][]byte
	delivered int
	checks    checks
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
	return &world{
		tester:   t,
		sender:   NewSender(SenderConfig{Scheduler: NewBase(p)}),
		receiver: NewReceiver(ReceiverConfig{}),
		toRecv:   steady(rtt / 2),
		toSend:   steady(rtt - rtt/2),
		readAt:   Never,
	}
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
	w.checks.begin()
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
	w.checks.time(w)
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
		w.sender.HandleAck(w.now, p.ack)
	} else {
		w.checks.beforeSlice(w, p.slice)
		w.receiver.HandleSlice(w.now, p.slice)
		w.checks.afterSlice(w)
	}
	w.checks.always(w)
}

func (w *world) read() {
	w.Helper()
	got, err := w.receiver.Read(w.now, nil)
	switch {
	case err != nil:
		w.Fatalf("read: %v", err)
	case w.delivered >= len(w.submitted):
		w.Fatalf("a chunk too many was delivered")
	case !bytes.Equal(got, w.submitted[w.delivered]):
		w.Fatalf("chunk %d is not what was sent", w.delivered)
	}
	w.delivered++
	w.readAt = Never
}

// polls asks both machines until they have nothing more to say.
func (w *world) polls() {
	w.Helper()
	for n := 0; ; n++ {
		s, ok := w.sender.Poll(w.now)
		if !ok {
			break
		}
		w.checks.slice(w, s, n)
		w.send(w.toRecv, packet{slice: s})
	}
	for n := 0; ; n++ {
		a, ok := w.receiver.Poll(w.now)
		if !ok {
			break
		}
		w.checks.ack(w, a, n)
		w.send(w.toSend, packet{ack: a, isAck: true})
	}
	w.checks.afterPolls(w)
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
