package repair

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/conform/sim/chunk"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// CheckedSender is a sender beside its model: each event goes to both, and then
// everything that can be seen of the two must be the same.
type CheckedSender struct {
	*statemachine.Sender
	model  *SenderModel
	follow *follower
	fail   chunk.Fail
}

// NewCheckedSender returns a new sender and its model, whose scheduler returns what the
// sender's returns.
func NewCheckedSender(cfg statemachine.SenderConfig, fail chunk.Fail) (*CheckedSender, error) {
	c := &CheckedSender{fail: fail, follow: &follower{&tap{Scheduler: cfg.Scheduler}}}
	modelCfg := cfg
	cfg.Scheduler, modelCfg.Scheduler = c.follow.tap, c.follow
	var err error
	c.model = NewSenderModel(modelCfg)
	c.Sender, err = statemachine.NewSender(cfg)
	return c, err
}

// Submit is repair.Sender.Submit, of both.
func (c *CheckedSender) Submit(now core.Micros, chunk []byte) error {
	err := c.Sender.Submit(now, chunk)
	if want := c.model.Submit(now, chunk); err != want {
		c.fail("at %d, submit of %d bytes: %v, want %v", now, len(chunk), err, want)
	}
	c.compare(now, "submit")
	return err
}

// HandleAck is repair.Sender.HandleAck, of both.
func (c *CheckedSender) HandleAck(now core.Micros, a codec.Ack) bool {
	ours := c.Sender.HandleAck(now, a)
	if want := c.model.HandleAck(now, a); ours != want {
		c.fail("at %d, ack %+v, of this connection: %v, want %v", now, a, ours, want)
	}
	c.compare(now, "ack")
	return ours
}

// Poll is repair.Sender.Poll, of both.
func (c *CheckedSender) Poll(now core.Micros) (codec.Slice, bool) {
	s, ok := c.Sender.Poll(now)
	want, wantOK := c.model.Poll(now)
	if ok != wantOK || s.ChunkID != want.ChunkID || s.SliceID != want.ID || s.NumSlices != want.NumSlices || s.LastBytes != want.LastBytes || !bytes.Equal(s.Data, want.Data) {
		c.fail("at %d, poll: id %d of %d slices of chunk %d with %d bytes, %v; want %d of %d of %d with %d, %v, or other bytes", now,
			s.SliceID, s.NumSlices, s.ChunkID, len(s.Data), ok, want.ID, want.NumSlices, want.ChunkID, len(want.Data), wantOK)
	}
	c.compare(now, "poll")
	return s, ok
}

func (c *CheckedSender) compare(now core.Micros, event string) {
	if differs := c.follow.Settle(); differs != "" {
		c.fail("at %d, %s: %s", now, event, differs)
	}
	chunk.Compare[statemachine.SenderVars, statemachine.SenderStats](c.fail, now, event, c.Sender, c.model,
		func(a, b statemachine.SenderVars) bool { return a == b })
}

// CheckedReceiver is a receiver beside its model, as CheckedSender.
type CheckedReceiver struct {
	*statemachine.Receiver
	model *ReceiverModel
	fail  chunk.Fail
	lent  [erasure.SliceSize + 2]byte
}

// NewCheckedReceiver returns a new receiver and its model.
func NewCheckedReceiver(cfg statemachine.ReceiverConfig, fail chunk.Fail) (*CheckedReceiver, error) {
	r, err := statemachine.NewReceiver(cfg)
	return &CheckedReceiver{Receiver: r, model: NewReceiverModel(cfg), fail: fail}, err
}

// HandleSlice is repair.Receiver.HandleSlice, of both. The model keeps the data; the
// receiver is lent a copy, which is then overwritten.
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

// Read is repair.Receiver.Read, of both.
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

// Poll is repair.Receiver.Poll, of both.
func (c *CheckedReceiver) Poll(now core.Micros) (codec.Ack, bool) {
	a, ok := c.Receiver.Poll(now)
	if want, wantOK := c.model.Poll(now); ok != wantOK || a != want {
		c.fail("at %d, poll: %+v, %v, want %+v, %v", now, a, ok, want, wantOK)
	}
	c.compare(now, "poll")
	return a, ok
}

func (c *CheckedReceiver) compare(now core.Micros, event string) {
	chunk.Compare[statemachine.ReceiverVars, statemachine.ReceiverStats](c.fail, now, event, c.Receiver, c.model, sameVars)
}

// sameVars compares what is not comparable because of the ids that are held.
func sameVars(a, b statemachine.ReceiverVars) bool {
	if !slices.Equal(a.Held, b.Held) {
		return false
	}
	a.Held, b.Held = nil, nil
	return reflect.DeepEqual(a, b)
}
