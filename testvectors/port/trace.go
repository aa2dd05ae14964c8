package port

import (
	"encoding/json"
	"errors"
	"math"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/trace"
	"github.com/chunkwire/chunkwire/testvectors/contract"
)

// sender answers a trace of a sender (TRC-2).
func sender(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.SenderConfig{FirstChunkID: o.chunkID("first_chunk_id"), GiveUpUS: o.number("give_up_us")}
	if !o.isNull("profile") {
		if p := o.object("profile"); p.has("recovery") {
			cfg.Recovery = &contract.RecoveryProfile{Recovery: p.text("recovery"), Rate: p.number("rate")}
		} else {
			cfg.Profile = profile(p)
		}
	}
	read := senderEvent
	if cfg.Recovery != nil {
		read = recoveryEvent
	}
	return run(q, read, func(events []contract.Event) ([]contract.Step, error) { return trace.RunSender(cfg, events) })
}

// receiver answers a trace of a receiver (TRC-3).
func receiver(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.ReceiverConfig{FirstChunkID: o.chunkID("first_chunk_id"), GiveUpUS: o.number("give_up_us")}
	return run(q, receiverEvent, func(events []contract.Event) ([]contract.Step, error) { return trace.RunReceiver(cfg, events) })
}

func profile(o *object) *contract.Profile {
	return &contract.Profile{
		Rate: o.number("rate"), Cap: o.number("cap"), Burst: o.number("burst"), AcksPay: o.flag("acks_pay"),
		SpacingUS: o.number("spacing_us"), ResendDelayUS: o.number("resend_delay_us"),
	}
}

func (o *object) chunkID(name string) uint16 { return uint16(o.within(name, 0, math.MaxUint16)) }

// run reads the events of a trace up to the first bad one, and answers the trace
// (TRC-6).
// Of several things that are wrong the first one counts: the config before the
// events, and these in their order. So the events before one that cannot be read
// are run.
func run(q *object, read func(o *object, e *contract.Event) error, machine func([]contract.Event) ([]contract.Step, error)) (any, error) {
	list := q.list("events")
	if *q.err != nil {
		return nil, *q.err
	}
	var events []contract.Event
	var unread error
	for _, text := range list {
		e, err := event(text, read)
		if err != nil {
			unread = err
			break
		}
		events = append(events, e)
	}
	steps, err := machine(events)
	switch {
	case errors.Is(err, trace.ErrUnsupported):
		return nil, errUnsupported
	case err != nil:
		return nil, errBadRequest
	}
	return contract.TraceResponse{Answer: contract.Answer{OK: true}, Steps: steps}, unread
}

func event(text json.RawMessage, read func(*object, *contract.Event) error) (e contract.Event, err error) {
	o, err := newObject(text)
	if err != nil {
		return e, err
	}
	if e.Event = o.text("event"); *o.err != nil {
		return e, *o.err
	}
	if err = read(o, &e); err != nil {
		return e, err // the port does not have it
	}
	e.At = o.number("at")
	return e, *o.err
}

// senderEvent reads the fields that an event of a sender has.
func senderEvent(o *object, e *contract.Event) error {
	switch e.Event {
	case "submit":
		e.Size = pointerTo(o.small("size", 0, 2*codec.MaxChunkSize))
	case "ack":
		e.ChunkID, e.Acked = pointerTo(o.chunkID("chunk_id")), pointerTo(o.text("acked"))
	case "poll":
		if o.has("due") {
			e.Due = due(o)
		}
	default:
		return errUnsupported
	}
	return nil
}

// recoveryEvent reads the fields that an event of a sender with the recommended scheduler has.
func recoveryEvent(o *object, e *contract.Event) error {
	switch e.Event {
	case "marks":
		e.Count = pointerTo(o.small("count", 0, math.MaxUint16))
	case "yield":
		e.Yields = pointerTo(o.flag("yields"))
	default:
		return senderEvent(o, e)
	}
	return nil
}

// due reads the ids of slices. An empty list counts as none (TRC-2).
func due(o *object) (ids []int) {
	for _, raw := range o.list("due") {
		id, err := integer(raw)
		if err != nil || id < 0 || id >= codec.MaxSlices {
			o.bad()
		}
		ids = append(ids, int(id))
	}
	return ids
}

// receiverEvent reads the fields that an event of a receiver has.
func receiverEvent(o *object, e *contract.Event) error {
	switch e.Event {
	case "slice":
		e.ChunkID, e.Size = pointerTo(o.chunkID("chunk_id")), pointerTo(o.small("size", 1, codec.SliceSize))
		e.SliceID, e.NumSlices = pointerTo(o.small("slice_id", 0, codec.MaxSlices-1)), pointerTo(o.small("num_slices", 1, codec.MaxSlices))
		if o.has("fill") {
			e.Fill = pointerTo(byte(o.within("fill", 0, math.MaxUint8)))
		}
	case "read", "poll":
	default:
		return errUnsupported
	}
	return nil
}

func pointerTo[T any](v T) *T { return &v }
