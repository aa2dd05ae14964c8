package fuzz

import (
	"bytes"
	"container/heap"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/statemachine"
)

// An input of FuzzConversation is a header as readConversation takes it, and then
// decisions in the order in which they are asked for: a fate for each datagram
// (see fate.go), and a byte for when a chunk is read and when the next one is
// submitted. When they are used up the weather is fair.

// CheckConversation lets two ends talk over a network that does whatever the
// fuzzer decides, and then is fair. What is always true is checked at every event
// (section 11). At the end all chunks must have come, once and in order.
func CheckConversation(t T, data []byte) { runConversation(t, data, nil) }

const conversationID = 0x11223344 // the protocol id

// world is a sender and a receiver with the network between them.
type world struct {
	T
	script   script
	story    *story
	framer   codec.Framer
	sender   *statemachine.Sender
	receiver *statemachine.Receiver
	firstID  uint16
	giveUp   micros
	delay    micros
	sizes    []int

	now      micros
	network  mail
	mailed   int // datagrams that were put into it
	lose     int // so many of the next are lost
	asleep   [2]micros
	submitAt micros
	readAt   micros

	submitted, delivered int
	corrupted, refused   int
	acks, slices         int64 // acks sent; slices arrived
	fair                 int   // datagrams sent in fair weather
	checks               safety
}

// The two ends, as destinations.
const (
	toReceiver = iota
	toSender
)

// mostBadWeather is the events after which the weather is fair, whatever bytes
// are left: a byte can lose 255 datagrams, so a few thousand make hours.
const mostBadWeather = 50_000

func runConversation(t T, data []byte, tell *story) {
	w := readConversation(t, data)
	w.story = tell
	if tell != nil {
		tell.say("chunks of %d bytes from id %d on; %s each way; GIVE_UP %s", w.sizes, w.firstID, clockText(w.delay), clockText(w.giveUp))
	}
	for events := 0; !w.over(); events++ {
		if events == mostBadWeather {
			w.script.left, w.lose = nil, 0
		}
		if events > mostBadWeather+50_000 {
			w.Fatalf("no end: %d of %d chunks delivered", w.delivered, len(w.sizes))
		}
		w.step()
	}
	w.agree()
}

func readConversation(t T, data []byte) *world {
	w := &world{T: t, script: script{data}, framer: codec.NewFramer(conversationID), readAt: never}
	s := &w.script
	w.firstID = s.uint16()
	w.giveUp = pick(s, []micros{1 << 61, 1 << 61, 1 << 61, 10_000_000, 1_000_000, 100_000})
	w.delay = pick(s, []micros{20_000, 0, 100, 1000, 50_000, 200_000, 400_000})
	pace := readPacing(s, boundProfile)
	w.checks.atOnce = pace.atOnce
	slices := 0
	for range 1 + s.byte()%5 {
		size := readSize(s)
		if slices += codec.NumSlices(size); slices > codec.MaxSlices+16 {
			size = 1 // bounds the work
		}
		w.sizes = append(w.sizes, size)
	}
	w.sender = statemachine.NewSender(statemachine.SenderConfig{
		FirstChunkID: w.firstID, GiveUp: w.giveUp, Scheduler: pace.Scheduler,
	})
	w.receiver = statemachine.NewReceiver(statemachine.ReceiverConfig{FirstChunkID: w.firstID, GiveUp: w.giveUp})
	return w
}

// boundProfile keeps a conversation from taking for ever.
func boundProfile(p *statemachine.Profile) {
	p.Spacing = min(p.Spacing, 100_000)
	if p.ResendDelay > 0 {
		p.ResendDelay = min(max(p.ResendDelay, 50_000), 5_000_000)
	}
}

// chunk returns the bytes of chunk n of the conversation.
func (w *world) chunk(n int) []byte { return content(w.firstID+uint16(n), w.sizes[n]) }

// over reports whether nothing will happen any more.
func (w *world) over() bool {
	return w.next() == never && (w.submitted == len(w.sizes) || w.sender.State() == statemachine.SenderFailed)
}

// next is when something happens next.
func (w *world) next() micros {
	next := min(w.awake(toSender, w.sender.Deadline()), w.awake(toReceiver, w.receiver.Deadline()), w.awake(toReceiver, w.readAt))
	if w.sender.State() == statemachine.SenderIdle && w.submitted < len(w.sizes) {
		next = min(next, w.awake(toSender, w.submitAt))
	}
	if len(w.network) > 0 {
		next = min(next, w.awake(w.network[0].to, w.network[0].at))
	}
	return next
}

// awake is when an end does what is due at a time: not before it wakes up.
func (w *world) awake(end int, at micros) micros { return max(at, w.asleep[end]) }

