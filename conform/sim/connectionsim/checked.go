package connectionsim

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/sim"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// CheckedConn is a connection beside its model: each event goes to both, and then everything
// that can be seen of the two must be the same.
type CheckedConn struct {
	Conn  *protocol.Conn
	model *ConnModel
	fail  sim.Fail
}

// NewCheckedConn returns a new connection over a link, and its model.
func NewCheckedConn(cfg protocol.Config, link session.LinkConfig, side Side, now core.Micros, fail sim.Fail) (*CheckedConn, error) {
	complete, err1 := cfg.Complete()
	c, err2 := protocol.NewConn(cfg, session.NewLink(link), protocol.Side(side), now)
	m, err3 := NewConnModel(complete, session.NewLink(link), side, now)
	return &CheckedConn{c, m, fail}, errors.Join(err1, err2, err3)
}

// Poll is the event of the connection.
func (c *CheckedConn) Poll(now core.Micros) (datagram []byte, ok bool) {
	datagram, ok = c.Conn.Poll(now, nil)
	row, model := c.model.Poll(now)
	c.fail.Same("datagram", append([]byte(nil), datagram...), model)
	c.fail.Same("a datagram", ok, model != nil)
	c.compare(row)
	return datagram, ok
}

// Receive is the event datagram of the connection.
func (c *CheckedConn) Receive(now core.Micros, datagram []byte, ecn protocol.ECN) error {
	before := bytes.Clone(datagram)
	err := c.Conn.ReceiveECN(now, datagram, ecn)
	c.fail.Same("the caller's datagram", datagram, before)
	c.compare(c.model.Receive(now, datagram, ecn))
	return err
}

// Close is the event of the connection. One that is refused is none.
func (c *CheckedConn) Close(now core.Micros, code uint16, text string) error {
	err := c.Conn.Close(now, code, text)
	if err == nil {
		c.compare(c.model.Close(now, code, text))
	}
	return err
}

// Send gives a message to both.
func (c *CheckedConn) Send(now core.Micros, id uint8, message []byte, lifetime core.Micros) error {
	err := c.Conn.Send(now, id, message, lifetime)
	c.model.event(now)
	if c.model.state == "OPEN" {
		c.fail.Same("refusal", err, c.model.mux.Send(c.model.now, id, message, lifetime))
	} else {
		c.fail.Same("a refusal", err != nil, true)
	}
	c.compare(c.Conn.Row())
	return err
}

// Read reads a message from both.
func (c *CheckedConn) Read(now core.Micros, id uint8) (channel.Message, bool) {
	r, ok := c.Conn.Read(now, id, nil)
	c.model.event(now)
	m, modelOK := c.model.mux.Read(c.model.now, id, nil)
	c.fail.Same("something to read", ok, modelOK)
	c.fail.Same("message", r, m)
	c.compare(c.Conn.Row())
	return r, ok
}

// SendChunk gives a chunk to both.
func (c *CheckedConn) SendChunk(now core.Micros, chunk []byte) error {
	number, err := c.Conn.SendChunk(now, chunk)
	c.model.event(now)
	switch {
	case c.model.state != "OPEN":
		c.fail.Same("a refusal", err != nil, true)
	case c.model.lanes == nil:
		c.fail.Same("refusal", err, protocol.ErrNoLanes)
	default:
		n, refusal := c.model.lanes.Submit(c.model.now, bytes.Clone(chunk))
		c.fail.Same("number", number, n)
		c.fail.Same("refusal", fmt.Sprint(err), fmt.Sprint(refusal))
	}
	c.compare(c.Conn.Row())
	return err
}

// ReadChunk reads a chunk from both.
func (c *CheckedConn) ReadChunk(now core.Micros) ([]byte, bool) {
	chunk, ok := c.Conn.ReadChunk(now, nil)
	c.model.event(now)
	if c.model.lanes != nil {
		m, modelOK := c.model.lanes.Read(c.model.now, nil)
		c.fail.Same("a chunk", ok, modelOK)
		c.fail.Same("chunk", chunk, m)
	}
	c.compare(c.Conn.Row())
	return chunk, ok
}

// why returns why a connection has ended, in the model's words.
func why(err error) string {
	var closed *protocol.ClosedError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &closed) && closed.Remote:
		return fmt.Sprintf("closed by the peer: %d %q", closed.Code, closed.Text)
	case errors.As(err, &closed):
		return fmt.Sprintf("closed here: %d %q", closed.Code, closed.Text)
	case errors.Is(err, session.ErrTimeout):
		return "timed out"
	case errors.Is(err, protocol.ErrFailed):
		return "failed"
	}
	return err.Error()
}

// compare compares all that can be seen.
func (c *CheckedConn) compare(row core.Row) {
	r, m := c.Conn, c.model
	c.fail.Same("row", r.Row(), row)
	c.fail.Same("state", r.State().String(), m.state)
	c.fail.Same("deadline", max(m.now, r.Deadline()), max(m.now, m.Deadline()))
	c.fail.Same("mode", r.Mode(), m.packets.Mode())
	_, marked := m.marks.counted()
	c.fail.Same("ECT", r.ECT(), m.marks.ect)
	c.fail.Same("marks that were told", r.Counts().CEReported, int64(marked))
	c.fail.Same("why", why(r.Err()), m.why)
}
