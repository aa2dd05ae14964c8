package port

import (
	"encoding/hex"
	"encoding/json"
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

// anyChannel is the format of the operations that have no channels of their own (CHO-3).
var anyChannel = channel.Format{Window: 16384}

// wanted is a record that is to be encoded. Its first number that no field of
// channel.Record holds, if there is one, is at a place in the record (CHR-13).
type wanted struct {
	channel.Record
	invalid int
}

// valid is the place of no number.
const valid = math.MaxInt

// number16 returns a number of 16 bits, which is at a place.
func (r *wanted) number16(v int64, at int) uint16 {
	if v < 0 || v > math.MaxUint16 {
		r.invalid = min(r.invalid, at)
	}
	return uint16(v)
}

// anyInt returns a number that an int holds everywhere; what lies beyond is as wrong.
func (o *object) anyInt(name string) int {
	return int(min(max(o.number(name), math.MinInt32), math.MaxInt32))
}

// recordTypes are the types by their names (CHO-4).
var recordTypes = map[string]channel.Type{
	contract.RecordPad: channel.TypePad, contract.RecordUnreliable: channel.TypeUnreliable, contract.RecordMessage: channel.TypeMessage,
	contract.RecordFragment: channel.TypeFragment, contract.RecordSkip: channel.TypeSkip, contract.RecordReport: channel.TypeReport,
	contract.RecordStatus: channel.TypeStatus,
}

// record reads a record.
func (o *object) record() (r wanted) {
	r.invalid = valid
	known := false
	if r.Type, known = recordTypes[o.text("type")]; !known {
		r.Type = math.MaxUint8 // which the encoder refuses
		return r
	}
	if r.Type == channel.TypePad {
		return r
	}
	r.Channel = o.channel()
	switch r.Type {
	case channel.TypeUnreliable:
		r.Data = o.hex("data")
	case channel.TypeMessage:
		r.Sequence, r.Data = r.number16(o.number("sequence"), 2), o.hex("data")
	case channel.TypeFragment:
		r.Sequence, r.Data = r.number16(o.number("sequence"), 2), o.hex("data")
		r.Index, r.Count = o.anyInt("index"), o.anyInt("count")
	case channel.TypeSkip:
		r.Sequence, r.Count = r.number16(o.number("first"), 2), o.anyInt("count")
	case channel.TypeReport:
		r.Sequence, r.Room = r.number16(o.number("base"), 2), o.anyInt("room")
		for i, group := range o.list("groups") {
			r.Groups = append(r.Groups, r.group(o, group, 7+6*i))
		}
	case channel.TypeStatus:
		r.Sequence = r.number16(o.number("next"), 2)
	}
	return r
}

// channel returns a channel: all that do not exist are as wrong.
func (o *object) channel() uint8 {
	if id := o.number("channel"); id >= 0 && id < channel.MaxChannels {
		return uint8(id)
	}
	return channel.MaxChannels
}

// group reads a group, which is at a place.
func (r *wanted) group(o *object, text json.RawMessage, at int) (g channel.Group) {
	var pair []json.RawMessage
	if json.Unmarshal(text, &pair) != nil || len(pair) != 2 {
		o.bad()
		return g
	}
	start, err1 := integer(pair[0])
	bits, err2 := integer(pair[1])
	if errors.Join(err1, err2) != nil {
		o.bad()
	}
	if bits < 0 || bits > math.MaxUint32 {
		r.invalid = min(r.invalid, at+2)
	}
	return channel.Group{Start: r.number16(start, at), Bits: uint32(bits)}
}

// append appends a record to a payload, or refuses the first of its values that is wrong.
func (r *wanted) append(payload []byte) ([]byte, error) {
	longer, err := anyChannel.Append(payload, &r.Record)
	var refused *channel.Error
	switch {
	case errors.As(err, &refused) && checkedAt(refused)-len(payload) < r.invalid:
		return nil, placed{string(refused.Code()), refused.Place()}
	case r.invalid != valid:
		return nil, placed{invalidField, len(payload) + r.invalid}
	}
	return longer, err
}

// checkedAt returns the place of the field at which a record was refused: of the base of its
// groups it is known when the first bits were read (CHR-35).
func checkedAt(refused *channel.Error) int {
	if refused.Code() == channel.CodeGroupBase {
		return refused.Place() + 2
	}
	return refused.Place()
}

// recordsEncode encodes a row of records (CHR-7, CHO-2, CHO-6).
func recordsEncode(q *object) (any, error) {
	list := q.list("records")
	var records []wanted
	for _, text := range list {
		o, err := newObject(text)
		if err != nil {
			return nil, err
		}
		if records = append(records, o.record()); *o.err != nil {
			return nil, *o.err
		}
	}
	switch {
	case *q.err != nil:
		return nil, *q.err
	case len(list) == 0:
		return nil, placed{string(channel.CodeTruncated), 0}
	}
	var payload []byte
	for i := range records {
		var err error
		if payload, err = records[i].append(payload); err != nil {
			return nil, err
		}
	}
	return encoded(payload, nil)
}

// recordsDecode decodes a payload (CHR-2, CHO-2, CHO-3).
func recordsDecode(q *object) (any, error) {
	payload := q.hex("hex")
	if *q.err != nil {
		return nil, *q.err
	}
	response := contract.RecordsDecodeResponse{Answer: contract.Answer{OK: true}}
	for at, more := 0, true; more; more = at < len(payload) {
		var r channel.Record
		next, err := anyChannel.Decode(payload, at, &r)
		var refused *channel.Error
		if errors.As(err, &refused) {
			return nil, placed{string(refused.Code()), refused.Place()}
		}
		response.Records = append(response.Records, recordOf(&r))
		at = next
	}
	return response, nil
}

// recordOf is a record as the contract has it (CHO-4).
func recordOf(r *channel.Record) contract.Record {
	c := contract.Record{Type: r.Type.String()}
	if r.Type == channel.TypePad {
		return c
	}
	c.Channel = pointerTo(int64(r.Channel))
	sequence, count := pointerTo(int64(r.Sequence)), pointerTo(int64(r.Count))
	switch r.Type {
	case channel.TypeMessage:
		c.Sequence = sequence
	case channel.TypeFragment:
		c.Sequence, c.Index, c.Count = sequence, pointerTo(int64(r.Index)), count
	case channel.TypeSkip:
		c.First, c.Count = sequence, count
	case channel.TypeReport:
		groups := make([][2]int64, len(r.Groups))
		for i, g := range r.Groups {
			groups[i] = [2]int64{int64(g.Start), int64(g.Bits)}
		}
		c.Base, c.Room, c.Groups = sequence, pointerTo(int64(r.Room)), &groups
	case channel.TypeStatus:
		c.Next = sequence
	}
	if len(r.Data) > 0 {
		c.Data = pointerTo(hex.EncodeToString(r.Data))
	}
	return c
}

// channelReport encodes the report of a set (CHO-5, CHO-6).
func channelReport(q *object) (any, error) {
	r := wanted{invalid: valid}
	id, base, room := q.channel(), q.number("base"), q.anyInt("room")
	first := r.number16(base, 2)
	missing := ascending(q, first)
	if *q.err != nil {
		return nil, *q.err
	}
	r.Record = channel.NewReport(id, first, room, missing)
	payload, err := r.append(nil)
	if err != nil {
		return nil, err
	}
	return encoded(payload, nil)
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
