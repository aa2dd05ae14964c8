package connection_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// toServer gives the server a datagram of the client at address 1.
func (n *network) toServer(datagram []byte) connection.Received {
	n.t.Helper()
	return check.Must(n.server.Receive(n.Now(), address(1), datagram, nil))
}

// linked links a client that has sealed nothing yet.
func (n *network) linked(cfg connection.ClientConfig) *clientEnd {
	n.t.Helper()
	c := n.link(0, cfg)
	n.drop = func(l letter) bool { return l.to == serverAddress && l.data[0] == byte(session.AEAD) }
	n.until("the client is open", second, func() bool { return c.State() == session.Open })
	n.drop = nil
	return c
}

// The first datagram of a client counts, whatever it has: a message, or its end. A connection that
// it began lasts for its time-out, also when nothing follows.
func TestTheFirstDatagram(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c := n.linked(connection.ClientConfig{})
	check.Same(t, "error", c.Conn().Send(n.Now(), ordered, []byte("hello"), 0), nil)
	got := n.toServer(once(c.Conn(), n.Now()+second))
	check.That(t, got.Event == connection.Accepted && got.Answer == nil, "it is accepted")
	check.Equal(t, "message", read(got.Peer.Conn, n.Now(), ordered), "hello")
	check.Equal(t, "accepted", n.server.Stats().Accepted, 1)
	c.Client = nil
	n.Wait(9 * second)
	check.Equal(t, "connections", n.server.Stats().Session.Living, 1)

	n = newNetwork(t, 1, 1, anyone)
	c = n.linked(connection.ClientConfig{})
	check.Same(t, "error", c.Close(n.Now(), 300, ""), nil)
	got = n.toServer(once(c.Conn(), n.Now()))
	check.That(t, got.Event == connection.Accepted && got.Peer.State() == connection.Closed, "it is accepted, and has ended")
	check.Equal(t, "connections", n.server.Stats().Session.Living, 0)
}

// When one end hears that the other closes, its session has ended in the same event.
func TestACloseEndsTheSession(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{})
	check.Same(t, "error", c.Close(n.Now(), 300, ""), nil)
	n.toServer(once(c.Conn(), n.Now()))
	check.Equal(t, "connections", n.server.Stats().Session.Living, 0)
	check.Same(t, "state", p.State(), connection.Closed)
	check.Same(t, "refusal", c.Receive(n.Now(), once(p.Conn, n.Now())), nil)
	check.Same(t, "state", c.State(), session.Closed)

	// Nobody answers: it ends in the poll in which time is over.
	n = newNetwork(t, 1, 1, anyone)
	c, _ = n.open(0, connection.ClientConfig{})
	n.loss = 100
	at := n.Now()
	check.Same(t, "error", c.Close(at, 300, ""), nil)
	_, ok := c.Client.Poll(at+connection.CloseTime, nil)
	check.That(t, !ok && c.State() == session.Closed, "it has closed")
}

// Ends that hear each other do not link again, nor is a connection forgotten that lasts.
func TestOneHandshakeIsEnough(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	handshakes := 0
	n.drop = func(l letter) bool {
		if l.data[0] > byte(session.AEAD) || l.data[0] < byte(session.CRC) {
			handshakes++
		}
		return false
	}
	c, p := n.open(0, connection.ClientConfig{})
	n.until("the handshake is over", second, func() bool { return p.State() == connection.Open && c.Conn().Counts().DatagramsReceived > 0 })
	before := handshakes
	for range 24 {
		check.Same(t, "error", c.Conn().Send(n.Now(), unreliable, []byte("x"), 0), nil)
		n.Wait(500 * ms)
	}
	check.Equal(t, "messages of another handshake", handshakes-before, 0)
	check.Equal(t, "connections", n.server.Stats().Session.Living, 1)
	check.That(t, c.State() == session.Open && p.State() == connection.Open, "it lasts")
}

// A client that talks and is not heard links again, though it hears the server. That is a sign of
// life for the server; the client forgets the path (CXL-10, CXL-15).
func TestAClientThatIsNotHeard(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	n.delay = 100 * ms // a handshake takes longer than what is said between two looks
	c, p := n.open(0, connection.ClientConfig{})
	talk := func() {
		_ = c.Conn().Send(n.Now(), unreliable, []byte("x"), 0)
		_ = p.Send(n.Now(), unreliable, []byte("y"), 0)
		read(p.Conn, n.Now(), unreliable)
		read(c.Conn(), n.Now(), unreliable)
		n.Wait(100 * ms)
	}
	for range 20 {
		talk()
	}
	check.That(t, c.Conn().Estimates(n.Now()).Measured, "the path is known")
	n.drop = func(l letter) bool { return l.to == serverAddress && l.data[0] == byte(session.AEAD) }
	at := n.Now()
	for c.State() == session.Open && n.Now() < at+10*second {
		talk()
	}
	check.That(t, c.State() == session.Relinking && n.Now()-at < 5*second, "it links again")
	n.until("it is open again", second, func() bool { return c.State() == session.Open })
	check.That(t, !c.Conn().Estimates(n.Now()).Measured, "the path is forgotten")
	for n.Now() < at+15*second {
		talk()
	}
	check.That(t, p.State() == connection.Open, "the server knows that the client is there")
}

// Datagrams that are nothing are refused, and what a caller gave stays as it was.
func TestNothing(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, _ := n.open(0, connection.ClientConfig{})
	for _, d := range [][]byte{nil, {0}, {byte(session.CRC)}, {99}} {
		check.That(t, c.Receive(n.Now(), d) != nil, "the client refuses it")
		got, err := n.server.Receive(n.Now(), address(1), d, []byte("before"))
		check.That(t, err != nil && got.Answer == nil && got.Peer == nil, "the server refuses it")
	}
	before := c.Conn().Counts().Refused
	check.That(t, errors.Is(c.Receive(n.Now(), []byte{byte(session.CRC)}), session.ErrTruncated), "an envelope that ends")
	check.Equal(t, "refused by the connection", c.Conn().Counts().Refused-before, 1)
	check.That(t, c.Receive(n.Now(), []byte{0}) != nil, "no envelope")
	check.Equal(t, "refused by the connection", c.Conn().Counts().Refused-before, 1)
	check.That(t, c.Deadline() < core.Never, "it goes on")
}
