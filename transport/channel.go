package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/internal/driver"
)

// Channel is a channel of messages of a [Peer]. It is a value that can be copied.
type Channel struct {
	peer *Peer
	id   uint8
}

// Message is a message as it came.
type Message struct {
	Data []byte // the receiver's
	// Sequence is the place of the message among all of a reliable channel. On another channel it is the number
	// of the packet that brought the message: the larger of two was sent later.
	Sequence core.Number
	// Arrived is when the message arrived at this end's system; zero on a reliable channel.
	Arrived time.Time
	// Skipped says that there is no message: its lifetime was over (SendFor).
	Skipped bool
}

// ID returns the channel's number in Config.Channels.
func (c Channel) ID() uint8 { return c.id }

// inbox is what somebody waits for at a channel.
type inbox struct {
	id      uint8
	awaited bool             // somebody waits
	held    *channel.Message // that came meanwhile
	arrived driver.Signal
}

// Send gives the channel a message, of which it keeps a copy: it goes with the next
// packet, within Config.Tick. On a reliable channel it arrives once, or the channel fails, or
// the connection ends; on an unreliable one it arrives, or does not; on one of kind
// channel.Latest it also takes the place of the message that waits. Send does not wait: it
// fails with ErrQueueFull if as many messages wait as may, with channel.ErrMessageSize beyond
// MaxSize, with ErrNoChannel, with ErrFailed, or with the error that ended the connection.
func (c Channel) Send(message []byte) error { return c.SendFor(message, 0) }

// SendFor is Send of a message that is worth nothing after its lifetime: a reliable
// channel then does not send it any more, and informs the receiver that it was skipped.
// 0 means no limit.
func (c Channel) SendFor(message []byte, lifetime time.Duration) error {
	p := c.peer
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	if p.link.ErrLocked() != nil {
		return p.link.ErrLocked()
	}
	return c.sendLocked(message, lifetime)
}

func (c Channel) sendLocked(message []byte, lifetime time.Duration) error {
	p := c.peer
	now := p.link.Driver.Now()
	if err := c.errLocked(); err != nil {
		return err
	}
	if err := p.conn.Send(now, c.id, message, core.FromDuration(lifetime)); err != nil {
		return c.refused(len(message), err)
	}
	p.link.ScheduleLocked(max(now, p.ends.Deadline()))
	return nil
}

// refused returns why a message was not taken, in words for its sender.
func (c Channel) refused(size int, err error) error {
	switch {
	case errors.Is(err, channel.ErrMessageSize):
		return inWords(fmt.Sprintf("transport: channel %d takes messages of 1 to %d bytes, this one has %d", c.id, c.peer.conn.MaxMessage(c.id), size), err)
	case errors.Is(err, ErrQueueFull):
		return inWords(fmt.Sprintf("transport: channel %d has no room for %d bytes more until others were sent; try again later", c.id, size), err)
	case errors.Is(err, ErrNoChannel):
		return inWords(fmt.Sprintf("transport: Config.Channels has no channel %d", c.id), err)
	}
	return fmt.Errorf("transport: channel %d: %w", c.id, err)
}

// MaxSize returns how many bytes a message of the channel has at most; 0 if there is no such channel. Larger
// data belong into Chunks.
func (c Channel) MaxSize() int {
	c.peer.link.Driver.Lock()
	defer c.peer.link.Driver.Unlock()
	if c.peer.conn == nil {
		return 0
	}
	return c.peer.conn.MaxMessage(c.id)
}

// SendWait is Send that waits for room, as long as the connection and ctx last.
func (c Channel) SendWait(ctx context.Context, message []byte) error {
	return c.peer.await(ctx, func() (done bool, err error) {
		err = c.sendLocked(message, 0)
		if errors.Is(err, ErrQueueFull) {
			return false, nil
		}
		return err == nil, err
	})
}

// errLocked returns why the channel failed, as an error of this package, or nil.
func (c Channel) errLocked() error {
	if c.peer.conn == nil || c.peer.conn.Failed()&(1<<c.id) == 0 {
		return nil
	}
	err := c.peer.conn.ChannelErr(c.id)
	why, _, _ := strings.Cut(err.Error(), ": channel: failed") // it says that once
	return driver.NewError("failed: "+why, ErrFailed, err)
}

// Err returns why a reliable channel has failed, ErrFailed, or nil while it works. The
// connection and its other channels go on.
func (c Channel) Err() error {
	c.peer.link.Driver.Lock()
	defer c.peer.link.Driver.Unlock()
	return c.errLocked()
}

