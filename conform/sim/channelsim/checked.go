package channelsim

import (
	"bytes"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
)

// failing is a conform.T.
type failing struct{ sim.Fail }

func (failing) Helper()                             {}
func (failing) Logf(string, ...any)                 {}
func (f failing) Fatalf(format string, args ...any) { f.Fail(format, args...) }

// CheckedSender is a sender beside its oracle: each event goes to both, and both must do the
// same. The oracle has the sequences of the wire; with fewer bits, which have no bytes, the
// sender is alone, and a judge watches it.
type CheckedSender struct {
	Sender *protocol.Sender
	pair   *conform.Pair // nil: alone
	format protocol.Format
}

// NewCheckedSender returns a new sender and its oracle.
func NewCheckedSender(cfg protocol.Config, fail sim.Fail) (*CheckedSender, error) {
	s, err := protocol.NewSender(cfg)
	if err != nil {
		return nil, err
	}
	c := Complete(cfg)
	checked := &CheckedSender{Sender: s, format: c.Format}
	if c.SequenceBits == core.Wire16 {
		checked.pair = channels.Sender.Pair(failing{fail}, channels.SenderConfig{Format: formatOf(c), SendQueue: int64(c.SendQueue), First: int64(c.First), GiveUp: int64(c.GiveUp)})
		checked.Sender = checked.pair.Product.(*channels.ProductSender).Sender
	}
	return checked, nil
}

func formatOf(c protocol.Config) channels.Format {
	return channels.Format{Window: int64(c.Window), Data: int64(c.Data), Group: int64(c.Group)}
}

// refusals are the errors of Send by their codes.
var refusals = map[string]error{"message_size": protocol.ErrMessageSize, "queue_full": protocol.ErrQueueFull, "failed": protocol.ErrFailed}

// Send is the event of the sender.
func (c *CheckedSender) Send(now core.Micros, message []byte, lifetime core.Micros) error {
	if c.pair == nil {
		return c.Sender.Send(now, message, lifetime)
	}
	s := c.pair.Do(int64(now), channels.Send{Data: conform.Bytes(message), Lifetime: conform.If(int64(lifetime), lifetime > 0)}).(channels.SenderStep)
	return refusals[s.Refused.V]
}

// Report is the event of the sender.
func (c *CheckedSender) Report(now core.Micros, number, ack core.Number, r *protocol.Record) {
	if c.pair == nil {
		c.Sender.Report(now, number, ack, r)
		return
	}
	c.pair.Do(int64(now), channels.Report{Hex: bytesOf(c.pair, c.format, r), Number: int64(number), Ack: int64(ack)})
}

// bytesOf encodes a record that a decoder takes.
func bytesOf(p *conform.Pair, f protocol.Format, r *protocol.Record) conform.Bytes {
	b, err := f.Append(nil, r)
	if err != nil {
		p.Fail("%+v: %v", r, err)
	}
	return conform.Bytes(b)
}

// Poll polls the sender until it has no record for the packet. The records are the caller's.
func (c *CheckedSender) Poll(now core.Micros, number core.Number, space int) (list []protocol.Record) {
	if c.pair == nil {
		for {
			r, ok := c.Sender.Poll(now, number, space)
			if !ok {
				return list
			}
			space -= r.Size()
			list = append(list, clone(r))
		}
	}
	for _, b := range c.pair.Do(int64(now), channels.SenderPoll{Number: int64(number), Space: int64(space)}).(channels.SenderStep).Records {
		list = append(list, recordOf(c.pair, c.format, b))
	}
	return list
}

func recordOf(p *conform.Pair, f protocol.Format, b conform.Bytes) (r protocol.Record) {
	if _, err := f.Decode([]byte(b), 0, &r); err != nil {
		p.Fail("%x: %v", string(b), err)
	}
	return r
}

// clone returns a record that shares nothing with another.
func clone(r protocol.Record) protocol.Record {
	r.Data, r.Groups = append([]byte(nil), r.Data...), append([]protocol.Group(nil), r.Groups...)
	return r
}

// SetPath is that of the sender.
func (c *CheckedSender) SetPath(p protocol.Path) {
	if c.pair == nil {
		c.Sender.SetPath(p)
		return
	}
	c.pair.Do(0, channels.SenderPath{SRTT: conform.If(int64(p.SRTT), p.Measured), Patience: int64(p.Patience)})
}

