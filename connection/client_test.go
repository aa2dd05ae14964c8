package connection_test

import (
	"errors"
	"testing"

	"github.com/chunkwire/chunkwire/codec"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/session"
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
	check.Equal(t, "error of the server", p.Err().Error(), "connection: closed by the other end, code 256: bye")
	check.Equal(t, "error of the client", c.Err().Error(), "connection: closed here, code 256: bye")
	check.That(t, errors.Is(p.Err(), connection.ErrClosed), "that is closed")
	check.Equal(t, "connections", n.server.Stats().Session.Living, 0)
}

// A client whose address changes in mid-transfer goes on: every queue is kept, nothing comes
// twice, and the server says that it moved (CXL-1, CXL-10).
func TestMoveInMidTransfer(t *testing.T) {
	for _, told := range []bool{true, false} {
		for _, mode := range []session.Mode{session.CRC, session.MAC, session.AEAD} {
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
			check.Equal(t, "moves", len(n.server.moved), 1)
			check.That(t, n.server.moved[0] == p && p.Address() == address(7), "the server knows where")
			check.Equal(t, "connections", len(n.server.accepted), 1)
		}
	}
}
