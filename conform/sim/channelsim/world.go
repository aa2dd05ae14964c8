package channelsim

import (
	"errors"
	"slices"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
)

// The ends of a World.
const (
	SendingEnd   = 0
	ReceivingEnd = 1
)

// WholePacket is the space that a packet has for records.
const WholePacket = 1160

// World is one channel in one direction: a checked sender and a checked receiver, a judge,
// and a network in which a packet stays until it is dropped: each can arrive at any time, in
// any order, and again. What the packet layer below promises holds: each number is taken
// once, none that is RECEIVED or more behind the newest is taken, and with a packet comes the newest
// number that its sender had taken (spec/PACKETS.md).
type World struct {
	Sender   *CheckedSender
	Receiver *CheckedReceiver
	Now      core.Micros // of the next event; it may go back
	Flight   [2][]Packet // to each end
	Judge    *Judge
	Received int // RECEIVED of the packet layer

	fail sim.Fail
	ends [2]packetEnd
}

// Packet is one in flight.
type Packet struct {
	Number, Ack core.Number
	Records     []protocol.Record

	means []core.Number // the sequences of the records
	at    core.Micros   // when it was sent
}

// packetEnd is what an end of the packet layer knows.
type packetEnd struct {
	next, newest core.Number // to send; that was taken
	taken        map[core.Number]bool
}

// NewWorld returns a new channel.
func NewWorld(cfg protocol.Config, fail sim.Fail) (*World, error) {
	s, err := NewCheckedSender(cfg, fail)
	if err != nil {
		return nil, err
	}
	r, err := NewCheckedReceiver(cfg, fail)
	if err != nil {
		return nil, err
	}
	w := &World{Sender: s, Receiver: r, Judge: NewJudge(Complete(cfg)), Received: 256, fail: fail}
	for i := range w.ends {
		w.ends[i] = packetEnd{newest: core.NoNumber, taken: map[core.Number]bool{}}
	}
	return w, nil
}

func (w *World) check(err error) {
	if err != nil {
		w.fail("%v", err)
	}
}

// SetPath says what is known of the path, at both ends.
func (w *World) SetPath(p protocol.Path) {
	w.Judge.Path(p)
	w.Sender.SetPath(p)
	w.Receiver.SetPath(p)
}

// Send gives a message to the sender.
func (w *World) Send(message []byte, lifetime core.Micros) error {
	err := w.Sender.Send(w.Now, message, lifetime)
	w.check(w.Judge.Sent(w.Now, message, lifetime, refusal(err)))
	return err
}

// refusal returns the code of an error of Send.
func refusal(err error) core.Code {
	for code, is := range refusals {
		if errors.Is(err, is) {
			return core.Code(code)
		}
	}
	return ""
}

// Read reads from the receiver.
func (w *World) Read() (protocol.Message, bool) {
	d, ok := w.Receiver.Read(w.Now)
	if ok {
		w.check(w.Judge.Read(d))
	}
	return d, ok
}

// Compose lets an end put into a packet what is due and fits into the space. The packet is in flight.
func (w *World) Compose(end, space int) (records int) {
	p := w.packet(end)
	if end == SendingEnd {
		w.composeData(&p, space)
	} else {
		w.composeReport(&p, space)
	}
	if len(p.Records) > 0 {
		w.launch(end, p)
	}
	return len(p.Records)
}

// Pad lets an end send a packet without records.
func (w *World) Pad(end int) { w.launch(end, w.packet(end)) }

// packet returns the next packet of an end.
func (w *World) packet(end int) Packet {
	return Packet{Number: w.ends[end].next, Ack: w.ends[end].newest, at: w.Now}
}

func (w *World) launch(end int, p Packet) {
	w.ends[end].next++
	w.Flight[1-end] = append(w.Flight[1-end], p)
}

func (w *World) composeData(p *Packet, space int) {
	enough := space >= WholePacket
	for _, r := range w.Sender.Poll(w.Now, p.Number, space) {
		p.Records, p.means = append(p.Records, r), append(p.means, w.Judge.sequence(r.Sequence))
		w.check(w.Judge.Composed(w.Now, p.Number, r))
		space -= r.Size()
	}
	w.check(unless(space >= 0, "CHS-1", "the records are %d bytes too long", -space))
	w.check(w.Judge.Polled(w.Now, enough, w.Sender.Failed()))
}

func (w *World) composeReport(p *Packet, space int) {
	for {
		r, ok := w.Receiver.Poll(w.Now, space)
		if !ok {
			break
		}
		p.Records, p.means = append(p.Records, r), append(p.means, 0)
		w.check(w.Judge.Reported(w.Now, &r))
		space -= r.Size()
	}
	w.check(unless(space >= 0, "CHV-6", "the report is %d bytes too long", -space))
	w.check(w.Judge.ReceiverPolled(w.Now, w.Receiver.Failed()))
}

