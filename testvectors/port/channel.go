package port

import (
	"encoding/hex"
	"errors"
	"math"
	"slices"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

// channelOperations are those of channels (CHO-1).
var channelOperations = map[string]operation{
	contract.OpRecordsEncode: recordsEncode, contract.OpRecordsDecode: recordsDecode, contract.OpChannelReport: channelReport,
	contract.OpChannelReceiver: channelReceiver, contract.OpChannelSender: channelSender,
}

// anyInt returns a number that an int holds everywhere; what lies beyond is as wrong.
func (o *object) anyInt(name string) int {
	return int(min(max(o.number(name), math.MinInt32), math.MaxInt32))
}

// channel returns a channel: all that do not exist are as wrong.
func (o *object) channel() uint8 {
	if id := o.number("channel"); id >= 0 && id < channel.MaxChannels {
		return uint8(id)
	}
	return channel.MaxChannels
}

// ascending reads sequences that ascend strictly from base (CHO-5).
func ascending(q *object, base uint16) (missing []uint16) {
	for _, text := range q.list("missing") {
		v, err := integer(text)
		if err != nil || v < 0 || v > math.MaxUint16 {
			q.bad()
		}
		missing = append(missing, uint16(v))
	}
	if !slices.IsSortedFunc(missing, func(a, b uint16) int { return int(a-base) - int(b-base) }) || len(slices.Compact(slices.Clone(missing))) < len(missing) {
		q.bad()
	}
	return missing
}

// channelFormat reads the parameters that both ends share.
func (o *object) channelFormat() contract.ChannelFormat {
	return contract.ChannelFormat{
		Window: o.within("window", 1, math.MaxInt32), Data: o.within("data", 1, math.MaxInt32), Group: o.within("group", 1, math.MaxInt32),
	}
}

// traced reads the events of a trace up to the first bad one, and answers the trace: the
// events before one that cannot be read are run (TRC-6).
func traced[E, S any](q *object, read func(*object, *E) error, run func([]E) ([]S, error), answer func([]S) any) (any, error) {
	list := q.list("events")
	if *q.err != nil {
		return nil, *q.err
	}
	var events []E
	var unread error
	for _, text := range list {
		o, err := newObject(text)
		var e E
		if err == nil {
			err = read(o, &e)
		}
		if err == nil {
			err = *o.err
		}
		if err != nil {
			unread = err
			break
		}
		events = append(events, e)
	}
	steps, err := run(events)
	switch {
	case errors.Is(err, trace.ErrUnsupported):
		return nil, errUnsupported
	case err != nil:
		return nil, errBadRequest
	}
	return answer(steps), unread
}

// at reads the time of an event (CHO-12).
func (o *object) at() int64 { return o.within("at", 0, 1<<62-1) }

// null reads a number or null, in a field that must be there.
func (o *object) null(name string) contract.Null {
	n := contract.Null{Is: true}
	if !o.isNull(name) {
		n.Value = pointerTo(o.number(name))
	}
	return n
}

// bytes reads lower-case hex, as text.
func (o *object) bytes(name string) *string { return pointerTo(hex.EncodeToString(o.hex(name))) }

// channelReceiver answers a trace of the receiver of a channel (CHO-7, CHO-8).
func channelReceiver(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.ChannelReceiverConfig{Kind: o.text("kind"), ChannelFormat: o.channelFormat(), First: o.number("first"), GiveUp: o.number("give_up")}
	return traced(q, channelReceiverEvent, func(events []contract.ChannelReceiverEvent) ([]contract.ChannelReceiverStep, error) {
		return trace.RunChannelReceiver(cfg, events)
	}, func(steps []contract.ChannelReceiverStep) any {
		return contract.ChannelReceiverResponse{Answer: contract.Answer{OK: true}, Steps: steps}
	})
}

// channelReceiverEvent reads the fields that an event has. What it is decides first.
func channelReceiverEvent(o *object, e *contract.ChannelReceiverEvent) error {
	if e.Event = o.text("event"); *o.err != nil {
		return *o.err
	}
	switch e.Event {
	case contract.EventRecord:
		e.Hex = o.bytes("hex")
	case contract.EventPoll:
		e.Space = pointerTo(o.number("space"))
	case contract.EventPath:
		e.SRTT = o.null("srtt")
	case contract.EventRead:
	default:
		return errUnsupported
	}
	e.At = o.at()
	return nil
}

// channelSender answers a trace of the sender of a channel (CHO-9, CHO-10).
func channelSender(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.ChannelSenderConfig{
		ChannelFormat: o.channelFormat(), SendQueue: o.within("send_queue", 1, math.MaxInt32), First: o.number("first"), GiveUp: o.number("give_up"),
	}
	return traced(q, channelSenderEvent, func(events []contract.ChannelSenderEvent) ([]contract.ChannelSenderStep, error) {
		return trace.RunChannelSender(cfg, events)
	}, func(steps []contract.ChannelSenderStep) any {
		return contract.ChannelSenderResponse{Answer: contract.Answer{OK: true}, Steps: steps}
	})
}

// channelSenderEvent is channelReceiverEvent for a sender.
func channelSenderEvent(o *object, e *contract.ChannelSenderEvent) error {
	if e.Event = o.text("event"); *o.err != nil {
		return *o.err
	}
	switch e.Event {
	case contract.EventSend:
		e.Data, e.Lifetime = o.bytes("data"), o.null("lifetime")
	case contract.EventReport:
		e.Hex, e.Number, e.Ack = o.bytes("hex"), pointerTo(o.number("number")), pointerTo(o.number("ack"))
	case contract.EventPoll:
		e.Number, e.Space = pointerTo(o.number("number")), pointerTo(o.number("space"))
	case contract.EventPath:
		e.SRTT, e.Patience = o.null("srtt"), pointerTo(o.number("patience"))
	default:
		return errUnsupported
	}
	e.At = o.at()
	return nil
}
