package channelsim

import (
	"bytes"
	"errors"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim"
	"github.com/chunkwire/chunkwire/core"
)

// CheckedSender is a sender beside its model: each event goes to both, and then everything
// that can be seen of the two must be the same.
type CheckedSender struct {
	Sender *protocol.Sender
	model  *SenderModel
	fail   sim.Fail
}

// NewCheckedSender returns a new sender and its model.
func NewCheckedSender(cfg protocol.Config, fail sim.Fail) (*CheckedSender, error) {
	s, err := protocol.NewSender(cfg)
	if err != nil {
		return nil, err
	}
	return &CheckedSender{Sender: s, model: NewSenderModel(Complete(cfg)), fail: fail}, nil
}

// Send is the event of the sender.
func (c *CheckedSender) Send(now core.Micros, message []byte, lifetime core.Micros) error {
	before := bytes.Clone(message)
	err := c.Sender.Send(now, message, lifetime)
	row, refused := c.model.Send(now, message, lifetime)
	c.fail.Same("refusal", refusal(err), refused)
	c.fail.Same("the caller's message", message, before)
	c.compare(row)
	return err
}

// refusal returns the code of an error of Send.
func refusal(err error) core.Code {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, protocol.ErrMessageSize):
		return "message_size"
	case errors.Is(err, protocol.ErrQueueFull):
		return "queue_full"
	case errors.Is(err, protocol.ErrFailed):
		return "failed"
	}
	return core.Code(err.Error())
}

// Report is the event of the sender.
func (c *CheckedSender) Report(now core.Micros, number, ack core.Number, r *protocol.Record) {
	c.Sender.Report(now, number, ack, r)
	c.compare(c.model.Report(now, number, ack, r))
}

// Poll is the event of the sender. The record is the caller's.
func (c *CheckedSender) Poll(now core.Micros, number core.Number, space int) (protocol.Record, bool) {
	r, ok := c.Sender.Poll(now, number, space)
	row, model, modelOK := c.model.Poll(now, number, space)
	r = clone(r)
	c.fail.Same("a record", ok, modelOK)
	c.fail.Same("record", r, clone(model))
	c.compare(row)
	return r, ok
}

// clone returns a record that shares nothing with another. What is empty in it is nil.
func clone(r protocol.Record) protocol.Record {
	r.Data, r.Groups = append([]byte(nil), r.Data...), append([]protocol.Group(nil), r.Groups...)
	return r
}

// SetPath is that of the sender.
func (c *CheckedSender) SetPath(p protocol.Path) {
	c.Sender.SetPath(p)
	c.model.path = p
	c.compare(c.Sender.Row())
}

// Deadline is that of the sender.
func (c *CheckedSender) Deadline() core.Micros { return c.Sender.Deadline() }

// Failed reports whether the sender has failed.
func (c *CheckedSender) Failed() bool { return c.model.failed }

// compare compares all that can be seen.
func (c *CheckedSender) compare(row core.Row) {
	s, m := c.Sender, c.model
	c.fail.Same("row", s.Row(), row)
	c.fail.Same("state", s.State().String(), stateName(m.failed))
	c.fail.Same("deadline", s.Deadline(), m.Deadline())
	c.fail.Same("base, limit", []core.Number{s.Base(), s.Limit()}, []core.Number{m.base, m.limit})
	c.fail.Same("implausible reports", s.Stats().Implausible, m.implausible)
	c.fail.Same("an error", s.Err() != nil, m.failed)
}

func stateName(failed bool) string {
	if failed {
		return "FAILED"
	}
	return "OPEN"
}

// CheckedReceiver is a receiver beside its model, as CheckedSender is a sender.
type CheckedReceiver struct {
	Receiver *protocol.Receiver
	model    *ReceiverModel
	fail     sim.Fail
}

// NewCheckedReceiver returns a new receiver and its model.
func NewCheckedReceiver(cfg protocol.Config, fail sim.Fail) (*CheckedReceiver, error) {
	r, err := protocol.NewReceiver(cfg)
	if err != nil {
		return nil, err
	}
	return &CheckedReceiver{Receiver: r, model: NewReceiverModel(Complete(cfg)), fail: fail}, nil
}

// Handle is the event of the receiver.
func (c *CheckedReceiver) Handle(now core.Micros, r *protocol.Record) {
	before := clone(*r)
	c.Receiver.Handle(now, r)
	row := c.model.Handle(now, r)
	c.fail.Same("the caller's record", clone(*r), before)
	c.compare(row)
}

// Read is the event of the receiver. What was read is the caller's.
func (c *CheckedReceiver) Read(now core.Micros) (protocol.Message, bool) {
	head := []byte("head")
	d, ok := c.Receiver.Read(now, head)
	row, model, modelOK := c.model.Read(now)
	c.fail.Same("something to read", ok, modelOK)
	c.compare(row)
	if !ok {
		return protocol.Message{}, false
	}
	model.Data = append(head, model.Data...)
	c.fail.Same("what was read", d, model)
	d.Data = bytes.Clone(d.Data[len(head):])
	return d, true
}

// Poll is the event of the receiver. The record is the caller's.
func (c *CheckedReceiver) Poll(now core.Micros, space int) (protocol.Record, bool) {
	r, ok := c.Receiver.Poll(now, space)
	row, model, modelOK := c.model.Poll(now, space)
	r = clone(r)
	c.fail.Same("a report", ok, modelOK)
	c.fail.Same("report", r, clone(model))
	c.compare(row)
	return r, ok
}

// SetPath is that of the receiver.
func (c *CheckedReceiver) SetPath(p protocol.Path) {
	c.Receiver.SetPath(p)
	c.model.path = p
	c.compare(c.Receiver.Row())
}

// Deadline is that of the receiver.
func (c *CheckedReceiver) Deadline() core.Micros { return c.Receiver.Deadline() }

// Failed reports whether the receiver has failed.
func (c *CheckedReceiver) Failed() bool { return c.model.failed }

// compare compares all that can be seen.
func (c *CheckedReceiver) compare(row core.Row) {
	r, m := c.Receiver, c.model
	c.fail.Same("row", r.Row(), row)
	c.fail.Same("state", r.State().String(), stateName(m.failed))
	c.fail.Same("deadline", r.Deadline(), m.Deadline())
	c.fail.Same("counted", []int64{r.Stats().Beyond, r.Stats().Conflicts}, []int64{m.beyond, m.conflicts})
	c.fail.Same("an error", r.Err() != nil, m.failed)
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
