package connection

import (
	"io"

	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/eventlog"
)

// ClientConfig sets up a Client.
type ClientConfig struct {
	Config
	Identity uint64      // 0: anonymous
	Key      session.Key // of the identity; zeros without one
	// ServerKey is as in session.ClientConfig.
	ServerKey session.Share
	// Random gives the nonces. It must not be predictable, and not fail.
	Random io.Reader
}

// Client is the end of a connection that begins it: it links, and links again when it hears
// nothing or its address changes, while its Conn goes on. It does nothing between calls.
type Client struct {
	cfg     *Config // nil once there is a connection
	memory  *Memory
	random  io.Reader
	session *session.Client
	conn    *Conn
	err     error // closed before there was a connection
	ect     bool  // the datagram that was polled last goes with ECT0
	log     eventlog.Log
}

// NewClient returns a client that begins to link at now. It fails with core.ErrConfig.
func NewClient(cfg ClientConfig, now core.Micros) (*Client, error) {
	complete, err := cfg.Complete()
	if err != nil {
		return nil, err
	}
	s, err := session.NewClient(now, session.ClientConfig{Terms: complete.terms(), Identity: cfg.Identity, Key: cfg.Key, ServerKey: cfg.ServerKey, KeyLog: complete.KeyLog, Random: cfg.Random})
	if err != nil {
		return nil, err
	}
	return &Client{cfg: &complete, memory: complete.Memory, random: cfg.Random, session: s, log: complete.Log.Of(0, eventlog.Client)}, nil
}

// Receive takes a datagram of the server that arrived at now. It fails with why it was refused,
// or was of no use.
func (c *Client) Receive(now core.Micros, datagram []byte) error {
	return c.ReceiveECN(now, datagram, NotECT)
}

// ReceiveECN is Receive for a datagram that came with a value of the field ECN.
func (c *Client) ReceiveECN(now core.Micros, datagram []byte, ecn ECN) error {
	if !isData(datagram) || c.conn == nil {
		return c.receiveMessage(now, datagram)
	}
	h, err := c.conn.receive(now, datagram, ecn)
	if h.news { // a server that does not hear this end is none that is there
		c.session.Heard(now)
	}
	c.settle(now)
	return err
}

// isData reports whether a datagram is under an envelope, and no message of the handshake.
func isData(datagram []byte) bool {
	return len(datagram) > 0 && session.Mode(datagram[0]) >= session.CRC && session.Mode(datagram[0]) <= session.AEAD
}

// receiveMessage takes a message of the handshake.
func (c *Client) receiveMessage(now core.Micros, datagram []byte) error {
	before := c.session.State()
	err := c.session.Receive(now, datagram)
	c.memory.logRefused(c.log, now, 0, datagram, err)
	c.logState(now, before)
	if before != session.Open && c.session.State() == session.Open {
		if err := c.linked(now); err != nil {
			return err
		}
	}
	c.settle(now)
	return err
}

// linked makes the connection, or notes that the server knows where this end is.
func (c *Client) linked(now core.Micros) (err error) {
	if c.conn != nil {
		c.conn.relinked(now)
		c.conn.forgetPath(now)
		return nil
	}
	c.cfg.Seed = drawSeed(c.random)
	c.conn, err = newConn(c.cfg, c.session.Link(), ClientSide, now)
	if err == nil {
		c.log = c.conn.log
		c.conn.logStarted(c.cfg, ClientSide, nil)
		c.cfg = nil
	}
	return err
}

// settle ends what must end with the other.
func (c *Client) settle(now core.Micros) {
	switch {
	case c.conn == nil:
	case c.session.State() == session.Closed:
		c.conn.end(now, c.session.Err())
	case c.conn.State() == Closed:
		c.closeSession(now)
	}
}

// closeSession ends the handshake.
func (c *Client) closeSession(now core.Micros) {
	before := c.session.State()
	c.session.Close(now)
	c.logState(now, before)
}

// Poll appends a datagram to send at now to dst, or returns false when none is due. Call it
// until it returns false.
func (c *Client) Poll(now core.Micros, dst []byte) (out []byte, ok bool) {
	for changed := true; changed; { // a client that links again has something to send at once
		before := c.session.State()
		out, ok = c.session.Poll(now, dst)
		c.logState(now, before)
		if ok {
			c.ect = false
			return out, true
		}
		changed = c.session.State() != before
	}
	c.settle(now)
	if c.conn == nil {
		return dst, false
	}
	out, ok = c.conn.Poll(now, dst)
	if c.ect = c.conn.ECT(); ok {
		c.session.Spoke(now)
	}
	c.settle(now)
	return out, ok
}

// ECT reports whether the datagram that Poll returned last is to go with ECT0.
func (c *Client) ECT() bool { return c.ect }

// Deadline returns when Poll has something to do if no event comes before, or core.Never.
func (c *Client) Deadline() core.Micros {
	if c.conn == nil {
		return c.session.Deadline()
	}
	return min(c.session.Deadline(), c.conn.Deadline())
}

// Move says that the address of this end has changed: it links again, and the connection goes
// on then. What is known of the path is forgotten.
func (c *Client) Move(now core.Micros) {
	before := c.session.State()
	c.session.Move(now)
	c.logState(now, before)
	if c.conn != nil {
		c.conn.move(now)
	}
}

// Close begins to close the connection, as Conn.Close does; a client that has none yet ends at
// once.
func (c *Client) Close(now core.Micros, code uint16, text string) error {
	if c.conn != nil {
		return c.conn.Close(now, code, text)
	}
	if err := checkClose(code, text); err != nil {
		return err
	}
	if c.session.State() != session.Closed {
		c.err = &ClosedError{Code: code, Text: text}
		c.closeSession(now)
	}
	return nil
}

// Conn returns the connection; nil before there is one. It stays the same. The client polls
// it, gives it what arrives, and closes it.
func (c *Client) Conn() *Conn { return c.conn }

// State returns whether the client links, is open, links again or has closed.
func (c *Client) State() session.ClientState { return c.session.State() }

// Session returns the handshake, to look at.
func (c *Client) Session() *session.Client { return c.session }

// Err returns why the client closes or has closed, or nil: what Conn.Err returns, or an error
// that wraps session.ErrTimeout or is a *session.RefusedError.
func (c *Client) Err() error {
	switch {
	case c.conn != nil:
		return c.conn.Err()
	case c.err != nil:
		return c.err
	}
	return c.session.Err()
}
