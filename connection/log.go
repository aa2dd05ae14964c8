package connection

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"net/netip"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
	"github.com/chunkwire/chunkwire/packet"
)

// Each function of this file does nothing without a log.

// logOf returns the log of a connection. Its number is the number of the link, which both ends know.
func logOf(log eventlog.Log, side Side, link *session.Link) eventlog.Log {
	if side == ClientSide {
		return log.Of(int(link.ID()), eventlog.Client)
	}
	return log.Of(int(link.ID()), eventlog.Server)
}

// logStarted logs that the connection has begun, and with whom if that is known here.
func (c *Conn) logStarted(cfg *Config, side Side, peer *session.Address) {
	if c.log == nil {
		return
	}
	agreed := c.link.Agreed()
	e := eventlog.Event{
		Kind: eventlog.ConnectionStarted, At: c.now, Role: string(eventlog.Client), Mode: c.link.Mode().String(),
		Variant: "slices", Lanes: agreed.Lanes, ProtocolID: fmt.Sprintf("%016x", cfg.Protocol),
	}
	if side == ServerSide {
		e.Role = string(eventlog.Server)
	}
	if c.records.Repair {
		e.Variant = "repair"
	}
	if peer != nil {
		e.Remote = remote(*peer)
	}
	c.log(e)
}

// logStep logs that the state has changed, and with the last one why the connection ended.
func (c *Conn) logStep(from State) {
	if c.log == nil || c.state == from {
		return
	}
	c.log(eventlog.Event{Kind: eventlog.State, At: c.now, Machine: "connection", From: from.String(), To: c.state.String(), Row: c.row})
	if c.state == Closed {
		c.log(endedEvent(c.now, c.err))
	}
}

// endedEvent says why a connection has ended.
func endedEvent(now core.Micros, err error) eventlog.Event {
	e := eventlog.Event{Kind: eventlog.ConnectionEnded, At: now, Why: whyEnded(err)}
	closed, refused := new(ClosedError), new(session.RefusedError)
	switch {
	case errors.As(err, &closed):
		e.Code, e.Text = fmt.Sprint(closed.Code), closed.Text
	case errors.As(err, &refused):
		e.Text = refused.Reason.String()
	}
	return e
}

// remote returns an address as text.
func remote(a session.Address) string {
	port := binary.LittleEndian.Uint16(a[16:])
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(a[:16])).Unmap(), port).String()
}

// whyEnded returns the name of a cause.
func whyEnded(err error) string {
	closed := new(ClosedError)
	switch {
	case errors.Is(err, ErrReplaced):
		return "replaced"
	case errors.Is(err, session.ErrTimeout):
		return "timeout"
	case errors.Is(err, ErrFailed):
		return "failed"
	case errors.As(err, &closed) && closed.Remote:
		return "closed_by_peer"
	case errors.As(err, &closed):
		return "closed"
	}
	return "refused"
}

// logRefused logs a datagram that was refused, if so many can be logged of its code and its source (CXA-5).
func (m *Memory) logRefused(log eventlog.Log, now core.Micros, source uint64, datagram []byte, err error) {
	if log == nil || err == nil {
		return
	}
	e := eventlog.Event{Kind: eventlog.DatagramRefused, At: now, Code: "other", Bytes: len(datagram)}
	if refusal := new(core.Error); errors.As(err, &refusal) {
		e.Code, e.Sentence = string(refusal.Code()), refusal.Rule()
	}
	if omitted, ok := m.refusals.Take(now, e.Code, source); ok {
		e.Count = omitted
		log(e)
	}
}

// logPacket logs a packet with a payload.
func (c *Conn) logPacket(kind eventlog.Kind, number, size int) {
	if c.log != nil {
		c.log(eventlog.Event{Kind: kind, At: c.now, Number: number, Bytes: size})
	}
}

// logFate logs that a packet was acked, or is taken as lost.
func (c *Conn) logFate(e packet.Event) {
	switch {
	case c.log == nil:
	case e.Kind == packet.EventAcked:
		c.log(eventlog.Event{Kind: eventlog.PacketAcked, At: c.now, Number: int(e.Number)})
	default:
		c.log(eventlog.Event{Kind: eventlog.PacketLost, At: c.now, Number: int(e.Number)})
	}
}

// logMessage logs a message that the application gave, or got.
func (c *Conn) logMessage(kind eventlog.Kind, id uint8, sequence, size int) {
	if c.log != nil {
		c.log(eventlog.Event{Kind: kind, At: c.now, Channel: int(id), Sequence: sequence, Bytes: size})
	}
}

// logChannels logs the channels that have failed since.
func (c *Conn) logChannels() {
	if c.log == nil || c.mux.Failed() == c.failed {
		return
	}
	for set := c.mux.Failed() &^ c.failed; set != 0; set &= set - 1 {
		c.log(eventlog.Event{Kind: eventlog.ChannelFailed, At: c.now, Channel: bits.TrailingZeros64(set), Why: eventlog.GaveUp})
	}
	c.failed = c.mux.Failed()
}

// logState logs that the handshake of a client is in another state, and why it ended before
// there was a connection.
func (c *Client) logState(now core.Micros, from session.ClientState) {
	to := c.session.State()
	if c.log == nil || to == from {
		return
	}
	c.log(eventlog.Event{Kind: eventlog.State, At: now, Machine: "session-client", From: from.String(), To: to.String(), Row: c.session.Row()})
	if to == session.Closed && c.conn == nil {
		c.log(endedEvent(now, c.Err()))
	}
}
