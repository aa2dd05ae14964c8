package lanes

import (
	"errors"

	"github.com/chunkwire/chunkwire/machine"
	"github.com/chunkwire/chunkwire/statemachine"
)

// lane is one of the pairs of machines: the end, for each direction, of a connection in the
// sense of spec/PROTOCOL.md (LAN-1). Chunk i goes by lane i mod L (LAN-4).
type lane struct {
	sender    *statemachine.Sender
	receiver  *statemachine.Receiver
	scheduler statemachine.Scheduler // the sender's
	number    int64                  // of the chunk in flight; none while there is none
}

const none = -1

// init makes the pair of machines.
func (l *lane) init(cfg *Config) error {
	scheduler, err := cfg.NewScheduler()
	if err != nil {
		return err
	}
	sender, err1 := statemachine.NewSender(statemachine.SenderConfig{GiveUp: cfg.GiveUp, Scheduler: scheduler, Observe: cfg.Observe})
	receiver, err2 := statemachine.NewReceiver(statemachine.ReceiverConfig{GiveUp: cfg.GiveUp, Memory: cfg.Memory})
	*l = lane{sender: sender, receiver: receiver, scheduler: scheduler, number: none}
	return errors.Join(err1, err2)
}

// idle reports whether the sender takes another chunk.
func (l *lane) idle() bool { return l.sender.State() == statemachine.SenderIdle }

// ready reports whether a complete chunk is in the receiver.
func (l *lane) ready() bool { return l.receiver.State() == statemachine.ReceiverReady }

// inFlight returns how many slices were sent and are not known to have arrived.
func (l *lane) inFlight() int {
	if l.idle() {
		return 0
	}
	v := l.sender.Vars()
	return v.Sent.Minus(v.Acked).Count()
}

// givesUpAt returns when the sender gives up, or Never.
func (l *lane) givesUpAt(giveUp machine.Micros) machine.Micros {
	if l.sender.State() != statemachine.SenderSending {
		return machine.Never
	}
	return l.sender.Vars().HeardAt + giveUp
}

// receiverGivesUpAt returns when the receiver gives up, or Never.
func (l *lane) receiverGivesUpAt(giveUp machine.Micros) machine.Micros {
	if l.receiver.State() != statemachine.ReceiverReceiving {
		return machine.Never
	}
	return l.receiver.Vars().ProgressAt + giveUp
}

// pathSharer is a scheduler that lets lanes share what one of them has learned about the
// path.
type pathSharer interface {
	// Adopt takes over what the scheduler of another lane knows.
	Adopt(from statemachine.Scheduler)
	// PathSlices returns how many slices fit into the path.
	PathSlices() int
}