// Deadline is that of the sender.
func (c *CheckedSender) Deadline() core.Micros { return c.Sender.Deadline() }

// Failed reports whether the sender has failed.
func (c *CheckedSender) Failed() bool { return c.Sender.State().String() == channeloracle.StateFailed }

// CheckedReceiver is a receiver beside its oracle, as CheckedSender is a sender.
type CheckedReceiver struct {
	Receiver *protocol.Receiver
	pair     *conform.Pair // nil: alone
	format   protocol.Format
}

// NewCheckedReceiver returns a new receiver and its oracle.
func NewCheckedReceiver(cfg protocol.Config, fail sim.Fail) (*CheckedReceiver, error) {
	r, err := protocol.NewReceiver(cfg)
	if err != nil {
		return nil, err
	}
	c := Complete(cfg)
	checked := &CheckedReceiver{Receiver: r, format: c.Format}
	if c.SequenceBits == core.Wire16 {
		kind := map[protocol.Kind]string{protocol.Ordered: "ordered", protocol.Unordered: "unordered"}[c.Kind]
		checked.pair = channels.Receiver.Pair(failing{fail}, channels.ReceiverConfig{Kind: kind, Format: formatOf(c), First: int64(c.First), GiveUp: int64(c.GiveUp)})
		checked.Receiver = checked.pair.Product.(*channels.ProductReceiver).Receiver
	}
	return checked, nil
}

// Handle is the event of the receiver.
func (c *CheckedReceiver) Handle(now core.Micros, r *protocol.Record) {
	if c.pair == nil {
		c.Receiver.Handle(now, r)
		return
	}
	c.pair.Do(int64(now), channels.Record{Hex: bytesOf(c.pair, c.format, r)})
}

// Read is the event of the receiver. What was read is the caller's.
func (c *CheckedReceiver) Read(now core.Micros) (m protocol.Message, ok bool) {
	if c.pair == nil {
		m, ok = c.Receiver.Read(now, nil)
		m.Data = bytes.Clone(m.Data)
		return m, ok
	}
	base := c.Receiver.Tail()
	got := c.pair.Do(int64(now), channels.Read{}).(channels.ReceiverStep).Read
	if !got.Is {
		return m, false
	}
	return protocol.Message{Sequence: near(got.V.Sequence, base), Data: []byte(got.V.Data), Skipped: got.V.Skipped}, true
}

// near is the number nearest to another that a sequence on the wire can mean.
func near(wire uint16, to core.Number) core.Number {
	return to + core.Number(int16(wire-uint16(to)))
}

// Poll is the event of the receiver. The record is the caller's.
func (c *CheckedReceiver) Poll(now core.Micros, space int) (protocol.Record, bool) {
	if c.pair == nil {
		r, ok := c.Receiver.Poll(now, space)
		return clone(r), ok
	}
	report := c.pair.Do(int64(now), channels.Poll{Space: int64(space)}).(channels.ReceiverStep).Report
	if !report.Is {
		return protocol.Record{}, false
	}
	return recordOf(c.pair, c.format, report.V), true
}

// SetPath is that of the receiver.
func (c *CheckedReceiver) SetPath(p protocol.Path) {
	if c.pair == nil {
		c.Receiver.SetPath(p)
		return
	}
	c.pair.Do(0, channels.ReceiverPath{SRTT: conform.If(int64(p.SRTT), p.Measured)})
}

// Deadline is that of the receiver.
func (c *CheckedReceiver) Deadline() core.Micros { return c.Receiver.Deadline() }

// Failed reports whether the receiver has failed.
func (c *CheckedReceiver) Failed() bool {
	return c.Receiver.State().String() == channeloracle.StateFailed
}

// Complete returns a configuration with the defaults of section 2.
func Complete(c protocol.Config) protocol.Config {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&c.Window, protocol.DefaultWindow)
	set(&c.Data, protocol.DefaultData)
	set(&c.Group, protocol.DefaultGroup)
	set(&c.SendQueue, protocol.DefaultSendQueue)
	set(&c.Fresh, protocol.Fresh)
	if c.GiveUp == 0 {
		c.GiveUp = protocol.DefaultGiveUp
	}
	if c.SequenceBits == 0 {
		c.SequenceBits = core.Wire16
	}
	return c
}
