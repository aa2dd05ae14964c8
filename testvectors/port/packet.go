package port

import (
	"encoding/json"
	"math"

	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

// packetOperations are the packet layer's (PKO-1).
var packetOperations = map[string]operation{
	contract.OpPacketHeader: packetHeader, contract.OpPacketDecode: packetDecode,
	contract.OpPacketEndpoint: packetEndpoint, contract.OpPacketCongestion: packetCongestion,
}

// placed is a refusal whose answer has a place (PKO-2).
type placed struct {
	code string
	at   int
}

func (p placed) Error() string { return p.code }

// invalidField is a value that a field cannot hold (PKF-4).
const invalidField = "invalid_field"

// packetEndpoint answers a trace of an endpoint (PKO-4, PKO-5).
func packetEndpoint(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.EndpointConfig{
		FragmentSize: o.small("fragment_size", 1, 1160), MaxFragments: o.small("max_fragments", 2, 256), FragmentAbove: o.small("fragment_above", 1, 1160),
		NextToSend: o.within("next_to_send", 0, 1<<32), NextToReceive: o.within("next_to_receive", 0, 1<<32),
	}
	list := q.list("events")
	if *q.err != nil {
		return nil, *q.err
	}
	// As in run: the events before one that cannot be read are run.
	var events []contract.EndpointEvent
	var unread error
	for _, text := range list {
		e, err := endpointEvent(text)
		if err != nil {
			unread = err
			break
		}
		events = append(events, e)
	}
	steps, err := trace.RunEndpoint(cfg, events)
	if err != nil {
		return nil, errBadRequest
	}
	return contract.EndpointResponse{Answer: contract.Answer{OK: true}, Steps: steps}, unread
}

// endpointEvent reads the fields that an event has. What it is decides first.
func endpointEvent(text json.RawMessage) (e contract.EndpointEvent, err error) {
	o, err := newObject(text)
	if err != nil {
		return e, err
	}
	if e.Event = o.text("event"); *o.err != nil {
		return e, *o.err
	}
	switch e.Event {
	case contract.EventSend:
		e.Payload = pointerTo(o.text("payload"))
		o.hex("payload")
	case contract.EventReceive:
		e.Datagram = pointerTo(o.text("datagram"))
		o.hex("datagram")
	case contract.EventPoll:
	default:
		return e, errUnsupported
	}
	e.At = o.within("at", 0, math.MaxInt64)
	return e, *o.err
}

// packetCongestion answers a trace of congestion avoidance (PKO-6).
func packetCongestion(q *object) (any, error) {
	cfg := contract.CongestionConfig{Profile: q.object("config").text("profile")}
	list := q.list("events")
	if *q.err != nil {
		return nil, *q.err
	}
	events := make([]contract.CongestionEvent, len(list))
	for i, text := range list {
		o, err := newObject(text)
		if err != nil {
			return nil, err
		}
		e := &events[i]
		if e.At, e.Silent = o.number("at"), o.flag("silent"); !o.isNull("srtt") {
			e.SRTT = pointerTo(o.number("srtt"))
		}
		if o.has("min_rtt") {
			e.MinRTT = o.number("min_rtt")
		}
		if *o.err != nil {
			return nil, *o.err
		}
	}
	steps, err := trace.RunCongestion(cfg, events)
	if err != nil {
		return nil, errBadRequest
	}
	return contract.CongestionResponse{Answer: contract.Answer{OK: true}, Steps: steps}, nil
}
