package statemachine_test

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/conform/sim/chunk/chunktest"
	"github.com/chunkwire/chunkwire/statemachine"
	"github.com/chunkwire/chunkwire/statemachine/schedule/base"
)

// A receiver never discards what it acked: an outage of 6 s in mid-chunk ends in
// delivery (RCV-15).
func TestOutageOfSixSeconds(t *testing.T) {
	w := newWorld(t, config{profile: base.Burst(), roundTrip: 50 * ms})
	transfer(t, w, chunktest.Chunk(1, 1)) // measures the round trip
	from := w.Now() + 35*ms               // some slices have arrived, some acks are out
	w.Down, w.Up = sim.Outage(w.Down, from, from+6*second), sim.Outage(w.Up, from, from+6*second)
	if took := transfer(t, w, chunktest.Chunk(262144, 2)); took > 6500*ms {
		t.Errorf("it took %d us", took)
	}
	finish(t, w)
	check.Equal(t, "stored", w.Receiver.Stats().SlicesStored, 257)
}

// A longer one ends in an error at both ends (LIVE-3).
func TestOutageOfElevenSeconds(t *testing.T) {
	w := newWorld(t, config{profile: base.Burst(), roundTrip: 50 * ms})
	w.Down = sim.Outage(w.Down, 10*ms, 11*second)
	w.Up = w.Down
	check.Same(t, "submit", w.Submit(chunktest.Chunk(262144, 2)), nil)
	w.Finish()
	check.Same(t, "sender", w.Sender.Err(), statemachine.ErrGaveUp)
	check.Same(t, "receiver", w.Receiver.Err(), statemachine.ErrGaveUp)
}

// A slow reader looks different from a peer that is gone: holds keep the sender going
// for longer than it would wait, and the chunk then arrives (SND-11, SND-23, RCV-14, TMR-6).
func TestHoldsKeepTheSenderGoing(t *testing.T) {
	w := newWorld(t, config{profile: base.Burst(), roundTrip: 50 * ms})
	w.ReadTime = 3 * statemachine.DefaultGiveUp
	transfer(t, w, chunktest.Chunk(3000, 1))
	if took := transfer(t, w, chunktest.Chunk(5000, 2)); took < 2*statemachine.DefaultGiveUp || took > 3*statemachine.DefaultGiveUp+400*ms {
		t.Errorf("it took %d us", took)
	}
	finish(t, w)
	check.That(t, w.Receiver.Stats().Held > 100, "slices were held")
}

// Without holds it gives up (SND-9).
func TestWithoutHoldsTheSenderGivesUp(t *testing.T) {
	w := newWorld(t, config{profile: base.Burst(), roundTrip: 50 * ms})
	w.ReadTime = 3 * statemachine.DefaultGiveUp
	transfer(t, w, chunktest.Chunk(3000, 1))
	w.Up = sim.Outage(w.Up, 0, year)
	took, err := w.Transfer(chunktest.Chunk(5000, 2))
	check.Same(t, "error", err, statemachine.ErrGaveUp)
	check.Equal(t, "gave up after", took, statemachine.DefaultGiveUp)
}

// When one side alone restarts, the other ends in an error: chunks from the future are
// not answered, nor are those from the past. Both have to be new (CON-1, LIVE-3).
func TestOneSideRestarts(t *testing.T) {
	for _, completed := range []int{1, 2, 3, 40} {
		for name, restart := range map[string]func(w *chunk.World){
			"sender": func(w *chunk.World) {
				cfg := statemachine.SenderConfig{Scheduler: check.Must(base.New(base.Fixed(0)))}
				w.Sender = check.Must(statemachine.NewSender(cfg))
			},
			"receiver": func(w *chunk.World) { w.Receiver = check.Must(statemachine.NewReceiver(statemachine.ReceiverConfig{})) },
		} {
			if name == "sender" && completed == 1 {
				continue // the receiver takes its chunk for the previous one
			}
			w := newWorld(t, config{profile: base.Fixed(0), roundTrip: 50 * ms})
			for range completed {
				transfer(t, w, chunktest.Chunk(3000, 1))
			}
			w.Finish()
			restart(w)
			acks := w.Receiver.Stats().AcksSent
			took, err := w.Transfer(chunktest.Chunk(3000, 2))
			check.Same(t, name+": error", err, statemachine.ErrGaveUp)
			check.Equal(t, name+": gave up after", took, statemachine.DefaultGiveUp)
			check.Equal(t, name+": acks", w.Receiver.Stats().AcksSent-acks, 0)
		}
	}
}

// A sender that disappears in mid-chunk is an error at the receiver (RCV-15).
func TestTheSenderDisappears(t *testing.T) {
	w := newWorld(t, config{profile: base.Fixed(0)})
	w.Down = dropping(func(n int, _ packet) bool { return n > 1 })
	check.Same(t, "submit", w.Submit(chunktest.Chunk(3000, 1)), nil)
	w.Run(year, func() bool { return w.Receiver.Err() != nil })
	check.Equal(t, "gave up at", w.Now(), 25*ms+statemachine.DefaultGiveUp)
}