// step goes on to what is next: packets first, then the applications, then what
// is due (SND-4, RCV-2).
func (w *world) step() {
	w.Helper()
	w.now = max(w.now, w.next())
	for len(w.network) > 0 && w.network[0].at <= w.now {
		m := heap.Pop(&w.network).(letter)
		if until := w.asleep[m.to]; until > w.now {
			m.at = until // it waits in the socket
			heap.Push(&w.network, m)
			continue
		}
		w.arrive(m)
	}
	if w.now >= w.awake(toReceiver, w.readAt) {
		w.read()
	}
	if w.sender.State() == statemachine.SenderIdle && w.submitted < len(w.sizes) && w.now >= w.awake(toSender, w.submitAt) {
		w.submit()
	}
	w.polls()
	if w.receiver.State() == statemachine.ReceiverReady && w.readAt == never {
		w.readAt = w.now + w.pause("the reader")
	}
}

// pause is for how long an application lets things wait: mostly not at all.
func (w *world) pause(who string) micros {
	d := max(0, micros(w.script.byte())-128) * 50_000
	if w.story != nil && d > 0 {
		w.story.at(w.now, "%s waits for %s", who, clockText(d))
	}
	return d
}

func (w *world) submit() {
	w.Helper()
	if err := w.sender.Submit(w.now, w.chunk(w.submitted)); err != nil {
		w.Fatalf("submit: %v", err)
	}
	if w.story != nil {
		w.story.at(w.now, "S submits chunk %d of %d bytes", w.sender.ChunkID(), w.sizes[w.submitted])
	}
	w.submitted++
	w.checks.acked = codec.Bitset{}
}

// read is SAFE-1 and SAFE-5.
func (w *world) read() {
	w.Helper()
	got, err := w.receiver.Read(w.now, nil)
	if w.story != nil {
		w.story.at(w.now, "R reads %d bytes", len(got))
	}
	switch {
	case err != nil:
		w.Fatalf("read: %v", err)
	case w.delivered >= w.submitted:
		w.Fatalf("a chunk too many")
	case !bytes.Equal(got, w.chunk(w.delivered)):
		w.Fatalf("chunk %d is not what was sent", w.delivered)
	}
	w.delivered++
	w.readAt = never
}

// polls asks both ends, if they are awake, until they have no more to say.
func (w *world) polls() {
	w.Helper()
	for n := 0; w.asleep[toSender] <= w.now; n++ {
		s, ok := w.sender.Poll(w.now)
		if !ok {
			w.ahead("sender", w.sender.Deadline())
			break
		}
		w.checks.slice(w, s, n)
		d, err := w.framer.AppendSlice(nil, s)
		w.mail(toReceiver, d, err)
	}
	for n := 0; w.asleep[toReceiver] <= w.now; n++ {
		a, ok := w.receiver.Poll(w.now)
		if !ok {
			w.ahead("receiver", w.receiver.Deadline())
			break
		}
		w.checks.ack(w, a, n)
		d, err := w.framer.AppendAck(nil, a)
		w.mail(toSender, d, err)
	}
	w.checks.always(w)
}

// ahead: after a poll the deadline lies in the future (SCH-3, RCV-1).
func (w *world) ahead(end string, deadline micros) {
	w.Helper()
	if deadline <= w.now {
		w.Fatalf("at %d, after a poll, the %s's deadline is %d", w.now, end, deadline)
	}
}

// arrive decodes a datagram. One that was changed is refused and counted (CON-4).
func (w *world) arrive(m letter) {
	w.Helper()
	p, err := w.framer.Decode(m.datagram)
	if (err != nil) != m.corrupt {
		w.Fatalf("a datagram that was changed: %v, decodes to %v", m.corrupt, err)
	}
	switch {
	case err != nil:
		w.refused++
	case p.Type == codec.TypeAck:
		w.sender.HandleAck(w.now, p.Ack)
		if w.sender.State() == statemachine.SenderIdle && w.sender.Row() == statemachine.S10Complete {
			w.submitAt = w.now + w.pause("the sending application")
		}
	default:
		w.slices++
		owed := w.checks.owed(w, p.Slice)
		w.receiver.HandleSlice(w.now, p.Slice)
		if owed && w.receiver.Deadline() > w.now+100_000 {
			w.Fatalf("no ack is due within 100 ms for slice %d of chunk %d", p.Slice.SliceID, p.Slice.ChunkID) // LIVE-1
		}
	}
	clear(m.datagram) // a receiver keeps nothing of it (RCV-11)
	if w.story != nil {
		w.tellArrival(m, p, err)
	}
	w.checks.always(w)
}