// Arrive lets a packet in flight to an end arrive, and takes it out of the network unless it
// is kept. It reports whether the packet layer takes it.
func (w *World) Arrive(end, i int, keep bool) bool {
	p := w.Flight[end][i]
	if !keep {
		w.Drop(end, i)
	}
	e := &w.ends[end]
	if e.taken[p.Number] || p.Number <= e.newest-core.Number(w.Received) {
		return false
	}
	e.taken[p.Number] = true
	e.newest = max(e.newest, p.Number)
	for i := range p.Records {
		w.handle(end, &p, i)
	}
	return true
}

func (w *World) handle(end int, p *Packet, i int) {
	r := clone(p.Records[i])
	if end == ReceivingEnd {
		w.Judge.Arrived(w.Now, p.means[i], &r)
		w.Receiver.Handle(w.Now, &r)
		w.check(w.Judge.Holds(w.Receiver.Receiver.Stats().HeldBytes))
		return
	}
	w.Judge.Heard(w.Now, p.Number, p.Ack, &r)
	w.Sender.Report(w.Now, p.Number, p.Ack, &r)
	w.check(w.Judge.Released(w.Sender.Sender.Base()))
}

// Drop loses a packet in flight to an end.
func (w *World) Drop(end, i int) { w.Flight[end] = slices.Delete(w.Flight[end], i, i+1) }

// Deadline returns when an end is due.
func (w *World) Deadline(end int) core.Micros {
	if end == SendingEnd {
		return w.Sender.Deadline()
	}
	return w.Receiver.Deadline()
}

// Wait lets time pass, and polls each end at its deadlines.
func (w *World) Wait(d core.Micros) { w.run(w.Now+d, core.Never, nil) }

// Run lets time pass on a path on which each packet takes as long as delay, but those that
// are lost: it says so of a packet to an end when it arrives.
func (w *World) Run(d, delay core.Micros, lost func(to int, now core.Micros) bool) {
	w.run(w.Now+d, delay, lost)
}

func (w *World) run(until, delay core.Micros, lost func(to int, now core.Micros) bool) {
	for range 1_000_000 {
		next := min(w.Deadline(0), w.Deadline(1), w.arrival(0, delay), w.arrival(1, delay))
		if next > until {
			w.Now = until
			return
		}
		w.Now = max(w.Now, next)
		for end := range w.ends {
			for w.arrival(end, delay) <= w.Now {
				if lost(end, w.Now) {
					w.Drop(end, 0)
				} else {
					w.Arrive(end, 0, false)
				}
			}
		}
		for end := range w.ends {
			w.pollDue(end)
		}
	}
	w.fail("the ends never rest")
}

// arrival returns when the first packet in flight to an end arrives.
func (w *World) arrival(end int, delay core.Micros) core.Micros {
	if delay == core.Never || len(w.Flight[end]) == 0 {
		return core.Never
	}
	return w.Flight[end][0].at + delay
}

// pollDue lets an end send packets as long as it is due.
func (w *World) pollDue(end int) {
	for w.Deadline(end) <= w.Now {
		if w.Compose(end, WholePacket) == 0 && w.Deadline(end) <= w.Now {
			w.fail("end %d is due again at once", end)
			return
		}
	}
}

// Finish lets everything in flight arrive and everything be read, again and again, until
// nothing is left to do or an end has failed. It reports whether nothing is left. It calls
// read with what is read.
func (w *World) Finish(read func(protocol.Message)) bool {
	for range 100_000 {
		for end := range w.ends {
			for len(w.Flight[end]) > 0 {
				w.Arrive(end, 0, false)
			}
		}
		for m, ok := w.Read(); ok; m, ok = w.Read() {
			read(m)
		}
		for end := range w.ends {
			w.Compose(end, WholePacket)
		}
		if w.Sender.Failed() || w.Receiver.Failed() {
			return false
		}
		if len(w.Flight[0])+len(w.Flight[1]) > 0 {
			continue
		}
		next := min(w.Deadline(0), w.Deadline(1))
		if next == core.Never {
			w.check(w.Judge.Settled())
			w.Now += w.Judge.cfg.GiveUp
			w.check(unless(w.Compose(0, WholePacket)+w.Compose(1, WholePacket) == 0, "CHT-LIVE-5", "all is over, and an end sends"))
			return true
		}
		w.Now = max(w.Now, next)
	}
	w.fail("CHT-LIVE-1: all arrives, and there is no end")
	return false
}
