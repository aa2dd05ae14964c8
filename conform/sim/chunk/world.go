package chunk

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// World is a sender, a receiver, a simple network each way, and an application that
// reads each complete chunk after a while. Machines, network and ReadTime may be
// changed at any time, so that an end can restart.
type World struct {
	*sim.World[codec.Packet]
	Sender    SenderMachine
	Receiver  ReceiverMachine
	Down, Up  sim.Fate[codec.Packet]    // of slices, of acks
	Carry     sim.Carrier[codec.Packet] // by Down and Up, unless it is changed
	ReadTime  core.Micros               // how long a complete chunk waits to be read
	Submitted [][]byte                  // the chunks that the sender took
	Delivered [][]byte                  // the chunks that were read

	awaiting bool // a read is to come
}

// NewWorld returns a world of two new machines of one kind, in which packets take half of a
// round trip in either direction.
func NewWorld(sender statemachine.SenderConfig, receiver statemachine.ReceiverConfig, roundTrip core.Micros) (*World, error) {
	s, err1 := statemachine.NewSender(sender)
	r, err2 := statemachine.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	w := &World{
		Sender: s, Receiver: r, Down: sim.Steady[codec.Packet](roundTrip / 2), Up: sim.Steady[codec.Packet](roundTrip - roundTrip/2),
	}
	w.Carry = sim.Fates(&w.Down, &w.Up)
	w.World = sim.NewWorld(w.carry, sim.End[codec.Packet](sending{w}), receiving{w})
	return w, nil
}

func (w *World) carry(now time.Duration, from int, p codec.Packet, deliver func(time.Duration, int, codec.Packet)) {
	w.Carry(now, from, p, deliver)
}

// outbound and inbound are the machines that the world has at the time.
func (w *World) outbound() Sender  { return Sender{w.Sender} }
func (w *World) inbound() Receiver { return Receiver{w.Receiver} }

// Submit submits a chunk and sends what the ends have to send.
func (w *World) Submit(chunk []byte) error {
	if err := w.outbound().Submit(w.Now(), chunk); err != nil {
		return err
	}
	w.Submitted = append(w.Submitted, chunk)
	w.Flush()
	return nil
}

// Sending reports whether a chunk is in flight.
func (w *World) Sending() bool { return w.outbound().Sending() }

// Transfer submits a chunk, runs until the sender knows that it has arrived, and
// returns how long that took. It fails if the sender does.
func (w *World) Transfer(chunk []byte) (core.Micros, error) {
	start := w.Now()
	if err := w.Submit(chunk); err != nil {
		return 0, err
	}
	if !w.Run(core.Never, func() bool { return !w.Sending() }) {
		return 0, ErrNotDelivered
	}
	return w.Now() - start, w.outbound().Err()
}

// transferAll sends these chunks, one after the other, and runs until all were read.
// It returns an error unless they were, as they were sent.
func (w *World) transferAll(chunks [][]byte) error {
	for _, c := range chunks {
		if _, err := w.Transfer(c); err != nil {
			return err
		}
	}
	w.Run(core.Never, func() bool { return len(w.Delivered) >= len(w.Submitted) })
	if !w.Intact() {
		return ErrCorrupt
	}
	return w.inbound().Err()
}

// Intact reports whether what was delivered is what was submitted.
func (w *World) Intact() bool {
	return slices.EqualFunc(w.Delivered, w.Submitted, bytes.Equal)
}

// Troubled returns the run of a new world for explore.Troubles: chunks are sent one
// after the other, and each waits for a while to be read.
func Troubled(kind codec.Kind, scheduler func() (statemachine.Scheduler, error), readTime core.Micros, chunks ...[]byte) func(sim.Carrier[codec.Packet]) (core.Micros, error) {
	return func(carry sim.Carrier[codec.Packet]) (core.Micros, error) {
		sched, err1 := scheduler()
		w, err2 := NewWorld(statemachine.SenderConfig{Kind: kind, Scheduler: sched}, statemachine.ReceiverConfig{Kind: kind}, 0)
		if err := errors.Join(err1, err2); err != nil {
			return 0, err
		}
		w.Carry, w.ReadTime = carry, readTime
		err := w.transferAll(chunks)
		return w.Now(), err
	}
}

// Finish runs until nothing is left to do: packets in flight arrive, and the
// application reads.
func (w *World) Finish() { w.Run(core.Never, func() bool { return false }) }

func (w *World) read() {
	w.awaiting = false
	chunk, err := w.inbound().Read(w.Now(), nil)
	if err != nil {
		return // the receiver is another one now
	}
	w.Delivered = append(w.Delivered, chunk)
}

// sending is the sender that the world has at the time.
type sending struct{ w *World }

func (s sending) Handle(now core.Micros, p codec.Packet) { s.w.outbound().Handle(now, p) }

func (s sending) Poll(now core.Micros) (codec.Packet, bool) { return s.w.outbound().Poll(now) }

func (s sending) Deadline() core.Micros { return s.w.outbound().Deadline() }

// receiving is the receiver that the world has at the time, and the application
// behind it.
type receiving struct{ w *World }

func (r receiving) Handle(now core.Micros, p codec.Packet) {
	w := r.w
	w.inbound().Handle(now, p)
	if !w.awaiting && w.inbound().Ready() {
		w.awaiting = true
		w.At(now+min(w.ReadTime, core.Never-now), w.read)
	}
}

func (r receiving) Poll(now core.Micros) (codec.Packet, bool) { return r.w.inbound().Poll(now) }

func (r receiving) Deadline() core.Micros { return r.w.inbound().Deadline() }
