package connection

import (
	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/codec/erasure"
	"github.com/chunkwire/chunkwire/connection/lanes"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/packet"
)

// incoming describes a payload that arrived.
type incoming struct {
	reliable bool         // it has a record of a reliable channel
	refusal  error        // why its records are refused; ErrLied: it acks a packet that was not sent
	closed   *ClosedError // it has a CLOSE

	last, next int32 // where the last record begins that is not of the channels, and what follows it
}

// takePayload takes the payload of a packet (CXM-7). It is decoded whole before anything of it
// counts (CXR-5). An end that closes gives nothing to channels and chunk machines any more.
func (c *Conn) takePayload(d packet.Delivery) packet.Verdict {
	c.logPacket(eventlog.PacketReceived, int(d.Number), len(d.Payload))
	quiet, lies, err := c.check(&d)
	if err != nil {
		c.in.refusal = err
		return packet.Refuse
	}
	if c.in.reliable && d.Behind >= mostBehind {
		return packet.Refuse
	}
	if lies && c.state == Open {
		c.in.refusal = ErrLied
		return packet.Refuse
	}
	c.marks.took(d.Number)
	if c.state == Open && c.in.closed == nil {
		c.apply(&d)
	}
	if quiet || c.state != Open {
		return packet.TakeQuietly
	}
	return packet.Take
}

// check decodes a payload to its end. lies reports that it acks a packet that was not sent (CXM-19 to CXM-21).
func (c *Conn) check(d *packet.Delivery) (quiet, lies bool, err error) {
	payload := d.Payload
	quiet, lies = true, d.Unsent
	c.in.last = -1
	for at, more := 0, true; more; more = at < len(payload) {
		var isQuiet bool
		if !c.records.IsRecord(payload, at) {
			c.in.reliable = c.in.reliable || payload[at] > byte(channel.TypeUnreliable)
			at, isQuiet, err = c.mux.Check(payload, at)
		} else {
			c.in.last = int32(at)
			at, isQuiet, err = c.checkRecord(payload, at)
			c.in.next = int32(at)
			if r := &c.memory.record; err == nil && r.Type == TypeChunkAck && !lies {
				lies = c.witnesses.lies(d, r)
			}
		}
		if err != nil {
			return false, false, err
		}
		quiet = quiet && isQuiet
	}
	return quiet, lies, nil
}

// checkRecord decodes a record of the connection.
func (c *Conn) checkRecord(payload []byte, at int) (next int, quiet bool, err error) {
	next, refusal := c.records.decode(payload, at, &c.memory.record)
	if refusal != nil {
		c.counts.refuse(refusal)
		return at, false, refusal
	}
	if r := &c.memory.record; r.Type == TypeClose {
		c.in.closed = &ClosedError{Code: r.Code, Text: string(r.Text), Remote: true}
	}
	return next, c.memory.record.quiet(), nil
}

// apply gives the records of a payload that is sound to the machines that they are for (CXM-10).
func (c *Conn) apply(d *packet.Delivery) {
	for at := 0; at < len(d.Payload); {
		if !c.records.IsRecord(d.Payload, at) {
			at = c.mux.Apply(c.now, d.Number, d.Ack, d.Payload, at)
			continue
		}
		r := &c.memory.record
		if at == int(c.in.last) { // it was decoded last
			at = int(c.in.next)
		} else {
			r = &c.memory.earlier
			at, _ = c.records.decode(d.Payload, at, r)
		}
		switch r.Type {
		case TypeSlice:
			c.lanes.HandleSlice(c.now, r.Lane, r.Slice)
		case TypeChunkAck:
			c.witnesses.believe(d, r)
			c.lanes.HandleAck(c.now, r.Lane, r.Ack)
			c.marks.hear(d.Number, r)
		case TypeECN:
			c.marks.hear(d.Number, r)
		case TypeClock:
			c.clocks.hear(c.now, d.Number, r.Clock)
		}
	}
}

// Send gives a channel a message, of which it keeps a copy. What is reliable is at the other
// end in the end, or the channel fails; if lifetime is not 0 the message expires that much later.
// Send fails with channel.ErrMessageSize, channel.ErrQueueFull, channel.ErrUnknownChannel,
// channel.ErrFailed, or with Err; then nothing has changed.
func (c *Conn) Send(now core.Micros, id uint8, message []byte, lifetime core.Micros) error {
	c.advance(now)
	if c.state != Open {
		return c.err
	}
	err := c.mux.Send(c.now, id, message, lifetime)
	if err == nil {
		c.logMessage(eventlog.MessageSent, id, 0, len(message))
	}
	return err
}

