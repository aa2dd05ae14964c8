package channel_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/internal/check"
	"github.com/chunkwire/chunkwire/machine"
	sim "github.com/chunkwire/chunkwire/sim/channel"
)

const ms = machine.Millisecond

// setting is a channel, and the packet layer below it.
type setting struct {
	channel.Config
	received int
}

// small keeps to CHN-6 with 3 bits: 2 * 2 + 4 * 1 = 8.
var small = setting{channel.Config{SequenceBits: 3, Format: channel.Format{Window: 2, Data: 1, Group: 2}, SendQueue: 4, Fresh: 1, First: 6}, 5}

// settings are small enough that windows are passed and close in a short run.
var settings = []setting{
	{channel.Config{}, 256},
	{channel.Config{Format: channel.Format{Window: 32, Data: 4, Group: 4}, SendQueue: 40, First: 65530}, 64},
	{channel.Config{Format: channel.Format{Window: 32, Data: 3, Group: 32}, SendQueue: 32, GiveUp: machine.Second, First: 1<<32 - 20}, 256},
	{channel.Config{SequenceBits: 4, Format: channel.Format{Window: 4, Data: 1, Group: 3}, SendQueue: 6, Fresh: 2, First: 13}, 5},
	small,
}

func newWorld(t check.T, s setting, kind channel.Kind) *sim.World {
	s.Kind = kind
	w := check.Must(sim.NewWorld(s.Config, t.Fatalf))
	w.Received = s.received
	return w
}

// conversation is what an application does with a channel.
type conversation struct {
	*sim.World
	most   int      // bytes of a message
	sent   []string // messages that were taken
	read   []channel.Message
	mortal bool // messages may have a lifetime
}

func newConversation(t check.T, s setting, kind channel.Kind) *conversation {
	full := sim.Complete(s.Config)
	return &conversation{World: newWorld(t, s, kind), most: full.Data * min(full.Group, full.Window)}
}

// send sends the next message, of which no two are the same if there is room for that.
func (c *conversation) send(size int, lifetime machine.Micros) error {
	message := []byte(fmt.Sprintf("%d", len(c.sent)%10))
	for len(message) < size {
		message = fmt.Appendf(message, ", %d", len(c.sent))
	}
	message = message[:max(size, 1)]
	err := c.Send(message, lifetime)
	if err == nil {
		c.sent = append(c.sent, string(message))
	}
	return err
}

func (c *conversation) readOne() bool {
	m, ok := c.Read()
	if ok {
		c.read = append(c.read, m)
	}
	return ok
}

var paths = []channel.Path{
	{}, {Measured: true}, {Measured: true, SRTT: ms, Patience: 10 * ms}, {Measured: true, SRTT: 50 * ms}, {Measured: true, SRTT: 400 * ms, Patience: 500 * ms},
}

var lifetimes = []machine.Micros{0, 0, 0, 1, 5 * ms, 100 * ms, 400 * ms, 3000 * ms}

// anyStep draws what happens next: a send, packets that go out, arrive in any order and
// again, or are lost, a read, and time.
func (c *conversation) anyStep(t *rapid.T) {
	end := rapid.IntRange(0, 1).Draw(t, "end")
	switch rapid.IntRange(0, 11).Draw(t, "step") {
	case 0, 1:
		for range rapid.SampledFrom([]int{1, 1, 2, 9, 40}).Draw(t, "messages") {
			lifetime := machine.Micros(0)
			if c.mortal {
				lifetime = rapid.SampledFrom(lifetimes).Draw(t, "lifetime")
			}
			_ = c.send(rapid.OneOf(rapid.IntRange(1, min(8, c.most)), rapid.IntRange(1, min(5000, c.most))).Draw(t, "size"), lifetime)
		}
	case 2, 3, 4:
		c.Compose(end, rapid.SampledFrom([]int{sim.WholePacket, sim.WholePacket, 0, 4, 5, 13, 30}).Draw(t, "space"))
	case 5, 6, 7:
		for range rapid.IntRange(1, 6).Draw(t, "arrivals") {
			if n := len(c.Flight[end]); n > 0 {
				c.Arrive(end, rapid.IntRange(0, n-1).Draw(t, "which"), rapid.IntRange(0, 3).Draw(t, "kept") == 0)
			}
		}
	case 8:
		for len(c.Flight[end]) > 0 && rapid.IntRange(0, 2).Draw(t, "lost") > 0 {
			c.Drop(end, 0)
		}
	case 9:
		for rapid.IntRange(0, 3).Draw(t, "more") > 0 && c.readOne() {
		}
	case 10:
		c.Wait(rapid.SampledFrom([]machine.Micros{0, 1, 5 * ms, 20 * ms, 100 * ms, 300 * ms, 900 * ms, 3000 * ms, 11_000 * ms}).Draw(t, "time"))
	case 11:
		c.Pad(end)
		c.SetPath(rapid.SampledFrom(paths).Draw(t, "path"))
	}
}

func (c *conversation) anyRun(t *rapid.T, steps int) {
	for range rapid.IntRange(1, steps).Draw(t, "steps") {
		c.anyStep(t)
	}
}

// In any run, on any network: what is read was sent, what is released has come, what is
// skipped had a lifetime, every report is true, nothing is sent again without a reason, and
// the machines are their models. Then all arrives, and there is nothing left to do
// (CHT-SAFE-1 to CHT-SAFE-6, CHT-LIVE-1 to CHT-LIVE-4, CHT-BND-1 to CHT-BND-3).
func TestAnyRunOfAChannel(t *testing.T) {
	for _, s := range settings {
		for _, kind := range []channel.Kind{channel.Ordered, channel.Unordered} {
			rapid.Check(t, func(t *rapid.T) {
				c := newConversation(t, s, kind)
				c.mortal = rapid.Bool().Draw(t, "mortal")
				c.anyRun(t, 60)
				c.Finish()
			})
		}
	}
}
