package chunks

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/oracle/chunkoracle"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/statemachine"
)

// This file is for worlds whose packets are values: each call goes to a machine and to its
// oracle, and then everything that a step or Inside shows must be the same.

// Fail reports a difference, as the Fatalf of a test does. It must not return.
type Fail func(format string, args ...any)

// CheckedSender is a sender beside its oracle.
type CheckedSender struct {
	*statemachine.Sender
	product ProductSender
	oracle  *OracleSender
	fail    Fail
}

// NewCheckedSender returns a new sender, and its oracle with the oracle of its scheduler.
func NewCheckedSender(cfg statemachine.SenderConfig, scheduler chunkoracle.Scheduler, fail Fail) (*CheckedSender, error) {
	giveUp, err := statemachine.CheckGiveUp(cfg.GiveUp)
	if err != nil {
		return nil, err
	}
	c := &CheckedSender{oracle: NewOracleSender(kindOf(cfg.Kind), cfg.FirstChunkID, int64(giveUp), scheduler), fail: fail}
	err = c.product.init(cfg)
	c.Sender = c.product.Sender
	return c, err
}

func kindOf(kind codec.Kind) chunkoracle.Kind {
	if kind == codec.Repair {
		return chunkoracle.Repair
	}
	return chunkoracle.Named
}

// Submit is statemachine.Sender.Submit, of both.
func (c *CheckedSender) Submit(now core.Micros, chunk []byte) error {
	err := c.Sender.Submit(now, chunk)
	row, refused := c.oracle.Submit(int64(now), bytes.Clone(chunk))
	if c.oracle.row = row; refusal(err) != refused {
		c.fail("at %d, submit of %d bytes: %v, want %q", now, len(chunk), err, refused)
	}
	c.compare(now, "submit")
	return err
}

// HandleAck is statemachine.Sender.HandleAck, of both. What no decoder returns is foreign.
func (c *CheckedSender) HandleAck(now core.Micros, a codec.Ack) bool {
	want := chunkoracle.Ack{ChunkID: int64(a.ChunkID), NumSlices: int64(a.NumSlices), Have: int64(a.Have), Top: int64(a.Top)}
	if c.product.kind.ValidateAck(&a) != nil {
		want = chunkoracle.Ack{ChunkID: int64(a.ChunkID), NumSlices: -1}
	} else if c.product.kind == codec.Named {
		want.Acked = boolsOf(a.Acked, a.NumSlices)
	}
	c.product.ours = c.Sender.HandleAck(now, a)
	c.oracle.row = c.oracle.Ack(int64(now), want)
	c.compare(now, "ack")
	return c.product.ours
}

// Poll is statemachine.Sender.Poll, of both.
func (c *CheckedSender) Poll(now core.Micros) (codec.Slice, bool) {
	s, ok := c.Sender.Poll(now)
	row, want := c.oracle.Poll(int64(now))
	c.oracle.row = row
	if ok != (want != nil) || ok && (int64(s.ChunkID) != want.ChunkID || int64(s.SliceID) != want.SliceID || int64(s.NumSlices) != want.NumSlices ||
		int64(s.LastBytes) != want.LastBytes || !bytes.Equal(s.Data, want.Data)) {
		c.fail("at %d, poll: slice %d of chunk %d with %d bytes, %v; want %+v", now, s.SliceID, s.ChunkID, len(s.Data), ok, want)
	}
	c.compare(now, "poll")
	return s, ok
}

// Host calls what a host tells a scheduler, and its oracle.
func (c *CheckedSender) Host(product func(statemachine.Scheduler), oracle func(chunkoracle.Scheduler)) {
	product(c.Scheduler())
	oracle(c.oracle.scheduler)
	c.compare(0, "what the host says")
}

func (c *CheckedSender) compare(now core.Micros, event string) {
	var got, want Step
	c.product.after(&got)
	c.oracle.after(&want)
	c.fail.same(now, event, got, want, c.product.Inside(), c.oracle.Inside(), c.Err())
}