// Recv returns the next message, which is then the caller's. It waits for one as long
// as the channel, the connection and ctx last; messages that came before the end are
// returned first. An ordered channel gives messages in the order in which they were
// sent, the others as they come. Messages that were skipped are left out.
func (c Channel) Recv(ctx context.Context) ([]byte, error) {
	for {
		m, err := c.RecvMessage(ctx)
		if err != nil || !m.Skipped {
			return m.Data, err
		}
	}
}

// RecvMessage is Recv with the metadata of the message. It returns skipped ones, too.
func (c Channel) RecvMessage(ctx context.Context) (Message, error) {
	for {
		if ctx.Err() != nil {
			return Message{}, driver.Canceled(ctx)
		}
		m, arrival, err := c.tryRecv()
		if arrival == nil {
			return m, err
		}
		select {
		case <-arrival:
		case <-ctx.Done():
		}
	}
}

// TryRecv returns the next message, or false if no message is there now: a game that reads
// once a frame does not wait. Messages that were skipped are left out.
func (c Channel) TryRecv() (message []byte, ok bool) {
	m, ok := c.TryRecvMessage()
	for ok && m.Skipped {
		m, ok = c.TryRecvMessage()
	}
	return m.Data, ok
}

// TryRecvMessage is TryRecv with the metadata of the message. It returns skipped ones, too.
func (c Channel) TryRecvMessage() (m Message, ok bool) {
	c.peer.link.Driver.Lock()
	defer c.peer.link.Driver.Unlock()
	return c.readLocked()
}

// tryRecv takes the next message, or returns what to wait for.
func (c Channel) tryRecv() (m Message, arrival <-chan struct{}, err error) {
	p := c.peer
	p.link.Driver.Lock()
	defer p.link.Driver.Unlock()
	m, ok := c.readLocked()
	switch {
	case ok:
		return m, nil, nil
	case !p.config().has(c.id):
		return m, nil, fmt.Errorf("transport: channel %d: %w", c.id, ErrNoChannel)
	case p.link.ErrLocked() != nil:
		return m, nil, p.link.ErrLocked()
	case c.errLocked() != nil:
		return m, nil, c.errLocked()
	}
	in := c.inboxLocked()
	in.awaited = true
	return m, in.arrived.Wait(), nil
}

// readLocked takes the next message, if there is one.
func (c Channel) readLocked() (Message, bool) {
	m, ok := c.takeLocked()
	if !ok {
		return Message{}, false
	}
	out := Message{Data: m.Data, Sequence: m.Sequence, Skipped: m.Skipped}
	if m.Arrived > 0 {
		out.Arrived = c.peer.link.Driver.Time(m.Arrived)
	}
	return out, true
}

func (c Channel) takeLocked() (m channel.Message, ok bool) {
	p := c.peer
	if p.conn == nil {
		return m, false
	}
	i := c.findInboxLocked()
	held := i >= 0 && p.inboxes[i].held != nil
	if held {
		m, p.inboxes[i].held = *p.inboxes[i].held, nil
		if p.config().kind(c.id) != channel.Latest {
			return m, true
		}
	}
	now := p.link.Driver.Now()
	newer, ok := p.conn.Read(now, c.id, nil)
	if ok && !p.over { // there is more room: the other end may want to know
		p.link.ScheduleLocked(max(now, p.ends.Deadline()))
	}
	if ok {
		return newer, true
	}
	return m, held
}

func (c Channel) findInboxLocked() int {
	return slices.IndexFunc(c.peer.inboxes, func(in inbox) bool { return in.id == c.id })
}

// inboxLocked returns the channel's inbox, which it makes if need be.
func (c Channel) inboxLocked() *inbox {
	i := c.findInboxLocked()
	if i < 0 {
		i = len(c.peer.inboxes)
		c.peer.inboxes = append(c.peer.inboxes, inbox{id: c.id})
	}
	return &c.peer.inboxes[i]
}

// deliverMessagesLocked gives those who wait for a message the next one.
func (p *Peer) deliverMessagesLocked(now core.Micros) {
	readable := p.conn.Readable()
	for i := range p.inboxes {
		in := &p.inboxes[i]
		if !in.awaited || (readable|p.conn.Failed())&(1<<in.id) == 0 {
			continue
		}
		if m, ok := p.conn.Read(now, in.id, nil); ok {
			in.held = &m
		}
		in.awaited = false
		in.arrived.Give()
	}
}

// Stats returns the counts of a reliable channel; zeros of another.
func (c Channel) Stats() (channel.SenderStats, channel.ReceiverStats) {
	c.peer.link.Driver.Lock()
	defer c.peer.link.Driver.Unlock()
	if c.peer.conn == nil {
		return channel.SenderStats{}, channel.ReceiverStats{}
	}
	return c.peer.conn.SenderStats(c.id), c.peer.conn.ReceiverStats(c.id)
}
