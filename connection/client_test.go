package connection_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/packet"
)

// A client links, says something, is answered, and closes; the other end hears why (CXL-7, CXL-9).
func TestLinkTalkAndClose(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{})
	check.Same(t, "time", n.Now(), 100*ms) // two round trips, and half of one
	check.Same(t, "state", c.State(), session.Open)
	check.Same(t, "error", c.Conn().Send(n.Now(), ordered, []byte("hello"), 0), nil)
	n.until("the server reads", second, func() bool { return p.Readable() != 0 })
	check.Equal(t, "message", read(p.Conn, n.Now(), ordered), "hello")
	check.Same(t, "error", p.Send(n.Now(), unordered, []byte("yes"), 0), nil)
	n.until("the client reads", second, func() bool { return c.Conn().Readable() == 1<<unordered })
	check.Equal(t, "message", read(c.Conn(), n.Now(), unordered), "yes")

	check.Same(t, "error", c.Close(n.Now(), 256, "bye"), nil)
	n.until("both have closed", second, func() bool { return c.State() == session.Closed && p.State() == connection.Closed })
	check.Equal(t, "error of the server", p.Err().Error(), `connection: closed by the other end, code 256: "bye"`)
	check.Equal(t, "error of the client", c.Err().Error(), `connection: closed here, code 256: "bye"`)
	check.That(t, errors.Is(p.Err(), connection.ErrClosed), "that is closed")
	check.Equal(t, "connections", n.server.Stats().Session.Living, 0)
}

// A client whose address changes in mid-transfer goes on: every queue is kept, nothing comes
// twice, and the server says that it moved (CXL-1, CXL-10).
func TestMoveInMidTransfer(t *testing.T) {
	for _, told := range []bool{true, false} {
		for _, mode := range []session.Mode{session.MAC, session.AEAD} {
			cfg := connection.Config{Terms: session.Terms{Mode: mode}}
			n := newNetwork(t, 1, 2, known(cfg))
			n.loss = 5
			c, p := n.open(0, withKey(3, cfg))
			sent := [2][]byte{content(codec.MaxChunkSize, 1), content(codec.MaxChunkSize, 2)}
			check.Must(c.Conn().SendChunk(n.Now(), sent[0]))
			check.Must(p.SendChunk(n.Now(), sent[1]))
			ends, next, chunks := [2]*connection.Conn{c.Conn(), p.Conn}, [2]byte{}, [2][]byte{}
			toSend := [2]byte{}
			look := func() bool {
				for i, from := range ends {
					to := ends[1-i]
					if toSend[i] < 100 {
						check.Same(t, "refusal", from.Send(n.Now(), ordered, []byte{toSend[i]}, 0), nil)
						toSend[i]++
					}
					for m := read(to, n.Now(), ordered); m != ""; m = read(to, n.Now(), ordered) {
						check.Equal(t, "message", m[0], next[i])
						next[i]++
					}
					if chunk, ok := to.ReadChunk(n.Now(), nil); ok {
						check.That(t, chunks[i] == nil, "the chunk comes once")
						chunks[i] = chunk
					}
				}
				return chunks[0] != nil && chunks[1] != nil && next == [2]byte{100, 100}
			}
			n.until("something is under way", second, func() bool { look(); return c.Conn().Stats().Chunks.Sender.SlicesAcked > 30 })
			c.at = address(7)
			if told {
				c.Move(n.Now())
			}
			n.until("all is delivered", 20*second, look)
			for i := range sent {
				wantBytes(t, "chunk", chunks[i], sent[i])
			}
			check.Equal(t, "variant", []uint8{c.Conn().Link().Agreed().Variant, p.Link().Agreed().Variant}, []uint8{session.VariantRepair, session.VariantRepair})
			check.Equal(t, "moves", len(n.server.moved), 1)
			check.That(t, n.server.moved[0] == p && p.Address() == address(7), "the server knows where")
			check.Equal(t, "connections", len(n.server.accepted), 1)
		}
	}
}

// What the client sends comes from another address, while the server's datagrams still arrive by
// the old way: the server refuses what it gets, the client sees that nothing of it is acked, and
// links again (CXL-15).
func TestMoveInOneDirection(t *testing.T) {
	n := newNetwork(t, 1, 2, known(connection.Config{}))
	c, p := n.open(0, withKey(3, connection.Config{}))
	chunk := content(codec.MaxChunkSize, 1)
	for range 2 {
		check.Must(p.SendChunk(n.Now(), chunk))
	}
	n.until("a part is there", second, func() bool { return c.Conn().Stats().Chunks.Receiver.SlicesStored > 30 })
	c.old, c.at = c.at, address(9)
	moved := n.Now()
	for range 2 { // the second one cannot begin before the first is acked
		n.until("a chunk is there", 20*second, func() bool { return c.Conn().ChunkSize() > 0 })
		got, _ := c.Conn().ReadChunk(n.Now(), nil)
		wantBytes(t, "chunk", got, chunk)
	}
	t.Logf("after %d us", n.Now()-moved)
	check.That(t, n.Now()-moved < 6*second, "soon after 3 s of silence")
	check.That(t, len(n.server.moved) == 1 && p.Address() == address(9), "the server knows where")
	st := n.server.Stats()
	check.That(t, st.Session.Silent(session.CodeAddress) > 0, "data from the new address was refused before")
}

