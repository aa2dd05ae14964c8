package port

import (
	"math"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/testvectors/contract"
	"github.com/chunkwire/chunkwire/testvectors/trace"
)

// connectionOperations are those of connections, beside those of sessions (CXO-1).
var connectionOperations = map[string]operation{
	contract.OpConnectionEncode: connectionEncode, contract.OpConnectionDecode: connectionDecode, contract.OpConnection: connectionEnd,
}

// variant is 1 if it is absent.
func (o *object) variant() uint8 {
	if !o.has("variant") {
		return session.VariantSlices
	}
	return uint8(o.within("variant", session.VariantSlices, session.VariantRepair))
}

// extensions are 0 if they are absent.
func (o *object) extensions() uint16 {
	if !o.has("extensions") {
		return 0
	}
	return uint16(o.within("extensions", 0, math.MaxUint16))
}

// connectionEnd answers a trace of one end of a connection (CXO-12, CXO-13).
func connectionEnd(q *object) (any, error) {
	o := q.object("config")
	cfg := contract.ConnectionConfig{
		Side: o.text("side"), Mode: o.knownMode("mode").String(), SendKey: *text(o.exactly("send_key", 32)), ReceiveKey: *text(o.exactly("receive_key", 32)),
		Link: o.within("link", 1, math.MaxUint32), Lanes: o.within("lanes", 0, 16), Timeout: o.within("timeout", 10, 36_000), Begin: o.within("begin", 0, 1<<62-1),
		Tick: o.within("tick", 5_000, 100_000), MessageRate: o.within("message_rate", 64_000, 8_000_000_000), Profile: o.laneProfile(),
	}
	if o.has("variant") {
		cfg.Variant = int64(o.variant())
	}
	cfg.Extensions = int64(o.extensions())
	if cfg.Side != contract.SideClient && cfg.Side != contract.SideServer {
		o.bad()
	}
	for _, raw := range o.list("channels") {
		one, err := newObject(raw)
		if err != nil {
			return nil, err
		}
		cfg.Channels = append(cfg.Channels, one.channelOfConnection())
		if *one.err != nil {
			return nil, *one.err
		}
	}
	return traced(q, connectionEvent, func(events []contract.ConnectionEvent) ([]contract.ConnectionStep, error) {
		return trace.RunConnection(cfg, events)
	}, func(steps []contract.ConnectionStep) any {
		return contract.ConnectionResponse{Answer: contract.Answer{OK: true}, Steps: steps}
	})
}

// laneProfile reads the profile of the variant.
func (o *object) laneProfile() (p contract.LaneProfile) {
	if o.variant() == session.VariantRepair {
		p.Repair = repairProfile(o.object("profile"))
	} else {
		p.Named = *profile(o.object("profile"))
	}
	return p
}

// channelOfConnection reads a channel.
func (o *object) channelOfConnection() contract.ConnectionChannel {
	c := contract.ConnectionChannel{ID: o.number("id"), Kind: o.text("kind"), Priority: o.within("priority", 0, math.MaxUint8)}
	if c.Kind == contract.KindUnreliable {
		return c
	}
	for name, field := range map[string]**int64{"window": &c.Window, "data": &c.Data, "group": &c.Group, "send_queue": &c.SendQueue, "give_up": &c.GiveUp} {
		*field = pointerTo(o.number(name))
	}
	return c
}

// connectionEvent reads the fields that an event has. What it is decides first.
func connectionEvent(o *object, e *contract.ConnectionEvent) error {
	if e.Event = o.text("event"); *o.err != nil {
		return *o.err
	}
	switch e.Event {
	case contract.EventReceive:
		if e.Hex = o.bytes("hex"); o.has("ecn") {
			e.ECN = o.text("ecn")
		}
	case contract.EventSend:
		e.Channel, e.Data, e.Lifetime = pointerTo(o.number("channel")), o.bytes("data"), o.null("lifetime")
	case contract.EventRead:
		e.Channel = pointerTo(o.number("channel"))
	case contract.EventSendChunk:
		e.Size = pointerTo(o.number("size"))
	case contract.EventClose:
		e.Code, e.Text = pointerTo(o.within("code", 0, math.MaxUint16)), pointerTo(o.text("text"))
	case contract.EventPoll, contract.EventReadChunk:
	default:
		return errUnsupported
	}
	e.At = o.at()
	return nil
}
