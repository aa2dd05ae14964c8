package lanes

import (
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// lane is one of the pairs of machines: the end, for each direction, of a connection in the
// sense of spec/PROTOCOL.md (LAN-1). Chunk i goes by lane i mod L (LAN-4). A machine that nothing was given yet is nil.
type lane struct {
	sender   *statemachine.Sender
	receiver *statemachine.Receiver
	number   int64       // of the chunk in flight; none while there is none
	sentAt   core.Micros // its latest slice
}

const none = -1

// laneTurn is how long a lane lets earlier chunks go before it (LANE_TURN).
const laneTurn = core.Second

// senderOf returns the sender of lane k.
func (l *Lanes) senderOf(k int) (s *statemachine.Sender, err error) {
	lane := &l.lanes[k]
	if lane.sender == nil {
		lane.sender, err = l.cfg.newSender(l.cfg.Log.In(k))
	}
	return lane.sender, err
}

// receiverOf returns the receiver of lane k.
func (l *Lanes) receiverOf(k int) *statemachine.Receiver {
	lane := &l.lanes[k]
	if lane.receiver == nil {
		lane.receiver, _ = l.cfg.newReceiver(l.cfg.Log.In(k)) // the configuration is good
	}
	return lane.receiver
}

// idle reports whether the sender takes another chunk.
func (l *lane) idle() bool { return l.sender == nil || l.sender.State() == statemachine.SenderIdle }

// ready reports whether a complete chunk is in the receiver.
func (l *lane) ready() bool { return l.receives() == statemachine.ReceiverReady }

// receives returns what the receiver is doing.
func (l *lane) receives() statemachine.ReceiverState {
	if l.receiver == nil {
		return statemachine.ReceiverWaiting
	}
	return l.receiver.State()
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
	if l.sender == nil || l.sender.State() != statemachine.SenderSending {
		return core.Never
	}
	return l.sender.HeardAt() + giveUp
}

// receiverGivesUpAt returns when the receiver gives up, or Never.
func (l *lane) receiverGivesUpAt(giveUp core.Micros) core.Micros {
	if l.receives() != statemachine.ReceiverReceiving {
		return core.Never
	}
	return l.receiver.ProgressAt() + giveUp
}