// Data from an address that is not the connection's changes nothing, and does not use up its
// counter: the same datagram from the right one counts.
func TestAnotherAddressChangesNothing(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{})
	check.Same(t, "error", c.Conn().Send(n.Now(), ordered, []byte("once"), 0), nil)
	d, ok := c.Client.Poll(n.Now()+second, nil)
	check.That(t, ok, "there is a datagram")
	_, err := n.server.Receive(n.Now(), address(9), d, nil)
	check.That(t, errors.Is(err, session.ErrAddress), "it is refused")
	check.Same(t, "place", p.Address(), address(1))
	got, err := n.server.Receive(n.Now(), address(1), d, nil)
	check.That(t, err == nil && got.Peer == p && got.Event == connection.NoEvent, "it counts")
	check.Equal(t, "message", read(p.Conn, n.Now(), ordered), "once")
}

// A client that is told so goes on at a new address at once; one that is not, after SILENCE.
func TestHowLongAMoveTakes(t *testing.T) {
	for told, most := range map[bool]core.Micros{true: 200 * ms, false: 3*second + 200*ms} {
		n := newNetwork(t, 1, 1, anyone)
		c, p := n.open(0, connection.ClientConfig{})
		n.Wait(second)
		c.at = address(5)
		if told {
			c.Move(n.Now())
		}
		at := n.Now()
		n.until("it has moved", 10*second, func() bool { return p.Address() == address(5) })
		check.That(t, n.Now()-at <= most, "soon enough")
		check.Same(t, "error", p.Send(n.Now(), ordered, []byte("there"), 0), nil)
		n.until("the client reads", second, func() bool { return c.Conn().Readable() != 0 })
	}
}

// A path that changes is measured anew, at both ends.
func TestAMoveForgetsThePath(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{})
	talkFor := func(d core.Micros) {
		for until := n.Now() + d; n.Now() < until; n.Wait(50 * ms) {
			for _, from := range []*connection.Conn{c.Conn(), p.Conn} {
				check.Same(t, "error", from.Send(n.Now(), unordered, []byte("x"), 0), nil)
			}
			read(c.Conn(), n.Now(), unordered)
			read(p.Conn, n.Now(), unordered)
		}
	}
	talkFor(6 * second)
	check.Same(t, "mode", p.Mode(), packet.Good)
	check.That(t, p.Estimates(n.Now()).SRTT < 70*ms, "the path is short")
	n.delay = 100 * ms
	c.at = address(5)
	c.Move(n.Now())
	check.That(t, !c.Conn().Estimates(n.Now()).Measured, "the client forgot")
	n.until("it has moved", second, func() bool { return p.Address() == address(5) })
	check.That(t, !p.Estimates(n.Now()).Measured, "the server forgot")
	check.Same(t, "mode", p.Mode(), packet.Bad)
	talkFor(second)
	e := p.Estimates(n.Now())
	check.That(t, e.Measured && e.SRTT >= 200*ms && e.MinRTT >= 200*ms, "the new path is measured, and nothing else")
	check.Equal(t, "lost on the new path", e.Lost, 0)
}

// So do the schedulers of chunks: what follows a move goes at the first pace.
func TestAMoveForgetsTheSchedulers(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c, p := n.open(0, connection.ClientConfig{})
	check.Must(p.SendChunk(n.Now(), content(codec.MaxChunkSize, 1)))
	n.until("the chunk is there", 5*second, func() bool { return p.Delivered() })
	check.That(t, p.Stats().Chunks.Sender.Schedule.SmoothedRTT > 0, "the round trip is known")
	c.at = address(5)
	c.Move(n.Now())
	n.until("it has moved", second, func() bool { return p.Address() == address(5) })
	check.Equal(t, "round trip", p.Stats().Chunks.Sender.Schedule.SmoothedRTT, 0)
}

