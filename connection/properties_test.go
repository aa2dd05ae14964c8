package connection_test

import (
	"encoding/binary"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/connection/session"
	"github.com/chunkwire/chunkwire/core"
)

// conversation is one direction of a connection: what was sent, and what came.
type conversation struct {
	from, to *connection.Conn
	sent     [3]uint32         // messages by channel
	came     [3]map[uint32]int // how often each came
	next     uint32            // of the ordered channel
	chunks   [][]byte
	got      int // chunks
}

func newConversation(from, to *connection.Conn) *conversation {
	return &conversation{from: from, to: to, came: [3]map[uint32]int{{}, {}, {}}}
}

// send sends a message, if the channel takes it.
func (c *conversation) send(now core.Micros, id uint8, size int) {
	message := binary.LittleEndian.AppendUint32(make([]byte, 0, size+4), c.sent[id])
	if c.from.Send(now, id, message[:size+4], 0) == nil {
		c.sent[id]++
	}
}

func (c *conversation) sendChunk(now core.Micros, size int) {
	chunk := content(size, uint64(len(c.chunks)))
	if _, err := c.from.SendChunk(now, chunk); err == nil {
		c.chunks = append(c.chunks, chunk)
	}
}

// read reads what came, and checks it.
func (c *conversation) read(t check.T, now core.Micros) {
	for id := unreliable; id <= unordered; id++ {
		for m, ok := c.to.Read(now, id, nil); ok; m, ok = c.to.Read(now, id, nil) {
			n := binary.LittleEndian.Uint32(m.Data)
			c.came[id][n]++
			check.Equal(t, "times that a message came", c.came[id][n], 1)
			if id == ordered {
				check.Equal(t, "ordered message", n, c.next)
				c.next++
			}
		}
	}
	for chunk, ok := c.to.ReadChunk(now, nil); ok; chunk, ok = c.to.ReadChunk(now, nil) {
		check.Bytes(t, "chunk", chunk, c.chunks[c.got])
		c.got++
	}
}

// done reports whether all that is reliable came, and the sending end knows.
func (c *conversation) done() bool {
	return c.from.Delivered() && c.next == c.sent[ordered] && len(c.came[unordered]) == int(c.sent[unordered]) && c.got == len(c.chunks)
}

// Over any network that loses, doubles and reorders, while the client changes its address, told
// or not, both ends send what they like: all that is reliable comes once, whole, in its order.
func TestAnyNetwork(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]session.Mode{session.MAC, session.AEAD}).Draw(t, "mode")
		cfg := connection.Config{Terms: session.Terms{Mode: mode, Lanes: rapid.IntRange(1, 4).Draw(t, "lanes")}}
		n := newNetwork(nil, rapid.Uint64().Draw(t, "seed"), 1, known(cfg))
		c := n.link(0, withKey(1, cfg))
		check.That(t, n.Run(5*second, func() bool { return len(n.server.accepted) == 1 }), "the client is accepted")
		p := n.server.accepted[0]
		n.delay, n.jitter = core.Micros(rapid.IntRange(0, 80_000).Draw(t, "delay")), core.Micros(rapid.IntRange(0, 40_000).Draw(t, "jitter"))
		n.loss, n.copies = rapid.IntRange(0, 25).Draw(t, "loss"), rapid.IntRange(0, 20).Draw(t, "copies")
		both := []*conversation{newConversation(c.Conn(), p.Conn), newConversation(p.Conn, c.Conn())}
		look := func() bool {
			done := true
			for _, one := range both {
				one.read(t, n.Now())
				done = done && one.done()
			}
			return done
		}
		for step := range rapid.IntRange(1, 30).Draw(t, "steps") {
			one := both[rapid.IntRange(0, 1).Draw(t, "direction")]
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				c.at = address(10 + step)
				if rapid.Bool().Draw(t, "told") {
					c.Move(n.Now())
				}
			case 1, 2:
				one.sendChunk(n.Now(), rapid.IntRange(1, 30_000).Draw(t, "chunk"))
			default:
				for range rapid.IntRange(1, 20).Draw(t, "messages") {
					one.send(n.Now(), rapid.Uint8Range(unreliable, unordered).Draw(t, "channel"), rapid.IntRange(0, 3000).Draw(t, "size"))
				}
			}
			until := n.Now() + core.Micros(rapid.IntRange(0, 300_000).Draw(t, "pause"))
			n.Flush()
			n.Run(until, func() bool { look(); return false })
		}
		check.That(t, n.Run(n.Now()+60*second, look), "all is delivered")
		check.That(t, c.State() != session.Closed && p.State() == connection.Open, "both are open")
		check.Equal(t, "connections", len(n.server.accepted), 1)
	})
}