// same fails unless two machines show the same.
func (fail Fail) same(now core.Micros, event string, got, want Step, inside, wantInside any, err error) {
	if !reflect.DeepEqual(got, want) && text(got) != text(want) || inside != wantInside {
		fail("at %d, after %s: %s, %+v\nwant %s, %+v", now, event, text(got), inside, text(want), wantInside)
	}
	if (err != nil) != (want.State == chunkoracle.StateFailed) {
		fail("at %d, after %s: error %v", now, event, err)
	}
}

// CheckedReceiver is a receiver beside its oracle.
type CheckedReceiver struct {
	*statemachine.Receiver
	product ProductReceiver
	oracle  *OracleReceiver
	fail    Fail
	lent    [codec.SliceSize + 2]byte
}

// NewCheckedReceiver returns a new receiver and its oracle.
func NewCheckedReceiver(cfg statemachine.ReceiverConfig, fail Fail) (*CheckedReceiver, error) {
	giveUp, err1 := statemachine.CheckGiveUp(cfg.GiveUp)
	r, err2 := statemachine.NewReceiver(cfg)
	if err1 != nil || err2 != nil {
		return nil, err2
	}
	return &CheckedReceiver{
		Receiver: r, product: ProductReceiver{Receiver: r, kind: cfg.Kind}, oracle: NewOracleReceiver(kindOf(cfg.Kind), cfg.FirstChunkID, int64(giveUp)), fail: fail,
	}, nil
}

// HandleSlice is statemachine.Receiver.HandleSlice, of both. What no decoder returns is of no
// chunk. The receiver is lent the data, which is then overwritten (RCV-11).
func (c *CheckedReceiver) HandleSlice(now core.Micros, s codec.Slice) bool {
	want := chunkoracle.Slice{
		ChunkID: int64(s.ChunkID), SliceID: int64(s.SliceID), NumSlices: int64(s.NumSlices), LastBytes: int64(s.LastBytes), Data: bytes.Clone(s.Data),
	}
	if c.product.kind.ValidateSlice(&s) != nil {
		want = chunkoracle.Slice{ChunkID: -1}
	}
	s.Data = c.lent[:copy(c.lent[:], s.Data)]
	c.product.ours = c.Receiver.HandleSlice(now, s)
	clear(c.lent[:])
	c.oracle.row = c.oracle.Slice(int64(now), want)
	c.compare(now, "slice")
	return c.product.ours
}

// Read is statemachine.Receiver.Read, of both.
func (c *CheckedReceiver) Read(now core.Micros, dst []byte) ([]byte, error) {
	got, err := c.Receiver.Read(now, dst)
	row, want := c.oracle.Read(int64(now))
	if c.oracle.row = row; (err == nil) != (want != nil) || !bytes.Equal(got[len(dst):], want) {
		c.fail("at %d, read: %d bytes, %v; want %d, or other bytes", now, len(got), err, len(want))
	}
	c.compare(now, "read")
	return got, err
}

// Poll is statemachine.Receiver.Poll, of both.
func (c *CheckedReceiver) Poll(now core.Micros) (codec.Ack, bool) {
	a, ok := c.Receiver.Poll(now)
	row, want := c.oracle.Poll(int64(now))
	c.oracle.row = row
	if ok != (want != nil) || ok && (int64(a.ChunkID) != want.ChunkID || int64(a.NumSlices) != want.NumSlices ||
		c.product.kind == codec.Repair && (int64(a.Have) != want.Have || int64(a.Top) != want.Top) || c.product.kind == codec.Named && a.Acked != setOf(want.Acked)) {
		c.fail("at %d, poll: %+v, %v, want %+v", now, a, ok, want)
	}
	c.compare(now, "poll")
	return a, ok
}

func (c *CheckedReceiver) compare(now core.Micros, event string) {
	var got, want Step
	c.product.after(&got)
	c.oracle.after(&want)
	c.fail.same(now, event, got, want, c.product.Inside(), c.oracle.Inside(), c.Err())
}

func text(s Step) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // it has strings and numbers
	}
	return string(b)
}
