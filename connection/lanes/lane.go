package lanes

import (
	"errors"

	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// lane is one of the pairs of machines: the end, for each direction, of a connection in the
// sense of spec/PROTOCOL.md (LAN-1). Chunk i goes by lane i mod L (LAN-4).
type lane struct {
	sender   *statemachine.Sender
	receiver *statemachine.Receiver
	number   int64       // of the chunk in flight; none while there is none
	sentAt   core.Micros // its latest slice
}

const none = -1

// laneTurn is how long a lane lets earlier chunks go before it (LANE_TURN).
const laneTurn = core.Second

// init makes the pair of machines of lane k.
func (l *lane) init(cfg *Config, k int) error {
	log := cfg.Log.In(k)
	s, err1 := cfg.newSender(log)
	r, err2 := cfg.newReceiver(log)
	*l = lane{sender: s, receiver: r, number: none}
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
	return l.sender.InFlight()
}

// waits reports whether the lane has sent nothing for its turn, and since when it is silent (LAN-13).
func (l *lane) waits(now core.Micros) (since core.Micros, ok bool) {
	if l.idle() || now < l.sentAt+laneTurn {
		return 0, false
	}
	since = max(l.sentAt, l.sender.HeardAt())
	return since, now >= since+laneTurn
}

// givesUpAt returns when the sender gives up, or Never.
func (l *lane) givesUpAt(giveUp core.Micros) core.Micros {
	if l.sender.State() != statemachine.SenderSending {
		return core.Never
	}
	return l.sender.HeardAt() + giveUp
}

// receiverGivesUpAt returns when the receiver gives up, or Never.
func (l *lane) receiverGivesUpAt(giveUp core.Micros) core.Micros {
	if l.receiver.State() != statemachine.ReceiverReceiving {
		return core.Never
	}
	return l.receiver.ProgressAt() + giveUp
}