// Whoever may not come in is told why, and when: with a proof at once, without one after a
// second; where nobody answers, after TIMEOUT.
func TestRefusedClients(t *testing.T) {
	full := known(connection.Config{})
	full.MaxConnections = 1
	for _, c := range []struct {
		name   string
		server connection.ServerConfig
		client connection.ClientConfig
		reason session.Reason
		proven bool
		after  core.Micros
	}{
		{"another protocol", anyone, connection.ClientConfig{Config: connection.Config{Terms: session.Terms{Protocol: 7}}}, session.OtherProtocol, true, 80 * ms},
		{"another tick is none", anyone, connection.ClientConfig{Config: connection.Config{Tick: 50 * ms}}, 0, false, 0},
		{"other channels", anyone, connection.ClientConfig{Config: connection.Config{Channels: connection.DefaultChannels()[:2]}}, session.OtherFormat, true, 80 * ms},
		{"other packets", anyone, connection.ClientConfig{Config: connection.Config{Packets: packet.Format{MaxFragments: 17}}}, session.OtherFormat, true, 80 * ms},
		{"another mode", known(connection.Config{Terms: session.Terms{Mode: session.MAC}}), withKey(1, connection.Config{}), session.OtherMode, true, 80 * ms},
		{"unknown", known(connection.Config{}), withKey(1000, connection.Config{}), session.UnknownIdentity, false, 80*ms + session.RefuseWait},
		{"anonymous", known(connection.Config{}), connection.ClientConfig{}, session.UnknownIdentity, false, 80*ms + session.RefuseWait},
		{"full", full, withKey(2, connection.Config{}), session.Full, true, 80 * ms},
	} {
		n := newNetwork(t, 1, 2, c.server)
		if c.name == "full" {
			n.open(1, withKey(1, connection.Config{}))
		}
		at := n.Now()
		client := n.link(0, c.client)
		if c.reason == 0 {
			n.until("it is open", second, func() bool { return client.State() == session.Open })
			continue
		}
		n.until(c.name, 20*second, func() bool { return client.State() == session.Closed })
		var refused *session.RefusedError
		check.That(t, errors.As(client.Err(), &refused), c.name)
		check.Equal(t, c.name, *refused, session.RefusedError{Reason: c.reason, Version: session.Version, Identity: c.client.Identity, Proven: c.proven && c.client.Identity != 0})
		check.Same(t, c.name, n.Now()-at, c.after)
		check.That(t, client.Conn() == nil, "there is no connection")
	}
	n := newNetwork(t, 1, 1, anyone)
	n.loss = 100
	client := n.link(0, connection.ClientConfig{Config: connection.Config{Terms: session.Terms{Timeout: 2 * second}}})
	n.until("it has timed out", 20*second, func() bool { return client.State() == session.Closed })
	check.That(t, errors.Is(client.Err(), session.ErrTimeout) && n.Now() == 2*second, "after its TIMEOUT")
}

// A client can be closed before it is open.
func TestCloseBeforeOpen(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	c := n.link(0, connection.ClientConfig{})
	n.Wait(30 * ms)
	check.That(t, errors.Is(c.Close(n.Now(), 1, ""), connection.ErrReserved), "the code is checked")
	check.Same(t, "state", c.State(), session.Linking)
	check.Same(t, "error", c.Close(n.Now(), 256, "changed my mind"), nil)
	check.Same(t, "error", c.Close(n.Now(), 257, "again"), nil)
	check.Same(t, "state", c.State(), session.Closed)
	check.Same(t, "deadline", c.Deadline(), core.Never)
	check.Equal(t, "error", c.Err().Error(), `connection: closed here, code 256: "changed my mind"`)
	c.Move(n.Now())
	check.That(t, c.Conn() == nil, "there is no connection")
}

// A new connection of the same identity ends the old one, at both ends.
func TestReplaced(t *testing.T) {
	n := newNetwork(t, 1, 2, known(connection.Config{}))
	first, old := n.open(0, withKey(3, connection.Config{}))
	newer, p := n.open(1, withKey(3, connection.Config{}))
	check.That(t, len(n.server.ended) == 1 && n.server.ended[0] == old, "the server says so")
	check.Same(t, "state", old.State(), connection.Closed)
	check.That(t, errors.Is(old.Err(), connection.ErrReplaced), "and why")
	n.until("the first client is told", 10*second, func() bool { return first.State() == session.Closed })
	check.That(t, errors.Is(first.Err(), connection.ErrReplaced), first.Err().Error())
	check.That(t, newer.State() == session.Open && p.State() == connection.Open, "the new one goes on")
	check.Equal(t, "connections", n.server.Stats().Session.Living, 1)

	// One that is closing is ended, too.
	n.drop = func(l letter) bool { return l.to == address(2) }
	check.Same(t, "error", p.Close(n.Now(), 300, ""), nil)
	at := n.Now()
	_, third := n.open(0, withKey(3, connection.Config{}))
	check.That(t, p.State() == connection.Closed && n.Now()-at < connection.CloseTime, "it has closed")
	check.Equal(t, "why", p.Err().Error(), "connection: closed here, code 300")
	check.That(t, third.State() == connection.Open, "the newest goes on")
}

