package channels

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/core"
)

// product returns the format of the package channel.
func (f Format) product() channel.Format {
	return channel.Format{Window: int(f.Window), Data: int(f.Data), Group: int(f.Group)}
}

// ProductReceiver is channel.Receiver.
type ProductReceiver struct {
	*channel.Receiver
	Config channel.Config
}

func newProductReceiver(config any) (conform.Machine, error) {
	c := config.(ReceiverConfig)
	kind := channel.Ordered
	if c.Kind == "unordered" {
		kind = channel.Unordered
	}
	return NewProductReceiver(channel.Config{Kind: kind, Format: c.product(), First: core.Number(c.First), GiveUp: core.Micros(c.GiveUp)})
}

// NewProductReceiver returns a new receiver of any configuration.
func NewProductReceiver(c channel.Config) (conform.Machine, error) {
	v, err := channel.NewReceiver(c)
	return &ProductReceiver{v, c}, err
}

// Do is the machine under test.
func (p *ProductReceiver) Do(at int64, e conform.Event) conform.Step {
	var s ReceiverStep
	now := core.Micros(at)
	switch e := e.(type) {
	case Record:
		r, ok := oneRecord(p.Config.Format, e.Hex)
		if !ok || r.Type == channel.TypePad || r.Type == channel.TypeUnreliable || r.Type == channel.TypeReport {
			return nil
		}
		given := p.space().narrow(&r)
		if p.Handle(now, &r); !reflect.DeepEqual(r, given) {
			return nil // it changed the caller's record
		}
	case Read:
		if m, ok := p.Receiver.Read(now, []byte(before)); ok {
			s.Read = conform.Some(Got{uint16(m.Sequence), conform.Bytes(strings.TrimPrefix(string(m.Data), before)), m.Skipped})
		}
	case Poll:
		if r, ok := p.Receiver.Poll(now, int(e.Space)); ok {
			s.Report = conform.Some(bytesOf(p.Config.Format, p.space().widen(r, p.Base())))
		}
	case ReceiverPath:
		p.SetPath(channel.Path{Measured: e.SRTT.Is, SRTT: core.Micros(e.SRTT.V)})
	}
	if _, is := e.(ReceiverPath); !is {
		s.Row = conform.Some(string(p.Row()))
	}
	s.State, s.Deadline = p.State().String(), deadlineOf(p.Deadline())
	return s
}

// space is the space of the sequences. Events and steps have sequences of the wire.
type space struct{ bits core.Space }

func (p *ProductReceiver) space() space { return space{cmp.Or(p.Config.SequenceBits, core.Wire16)} }
func (p *ProductSender) space() space   { return space{cmp.Or(p.Config.SequenceBits, core.Wire16)} }

// narrow leaves of the sequences of a record what the space has, and returns a copy.
func (s space) narrow(r *channel.Record) channel.Record {
	r.Sequence = s.bits.Wire(core.Number(r.Sequence))
	for i := range r.Groups {
		r.Groups[i].Start = s.bits.Wire(core.Number(r.Groups[i].Start))
	}
	given := *r
	given.Data, given.Groups = slices.Clone(r.Data), slices.Clone(r.Groups)
	return given
}

// widen is the inverse, for sequences from one on.
func (s space) widen(r channel.Record, from core.Number) *channel.Record {
	wide := func(wire uint16) uint16 { return uint16(s.bits.UpTo(from+s.bits.Size()-1, wire)) }
	r.Sequence, r.Groups = wide(r.Sequence), slices.Clone(r.Groups)
	for i := range r.Groups {
		r.Groups[i].Start = wide(r.Groups[i].Start)
	}
	return &r
}

// before are bytes behind which a message is read.
const before = "before"

// Inside is what is counted.
func (p *ProductReceiver) Inside() any { return p.Stats().Beyond + p.Stats().Conflicts }

// oneRecord decodes what must be one record of channel 0 (CHO-11). What is behind it is none
// of it: reading on is a panic.
func oneRecord(f channel.Format, b conform.Bytes) (r channel.Record, ok bool) {
	next, err := f.Decode(slices.Clip([]byte(b)), 0, &r)
	return r, err == nil && next == len(b) && r.Channel == 0
}

// bytesOf encodes a record of a machine. One that is not valid has no bytes, which shows it.
func bytesOf(f channel.Format, r *channel.Record) conform.Bytes {
	b, _ := f.Append(nil, r)
	return conform.Bytes(b)
}

func deadlineOf(at core.Micros) conform.Opt[int64] {
	return conform.If(int64(at), at != core.Never)
}

// ProductSender is channel.Sender.
type ProductSender struct {
	*channel.Sender
	Config channel.Config
}

func newProductSender(config any) (conform.Machine, error) {
	c := config.(SenderConfig)
	return NewProductSender(channel.Config{
		Kind: channel.Ordered, Format: c.product(), SendQueue: int(c.SendQueue), First: core.Number(c.First), GiveUp: core.Micros(c.GiveUp),
	})
}

// NewProductSender returns a new sender of any configuration.
func NewProductSender(c channel.Config) (conform.Machine, error) {
	s, err := channel.NewSender(c)
	return &ProductSender{s, c}, err
}

// Do is the machine under test.
func (p *ProductSender) Do(at int64, e conform.Event) conform.Step {
	s := SenderStep{Rows: []string{}, Records: []conform.Bytes{}}
	now := core.Micros(at)
	took := func() { s.Rows = append(s.Rows, string(p.Row())) }
	switch e := e.(type) {
	case Send:
		var refused *channel.Error
		message := []byte(e.Data)
		if err := p.Sender.Send(now, message, core.Micros(e.Lifetime.V)); errors.As(err, &refused) {
			s.Refused = conform.Some(string(refused.Code()))
		}
		if string(message) != string(e.Data) {
			return nil // it changed the caller's message
		}
		took()
	case Report:
		r, ok := oneRecord(p.Config.Format, e.Hex)
		if !ok || r.Type != channel.TypeReport {
			return nil
		}
		p.space().narrow(&r)
		p.Sender.Report(now, core.Number(e.Number), core.Number(e.Ack), &r)
		took()
	case SenderPoll:
		for space, more := int(e.Space), true; more; {
			var r channel.Record
			r, more = p.Poll(now, core.Number(e.Number), space)
			if took(); more {
				b := bytesOf(p.Config.Format, p.space().widen(r, p.Base()))
				space -= len(b)
				s.Records = append(s.Records, b)
			}
		}
	case SenderPath:
		p.SetPath(channel.Path{Measured: e.SRTT.Is, SRTT: core.Micros(e.SRTT.V), Patience: core.Micros(e.Patience)})
	}
	s.State, s.Base, s.Limit, s.Deadline = p.State().String(), int64(p.Base()), int64(p.Limit()), deadlineOf(p.Deadline())
	return s
}

// Inside is what is counted.
func (p *ProductSender) Inside() any { return p.Stats().Implausible }
