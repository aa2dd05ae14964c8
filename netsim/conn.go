package netsim

import (
	"net"
	"time"
)

// maxDatagram is the largest payload of a UDP datagram over IPv4, in bytes.
const maxDatagram = 65507

// constError is an error that can be a constant.
type constError string

func (e constError) Error() string { return string(e) }

const (
	errInUse    = constError("address already in use")
	errTooLong  = constError("message too long")
	errNoAddr   = constError("not a netsim address")
	errNegative = constError("negative buffer size")
)

// Conn is an endpoint on a [Network]. It behaves as an unconnected UDP socket
// does, and its errors are of type [*net.OpError]. All methods are safe for
// concurrent use.
type Conn struct {
	network *Network
	addr    Addr
	netAddr net.Addr // addr, converted once rather than for each datagram
	line    *delayLine

	// Guarded by network.mu.
	writeDeadline time.Duration
	closed        bool
}

var _ net.PacketConn = (*Conn)(nil)

// ReadFrom waits for a datagram, copies it to b and returns its length in bytes
// and the sender, an [Addr]. What does not fit in b is lost without an error.
// ReadFrom fails with [net.ErrClosed], or with [os.ErrDeadlineExceeded] from the
// instant of the deadline on, even if a datagram is there.
func (c *Conn) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, _, err := c.read(b)
	return n, from, err
}

// read does what ReadFromECN does.
func (c *Conn) read(b []byte) (n int, from net.Addr, ecn uint8, err error) {
	p, err := c.line.receive()
	if err != nil {
		return 0, nil, 0, c.fail("read", nil, err)
	}
	return copy(b, p.data), p.peer, p.ecn, nil
}

// WriteTo sends a copy of b to an [Addr] and returns len(b). It never waits. It
// fails with [net.ErrClosed], with [os.ErrDeadlineExceeded], if b is longer than
// 65507 bytes or if addr is not an Addr. There is no error if nobody listens at
// addr or if the datagram gets lost.
func (c *Conn) WriteTo(b []byte, addr net.Addr) (int, error) { return c.write(b, addr, 0) }

// write does what WriteToECN does.
func (c *Conn) write(b []byte, addr net.Addr, ecn uint8) (int, error) {
	to, ok := addr.(Addr)
	if !ok {
		return 0, c.fail("write", addr, errNoAddr)
	}
	if len(b) > maxDatagram {
		return 0, c.fail("write", addr, errTooLong)
	}
	if err := c.network.send(c, b, to, ecn&congested); err != nil {
		return 0, c.fail("write", addr, err)
	}
	return len(b), nil
}

// Close frees the address and ends all calls of ReadFrom. Datagrams not yet
// read are lost. A second Close fails with [net.ErrClosed].
func (c *Conn) Close() error {
	if !c.leave() {
		return c.fail("close", nil, net.ErrClosed)
	}
	c.line.close()
	return nil
}

// leave removes c from the network, or returns false if that was done.
func (c *Conn) leave() bool {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	if c.closed {
		return false
	}
	c.closed = true
	delete(c.network.conns, c.addr)
	return true
}

// LocalAddr returns the [Addr] the endpoint listens on.
func (c *Conn) LocalAddr() net.Addr { return c.netAddr }

// SetDeadline sets the deadlines of ReadFrom and WriteTo.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline sets when ReadFrom begins to fail, also for calls under way.
// The zero Time means never.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if err := c.checkOpen(); err != nil {
		return err
	}
	c.line.setDeadline(c.network.clock.at(t))
	return nil
}

// SetWriteDeadline sets when WriteTo begins to fail. The zero Time means never.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	if err := c.checkOpen(); err != nil {
		return err
	}
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	c.writeDeadline = c.network.clock.at(t)
	return nil
}

// SetReadBuffer limits the payload bytes kept for ReadFrom once they have
// arrived. Zero, the default, means unlimited. A datagram beyond the limit is
// dropped and counted; one that finds nothing waiting is always kept.
func (c *Conn) SetReadBuffer(bytes int) error {
	if err := c.checkOpen(); err != nil {
		return err
	}
	if bytes < 0 {
		return c.fail("set", nil, errNegative)
	}
	c.line.setLimit(bytes)
	return nil
}

// Dropped returns the number of datagrams dropped at the limit set by
// SetReadBuffer.
func (c *Conn) Dropped() int64 { return c.line.countDropped() }

func (c *Conn) checkOpen() error {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	if c.closed {
		return c.fail("set", nil, net.ErrClosed)
	}
	return nil
}

// fail wraps err the way the net package does.
func (c *Conn) fail(op string, peer net.Addr, err error) error {
	return &net.OpError{Op: op, Net: c.addr.Network(), Source: c.netAddr, Addr: peer, Err: err}
}