// Both ends restart, in any order and at any moment: a client that links again is served, and an
// end whose other end forgot it is told, or times out. Channels begin anew at both (CHP-4).
func TestRestarts(t *testing.T) {
	for seed := range uint64(40) {
		n := newNetwork(t, seed, 1, known(connection.Config{}))
		n.loss = 10
		n.open(0, withKey(1, connection.Config{}))
		for range 3 {
			n.Wait(core.Micros(n.random.IntN(4_000_000)))
			if n.random.IntN(2) == 0 {
				n.restart(known(connection.Config{}))
			} else {
				n.link(0, withKey(1, connection.Config{}))
			}
		}
		n.Wait(core.Micros(n.random.IntN(4_000_000)))
		n.loss = 0
		if c := n.clients[0]; c.State() == session.Open || c.State() == session.Relinking {
			// It either goes on, or is told that its server knows nothing of it.
			n.Run(n.Now()+11*second, func() bool { return c.State() == session.Closed })
		}
		before := len(n.server.accepted)
		c := n.link(0, withKey(1, connection.Config{}))
		n.until("a new connection", 6*second, func() bool { return len(n.server.accepted) > before })
		p := n.server.accepted[before]
		check.Same(t, "error", c.Conn().Send(n.Now(), ordered, []byte("I am back"), 0), nil)
		n.until("it talks", 3*second, func() bool { return p.Readable() != 0 })
		n.Wait(12 * second)
		check.That(t, c.State() == session.Open && p.State() == connection.Open, "it lasts")
		check.Equal(t, "connections", n.server.Stats().Session.Living, 1)
	}
}

// A server that restarts informs a client that its connection is no more, when that asks.
func TestAServerThatForgot(t *testing.T) {
	n := newNetwork(t, 1, 1, known(connection.Config{}))
	c, _ := n.open(0, withKey(1, connection.Config{}))
	n.restart(known(connection.Config{}))
	at := n.Now()
	n.until("the client is told", 10*second, func() bool { return c.State() == session.Closed })
	var refused *session.RefusedError
	check.That(t, errors.As(c.Err(), &refused) && refused.Reason == session.ConnectionClosed && refused.Proven, c.Err().Error())
	check.That(t, n.Now()-at < 5*second, "soon after SILENCE")
	check.Same(t, "state", c.Conn().State(), connection.Closed)
}

// A connection that times out at the server is forgotten there, and its client told when it is
// back.
func TestAServerThatHearsNothing(t *testing.T) {
	n := newNetwork(t, 1, 1, known(connection.Config{}))
	c, p := n.open(0, withKey(1, connection.Config{}))
	at := n.Now()
	n.loss = 100
	n.until("the server gives up", 20*second, func() bool { return p.State() == connection.Closed })
	check.That(t, errors.Is(p.Err(), session.ErrTimeout) && n.Now()-at >= 10*second-20*ms, "after TIMEOUT")
	check.Equal(t, "connections", n.server.Stats().Session.Living, 0)
	n.until("so does the client", 20*second, func() bool { return c.State() == session.Closed })
	check.That(t, errors.Is(c.Err(), session.ErrTimeout), c.Err().Error())
}

// A handshake that ends before the client sealed anything costs no connection, and draws nothing
// but answers (CXS-15).
func TestHalfOpen(t *testing.T) {
	n := newNetwork(t, 1, 1, anyone)
	answers := map[session.Kind]int{}
	n.drop = func(l letter) bool {
		if l.to != serverAddress {
			answers[session.Kind(l.data[0])]++
		}
		return l.to == serverAddress && l.data[0] == byte(session.AEAD)
	}
	c := n.link(0, connection.ClientConfig{})
	n.until("the client is open", second, func() bool { return c.State() == session.Open })
	check.Equal(t, "connections", n.server.Stats().Session.Living, 1)
	check.Equal(t, "accepted", len(n.server.accepted), 0)

	// What its link cannot open changes nothing.
	d, _ := c.Client.Poll(n.Now()+second, nil)
	d[len(d)-1] ^= 1
	got, err := n.server.Receive(n.Now(), address(1), d, nil)
	check.That(t, errors.Is(err, session.ErrTag) && got.Peer == nil && got.Answer == nil, "it is refused")
	check.Equal(t, "refused", n.server.Stats().Refused, 1)

	n.Wait(second)
	check.Equal(t, "what the server sent", answers, map[session.Kind]int{session.KindChallenge: 1, session.KindLinked: 1})
	c.Client = nil // or it would link again
	n.until("it is forgotten", 6*second, func() bool { return n.server.Stats().Session.Living == 0 })
}
