package chunk

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// WorldOf is a sender, a receiver, a simple network each way, and an application that
// reads each complete chunk after a while. Machines, network and ReadTime may be
// changed at any time, so that an end can restart.
type WorldOf[P, S, R any] struct {
	*sim.World[P]
	Sender    S
	Receiver  R
	Down, Up  sim.Fate[P]    // of slices, of acks
	Carry     sim.Carrier[P] // by Down and Up, unless it is changed
	ReadTime  core.Micros    // how long a complete chunk waits to be read
	Submitted [][]byte       // the chunks that the sender took
	Delivered [][]byte       // the chunks that were read

	variant  *Variant[P, S, R]
	giveUps  [2]core.Micros // as configured
	awaiting bool           // a read is to come
}

// World is one of the chunk protocol.
type World = WorldOf[codec.Packet, SenderMachine, ReceiverMachine]

// NewWorld returns a world of two new machines, in which packets take half of a round
// trip in either direction.
func NewWorld(sender statemachine.SenderConfig, receiver statemachine.ReceiverConfig, roundTrip core.Micros) (*World, error) {
	s, err1 := statemachine.NewSender(sender)
	r, err2 := statemachine.NewReceiver(receiver)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	return NewWorldOf(&variant, SenderMachine(s), ReceiverMachine(r), [2]core.Micros{sender.GiveUp, receiver.GiveUp}, roundTrip), nil
}

// NewWorldOf returns a world of two new machines with these times to give up.
func NewWorldOf[P, S, R any](v *Variant[P, S, R], s S, r R, giveUps [2]core.Micros, roundTrip core.Micros) *WorldOf[P, S, R] {
	w := &WorldOf[P, S, R]{
		Sender: s, Receiver: r, Down: sim.Steady[P](roundTrip / 2), Up: sim.Steady[P](roundTrip - roundTrip/2),
		variant: v, giveUps: giveUps,
	}
	w.Carry = sim.Fates(&w.Down, &w.Up)
	w.World = sim.NewWorld(w.carry, sim.End[P](sending[P, S, R]{w}), receiving[P, S, R]{w})
	return w
}

func (w *WorldOf[P, S, R]) carry(now time.Duration, from int, p P, deliver func(time.Duration, int, P)) {
	w.Carry(now, from, p, deliver)
}

// outbound and inbound are the machines that the world has at the time.
func (w *WorldOf[P, S, R]) outbound() Outbound[P] { return w.variant.Outbound(w.Sender) }
func (w *WorldOf[P, S, R]) inbound() Inbound[P]   { return w.variant.Inbound(w.Receiver) }

// Judge puts the machines, which must be new, in front of judges. It calls fail for
// the first violation.
func (w *WorldOf[P, S, R]) Judge(pace Pace, fail Fail) {
	w.Sender, w.Receiver = w.variant.Judged(w.Sender, w.Receiver, w.giveUps, pace, fail)
}

// Submit submits a chunk and sends what the ends have to send.
func (w *WorldOf[P, S, R]) Submit(chunk []byte) error {
	if err := w.outbound().Submit(w.Now(), chunk); err != nil {
		return err
	}
	w.Submitted = append(w.Submitted, chunk)
	w.Flush()
	return nil
}

// Sending reports whether a chunk is in flight.
func (w *WorldOf[P, S, R]) Sending() bool { return w.outbound().Sending() }

// Transfer submits a chunk, runs until the sender knows that it has arrived, and
// returns how long that took. It fails if the sender does.
func (w *WorldOf[P, S, R]) Transfer(chunk []byte) (core.Micros, error) {
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
func (w *WorldOf[P, S, R]) transferAll(chunks [][]byte) error {
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
func (w *WorldOf[P, S, R]) Intact() bool {
	return slices.EqualFunc(w.Delivered, w.Submitted, bytes.Equal)
}

// Troubled returns the run of a new world for explore.Troubles: chunks are sent one
// after the other, in front of judges, and each waits for a while to be read.
func Troubled(scheduler func() (statemachine.Scheduler, error), pace Pace, readTime core.Micros, chunks ...[]byte) func(sim.Carrier[codec.Packet]) (core.Micros, error) {
	return TroubledOf(func() (*World, error) {
		sched, err1 := scheduler()
		w, err2 := NewWorld(statemachine.SenderConfig{Scheduler: sched}, statemachine.ReceiverConfig{}, 0)
		return w, errors.Join(err1, err2)
	}, pace, readTime, chunks...)
}

// TroubledOf does the same for worlds of any variant.
func TroubledOf[P, S, R any](newWorld func() (*WorldOf[P, S, R], error), pace Pace, readTime core.Micros, chunks ...[]byte) func(sim.Carrier[P]) (core.Micros, error) {
	return func(carry sim.Carrier[P]) (core.Micros, error) {
		w, err := newWorld()
		if err != nil {
			return 0, err
		}
		var violation error
		w.Judge(pace, func(format string, args ...any) {
			if violation == nil {
				violation = fmt.Errorf(format, args...)
			}
		})
		w.Carry, w.ReadTime = carry, readTime
		err = w.transferAll(chunks)
		return w.Now(), errors.Join(violation, err)
	}
}

// Finish runs until nothing is left to do: packets in flight arrive, and the
// application reads.
func (w *WorldOf[P, S, R]) Finish() { w.Run(core.Never, func() bool { return false }) }

func (w *WorldOf[P, S, R]) read() {
	w.awaiting = false
	chunk, err := w.inbound().Read(w.Now(), nil)
	if err != nil {
		return // the receiver is another one now
	}
	w.Delivered = append(w.Delivered, chunk)
}

// sending is the sender that the world has at the time.
type sending[P, S, R any] struct{ w *WorldOf[P, S, R] }

func (s sending[P, S, R]) Handle(now core.Micros, p P) { s.w.outbound().Handle(now, p) }

func (s sending[P, S, R]) Poll(now core.Micros) (P, bool) { return s.w.outbound().Poll(now) }

func (s sending[P, S, R]) Deadline() core.Micros { return s.w.outbound().Deadline() }

// receiving is the receiver that the world has at the time, and the application
// behind it.
type receiving[P, S, R any] struct{ w *WorldOf[P, S, R] }

func (r receiving[P, S, R]) Handle(now core.Micros, p P) {
	w := r.w
	w.inbound().Handle(now, p)
	if !w.awaiting && w.inbound().Ready() {
		w.awaiting = true
		w.At(now+min(w.ReadTime, core.Never-now), w.read)
	}
}

func (r receiving[P, S, R]) Poll(now core.Micros) (P, bool) { return r.w.inbound().Poll(now) }

func (r receiving[P, S, R]) Deadline() core.Micros { return r.w.inbound().Deadline() }
