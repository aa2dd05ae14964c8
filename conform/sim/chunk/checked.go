package chunk

import (
	"bytes"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// Fail reports a difference, as the Fatalf of a test does. It must not return.
type Fail func(format string, args ...any)

// CheckedSender is a sender beside its model: each event goes to both, and then
// everything that can be seen of the two must be the same.
type CheckedSender struct {
	*statemachine.Sender
	model  SenderMachine
	follow *follower // nil if the model has a scheduler of its own
	fail   Fail
}

// NewCheckedSender returns a new sender and its model. Where the scheduler has no
// model, the sender's model is given what the sender's scheduler returns.
func NewCheckedSender(cfg statemachine.SenderConfig, scheduler statemachine.Scheduler, fail Fail) (*CheckedSender, error) {
	c := &CheckedSender{fail: fail}
	modelCfg := cfg
	if modelCfg.Scheduler = scheduler; scheduler == nil {
		c.follow = &follower{tap: &tap{Scheduler: cfg.Scheduler}}
		cfg.Scheduler, modelCfg.Scheduler = c.follow.tap, c.follow
	}
	var err error
	c.model = newSenderModel(modelCfg)
	c.Sender, err = statemachine.NewSender(cfg)
	return c, err
}

func newSenderModel(cfg statemachine.SenderConfig) SenderMachine {
	if cfg.Kind == codec.Repair {
		return NewRepairSenderModel(cfg)
	}
	return NewSenderModel(cfg)
}

// Submit is statemachine.Sender.Submit, of both.
func (c *CheckedSender) Submit(now core.Micros, chunk []byte) error {
	err := c.Sender.Submit(now, chunk)
	if want := c.model.Submit(now, chunk); err != want {
		c.fail("at %d, submit of %d bytes: %v, want %v", now, len(chunk), err, want)
	}
	c.compare(now, "submit")
	return err
}

// HandleAck is statemachine.Sender.HandleAck, of both.
func (c *CheckedSender) HandleAck(now core.Micros, a codec.Ack) bool {
	ours := c.Sender.HandleAck(now, a)
	if want := c.model.HandleAck(now, a); ours != want {
		c.fail("at %d, ack of chunk %d, of this connection: %v, want %v", now, a.ChunkID, ours, want)
	}
	c.compare(now, "ack")
	return ours
}

// Poll is statemachine.Sender.Poll, of both.
func (c *CheckedSender) Poll(now core.Micros) (codec.Slice, bool) {
	s, ok := c.Sender.Poll(now)
	want, wantOK := c.model.Poll(now)
	if ok != wantOK || s.ChunkID != want.ChunkID || s.SliceID != want.SliceID || s.NumSlices != want.NumSlices || s.LastBytes != want.LastBytes || !bytes.Equal(s.Data, want.Data) {
		c.fail("at %d, poll: slice %d of %d of chunk %d with %d bytes, %v; want %d of %d of %d with %d, %v, or other bytes", now,
			s.SliceID, s.NumSlices, s.ChunkID, len(s.Data), ok, want.SliceID, want.NumSlices, want.ChunkID, len(want.Data), wantOK)
	}
	c.compare(now, "poll")
	return s, ok
}

func (c *CheckedSender) compare(now core.Micros, event string) {
	if c.follow != nil {
		if differs := c.follow.Settle(); differs != "" {
			c.fail("at %d, %s: %s", now, event, differs)
		}
	}
	compare[statemachine.SenderVars, statemachine.SenderStats](c.fail, now, event, c.Sender, c.model)
}

// CheckedReceiver is a receiver beside its model, as CheckedSender.
type CheckedReceiver struct {
	*statemachine.Receiver
	model receiverModel
	fail  Fail
	lent  [codec.SliceSize + 2]byte
}

// receiverModel is a model that also says which slices are here.
type receiverModel interface {
	ReceiverMachine
	IDs() []int
}

func newReceiverModel(cfg statemachine.ReceiverConfig) receiverModel {
	if cfg.Kind == codec.Repair {
		return NewRepairReceiverModel(cfg)
	}
	return NewReceiverModel(cfg)
}

// NewCheckedReceiver returns a new receiver and its model.
func NewCheckedReceiver(cfg statemachine.ReceiverConfig, fail Fail) (*CheckedReceiver, error) {
	r, err := statemachine.NewReceiver(cfg)
	return &CheckedReceiver{Receiver: r, model: newReceiverModel(cfg), fail: fail}, err
}

// HandleSlice is statemachine.Receiver.HandleSlice, of both. The model keeps the
// data; the receiver is lent a copy, which is then overwritten (RCV-11).
func (c *CheckedReceiver) HandleSlice(now core.Micros, s codec.Slice) bool {
	want := c.model.HandleSlice(now, s)
	s.Data = c.lent[:copy(c.lent[:], s.Data)]
	ours := c.Receiver.HandleSlice(now, s)
	clear(c.lent[:])
	if ours != want {
		c.fail("at %d, slice of chunk %d, of this connection: %v, want %v", now, s.ChunkID, ours, want)
	}
	c.compare(now, "slice")
	return ours
}

// Read is statemachine.Receiver.Read, of both.
func (c *CheckedReceiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	before := bytes.Clone(dst)
	got, err := c.Receiver.Read(now, dst)
	want, wantErr := c.model.Read(now, before)
	if err != wantErr || !bytes.Equal(got, want) {
		c.fail("at %d, read: %d bytes, %v; want %d, %v, or other bytes", now, len(got), err, len(want), wantErr)
	}
	c.compare(now, "read")
	return got, err
}

// Poll is statemachine.Receiver.Poll, of both.
func (c *CheckedReceiver) Poll(now core.Micros) (codec.Ack, bool) {
	a, ok := c.Receiver.Poll(now)
	if want, wantOK := c.model.Poll(now); ok != wantOK || a != want {
		c.fail("at %d, poll: %+v, %v, want %+v, %v", now, a, ok, want, wantOK)
	}
	c.compare(now, "poll")
	return a, ok
}

func (c *CheckedReceiver) compare(now core.Micros, event string) {
	compare[statemachine.ReceiverVars, statemachine.ReceiverStats](c.fail, now, event, c.Receiver, c.model)
	if g, w := c.IDs(), c.model.IDs(); !slices.Equal(g, w) {
		c.fail("at %d, after %s: slices %v are here, want %v", now, event, g, w)
	}
}

// visible is what can be seen of a machine.
type visible[V, S comparable] interface {
	Vars() V
	Deadline() core.Micros
	Stats() S
	Err() error
}

// compare fails unless a machine and its model look the same.
func compare[V, S comparable](fail Fail, now core.Micros, event string, got, want visible[V, S]) {
	if g, w := got.Vars(), want.Vars(); g != w {
		fail("at %d, after %s: %+v\nwant %+v", now, event, g, w)
	}
	if g, w := got.Deadline(), want.Deadline(); g != w {
		fail("at %d, after %s: deadline %d, want %d; %+v", now, event, g, w, want.Vars())
	}
	if g, w := got.Stats(), want.Stats(); g != w {
		fail("at %d, after %s: %+v\nwant %+v", now, event, g, w)
	}
	if g, w := got.Err(), want.Err(); g != w {
		fail("at %d, after %s: error %v, want %v", now, event, g, w)
	}
}