// SendNow ends a tick of the application: messages that wait to be sent for the first time are due now, as far as
// pace and budget allow, except on a path that is congested (CXM-28).
func (c *Conn) SendNow(now core.Micros) {
	c.advance(now)
	if c.packets.Mode() == packet.Good {
		c.tickAt = min(c.tickAt, c.now)
	}
}

// MaxMessage returns how many bytes a message of a channel has at most; 0 if there is no such channel.
func (c *Conn) MaxMessage(id uint8) int { return c.mux.MaxMessage(id) }

// Read delivers one message of a channel, or says that one was skipped. The message is appended
// to dst. If nothing is ready ok is false. What came can be read also after the end (CXL-12).
func (c *Conn) Read(now core.Micros, id uint8, dst []byte) (message channel.Message, ok bool) {
	c.advance(now)
	message, ok = c.mux.Read(c.now, id, dst)
	if ok && !message.Skipped {
		c.logMessage(eventlog.MessageDelivered, id, int(message.Sequence), len(message.Data)-len(dst))
	}
	return message, ok
}

// Readable returns the channels of which Read delivers something, as a set of their ids: bit n
// is channel n.
func (c *Conn) Readable() uint64 { return c.mux.Readable() }

// Failed returns the channels that have failed, as a set of their ids: bit n is channel n. The
// others, and the connection, go on (CXL-17).
func (c *Conn) Failed() uint64 { return c.mux.Failed() }

// ChannelErr returns why a reliable channel failed; nil while it works, and for another id. It
// wraps channel.ErrFailed.
func (c *Conn) ChannelErr(id uint8) error { return c.mux.ChannelErr(id) }

// SendChunk puts a chunk of 1 to codec.MaxChunkSize bytes in line, and returns its number: they
// count from 0. The chunk is not copied: it must stay as it is until ChunkDone returned its
// number, or the connection has closed. SendChunk fails with statemachine.ErrChunkSize,
// lanes.ErrBusy, ErrNoLanes, or with Err; then nothing has changed.
func (c *Conn) SendChunk(now core.Micros, chunk []byte) (number int64, err error) {
	return c.SendEncoded(now, erasure.EncodeForOne(chunk))
}

// SendEncoded is SendChunk for a chunk of which others can send the same slices.
func (c *Conn) SendEncoded(now core.Micros, e *erasure.Encoded) (number int64, err error) {
	c.advance(now)
	switch {
	case c.state != Open:
		return 0, c.err
	case c.lanes == nil:
		return 0, ErrNoLanes
	}
	return c.lanes.SubmitEncoded(c.now, e)
}

// WithdrawChunk takes a chunk out of the line, and reports whether it did: one that is in flight
// cannot be taken back.
func (c *Conn) WithdrawChunk(number int64) bool { return c.lanes != nil && c.lanes.Withdraw(number) }

// ChunkDone returns the number of a chunk that the other end has whole, once for each.
func (c *Conn) ChunkDone() (number int64, ok bool) {
	if c.lanes == nil {
		return 0, false
	}
	return c.lanes.Finished()
}

// ChunkSize returns how many bytes the chunk has that ReadChunk delivers next, or 0 if it is not
// complete.
func (c *Conn) ChunkSize() int {
	if c.lanes == nil {
		return 0
	}
	return c.lanes.ReadSize()
}

// Work does some of what ReadChunk has to do before, and reports whether nothing is left, as
// [statemachine.Receiver.Work].
func (c *Conn) Work(operations int) (done bool) { return c.lanes == nil || c.lanes.Work(operations) }

// ReadChunk appends the next chunk to dst, if it is complete. They come in the order in which
// they were sent. A chunk that is not read makes the other end wait.
func (c *Conn) ReadChunk(now core.Micros, dst []byte) (chunk []byte, ok bool) {
	c.advance(now)
	if c.lanes == nil {
		return dst, false
	}
	return c.lanes.Read(c.now, dst)
}

// ChunkReadTime returns how long the chunk took that ReadChunk returned last, from its first slice to the last
// new one.
func (c *Conn) ChunkReadTime() core.Micros { return c.lanes.ReadTime() }

// ChunkStats returns what the lanes did so far; zeros without lanes.
func (c *Conn) ChunkStats() (st lanes.Stats) {
	if c.lanes != nil {
		st = c.lanes.Stats()
	}
	return st
}

// Lanes returns how many lanes the ends agreed on.
func (c *Conn) Lanes() int { return c.records.Lanes }

// Delivered reports whether all that was given to the connection was sent, and what is reliable
// is at the other end. What a channel kept when it failed never will be.
func (c *Conn) Delivered() bool {
	return c.mux.Delivered() && !c.bodies.waiting() && (c.lanes == nil || !c.lanes.Sending())
}
