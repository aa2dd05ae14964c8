package lanes

import (
	"errors"

	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// lane is one of the pairs of machines: the end, for each direction, of a connection in the
// sense of spec/PROTOCOL.md (LAN-1). Chunk i goes by lane i mod L (LAN-4).
type lane struct {
	sender   sender
	receiver receiver
	number   int64 // of the chunk in flight; none while there is none
}

const none = -1

// sender is the sending machine of either variant, and its scheduler.
type sender interface {
	State() statemachine.SenderState
	Err() error
	Deadline() core.Micros
	Stats() statemachine.SenderStats
	Rest()

	// submit begins a chunk. The sender is idle, and the chunk's size is right.
	submit(now core.Micros, e *erasure.Encoded)
	handleAck(now core.Micros, a Ack) (ours bool)
	poll(now core.Micros) (s Slice, ok bool)
	heardAt() core.Micros
	progress() Progress
	// wants reports whether slices of the chunk in flight are to go before the next one begins,
	// whatever the pace (LAN-7).
	wants() bool
	// inFlight returns how many slices were sent and are not known to have arrived (LAN-10).
	inFlight() int

	// scheduler returns what decides which slice goes next, and when.
	scheduler() any
	// adopt gives the scheduler what that of another sender of the variant has learned.
	adopt(from sender)
	// pace makes the scheduler one that has sent a slice: it knows nothing but a pace.
	pace(now core.Micros)
}

// receiver is the receiving machine of either variant.
type receiver interface {
	State() statemachine.ReceiverState
	Err() error
	Deadline() core.Micros
	Stats() statemachine.ReceiverStats
	Read(now core.Micros, dst []byte) ([]byte, error)

	handleSlice(now core.Micros, s Slice) (ours bool)
	// rebuilds returns how many slices must be rebuilt if a slice comes, or 0.
	rebuilds(s Slice) int
	poll(now core.Micros) (a Ack, ok bool)
	chunkID() uint16
	progressAt() core.Micros
	progress() Progress
	// readSize returns how many bytes the chunk has that Read delivers, or 0.
	readSize() int
}

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
	return l.sender.inFlight()
}

// givesUpAt returns when the sender gives up, or Never.
func (l *lane) givesUpAt(giveUp core.Micros) core.Micros {
	if l.sender.State() != statemachine.SenderSending {
		return core.Never
	}
	return l.sender.heardAt() + giveUp
}

// receiverGivesUpAt returns when the receiver gives up, or Never.
func (l *lane) receiverGivesUpAt(giveUp core.Micros) core.Micros {
	if l.receiver.State() != statemachine.ReceiverReceiving {
		return core.Never
	}
	return l.receiver.progressAt() + giveUp
}

// pathSharer is a scheduler that lets lanes share the path.
type pathSharer interface {
	// PathSlices returns how many slices fit into the path.
	PathSlices() int
}

// adopt lets a scheduler take over what another one knows, if it can.
func adopt[S any](to, from S) {
	if path, ok := any(to).(interface{ Adopt(from S) }); ok {
		path.Adopt(from)
	}
}
