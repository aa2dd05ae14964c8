package channel_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
	"github.com/chunkwire/chunkwire/core"
)

const ms = core.Millisecond

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
	{channel.Config{Format: channel.Format{Window: 32, Data: 3, Group: 32}, SendQueue: 32, GiveUp: core.Second, First: 1<<32 - 20}, 256},
	{channel.Config{SequenceBits: 4, Format: channel.Format{Window: 4, Data: 1, Group: 3}, SendQueue: 6, Fresh: 2, First: 13}, 5},
	small,
}

func newWorld(t check.T, s setting, kind channel.Kind) *channelsim.World {
	s.Kind = kind
	w := check.Must(channelsim.NewWorld(s.Config, t.Fatalf))
	w.Received = s.received
	return w
}

// conversation is what an application does with a channel.
type conversation struct {
	*channelsim.World
	setting setting
	most    int      // bytes of a message
	sent    []string // messages that were taken
	read    []channel.Message
	mortal  bool // messages may have a lifetime
}

func newConversation(t check.T, s setting, kind channel.Kind) *conversation {
	full := channelsim.Complete(s.Config)
	return &conversation{World: newWorld(t, s, kind), setting: s, most: full.Data * min(full.Group, full.Window)}
}

// send sends the next message, of which no two are the same if there is room for that.
func (c *conversation) send(size int, lifetime core.Micros) error {
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

var lifetimes = []core.Micros{0, 0, 0, 1, 5 * ms, 100 * ms, 400 * ms, 3000 * ms}

// anyStep draws what happens next: a send, packets that go out, arrive in any order and
// again, or are lost, a read, and time.
func (c *conversation) anyStep(t *rapid.T) {
	end := rapid.IntRange(0, 1).Draw(t, "end")
	switch rapid.IntRange(0, 11).Draw(t, "step") {
	case 0, 1:
		for range rapid.SampledFrom([]int{1, 1, 2, 9, 40}).Draw(t, "messages") {
			lifetime := core.Micros(0)
			if c.mortal {
				lifetime = rapid.SampledFrom(lifetimes).Draw(t, "lifetime")
			}
			_ = c.send(rapid.OneOf(rapid.IntRange(1, min(8, c.most)), rapid.IntRange(1, min(5000, c.most))).Draw(t, "size"), lifetime)
		}
	case 2, 3, 4:
		c.Compose(end, rapid.SampledFrom([]int{channelsim.WholePacket, channelsim.WholePacket, 0, 4, 5, 13, 30}).Draw(t, "space"))
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
		c.Wait(rapid.SampledFrom([]core.Micros{0, 1, 5 * ms, 20 * ms, 100 * ms, 300 * ms, 900 * ms, 3000 * ms, 11_000 * ms}).Draw(t, "time"))
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

var kinds = []channel.Kind{channel.Ordered, channel.Unordered}

// anyConversations runs a property for each setting and kind.
func anyConversations(t *testing.T, property func(t *rapid.T, c *conversation)) {
	t.Helper()
	for _, s := range settings {
		for _, kind := range kinds {
			rapid.Check(t, func(t *rapid.T) { property(t, newConversation(t, s, kind)) })
		}
	}
}

// In any run, on any network: what is read was sent, what is released has come, what is
// skipped had a lifetime, every report is true, nothing is sent again without a reason, and
// the machines are their models. Then all arrives, and there is nothing left to do
// (CHT-SAFE-1 to CHT-SAFE-6, CHT-LIVE-1 to CHT-LIVE-5, CHT-BND-1 to CHT-BND-4).
func TestAnyRunOfAChannel(t *testing.T) {
	anyConversations(t, func(t *rapid.T, c *conversation) {
		c.mortal = rapid.Bool().Draw(t, "mortal")
		c.anyRun(t, 60)
		c.finish()
	})
}

// finish lets all arrive and notes what is read. It reports whether no end has failed.
func (c *conversation) finish() bool {
	for c.readOne() {
	}
	return c.Finish(c.note)
}

func (c *conversation) note(m channel.Message) { c.read = append(c.read, m) }

// texts returns what was read.
func (c *conversation) texts() (list []string) {
	for _, m := range c.read {
		list = append(list, string(m.Data))
	}
	return list
}

// Without lifetimes an ordered channel is the list of what was sent: each message exactly
// once, in order, byte for byte (CHT-SAFE-1, CHT-SAFE-3).
func TestOrderedIsExactlyOnceInOrder(t *testing.T) {
	for _, s := range settings {
		rapid.Check(t, func(t *rapid.T) {
			c := newConversation(t, s, channel.Ordered)
			c.anyRun(t, 40)
			if whole := c.finish(); !whole {
				c.sent = c.sent[:len(c.read)]
			}
			check.Equal(t, "messages", c.texts(), append([]string(nil), c.sent...))
		})
	}
}

// An unordered channel delivers the same messages, in some order (CHT-SAFE-2, CHT-SAFE-3).
func TestUnorderedIsExactlyOnce(t *testing.T) {
	for _, s := range settings {
		rapid.Check(t, func(t *rapid.T) {
			c := newConversation(t, s, channel.Unordered)
			c.anyRun(t, 40)
			if c.finish() {
				check.Equal(t, "messages", sorted(c.texts()), sorted(c.sent))
			}
		})
	}
}

func sorted(list []string) []string {
	list = append([]string(nil), list...)
	slices.Sort(list)
	return list
}

// What is released is at the receiver: when the sender and the network are gone it can be
// read (CHT-SAFE-4). An unordered channel has it without the rest of a group.
func TestReleasedIsTruth(t *testing.T) {
	for _, s := range settings {
		rapid.Check(t, func(t *rapid.T) {
			c := newConversation(t, s, channel.Ordered)
			c.mortal = rapid.Bool().Draw(t, "mortal")
			c.anyRun(t, 40)
			for c.readOne() {
			}
			released, group := c.Sender.Sender.Base(), core.Number(channelsim.Complete(s.Config).Group)
			check.That(t, c.Receiver.Receiver.Base() >= released, "what is released has come")
			check.That(t, c.Receiver.Receiver.Tail() > released-group, "what is released was read, but the beginning of a group")
		})
	}
}

// A group comes whole or not at all, and if not each of its sequences is told, in its place,
// and its sender has counted that it expired (CHT-SAFE-5, CHX-1 to CHX-3).
func TestAGroupComesWholeOrNot(t *testing.T) {
	anyConversations(t, func(t *rapid.T, c *conversation) {
		c.mortal = true
		c.anyRun(t, 40)
		if !c.finish() {
			return
		}
		cfg := channelsim.Complete(c.setting.Config)
		told := map[core.Number]channel.Message{}
		for _, m := range c.read {
			told[m.Sequence] = m
		}
		n, skipped := cfg.First, int64(0)
		for _, message := range c.sent {
			first, end := n, n+core.Number((len(message)+cfg.Data-1)/cfg.Data)
			if !told[first].Skipped {
				check.Equal(t, "a message", string(told[first].Data), message)
				n = end
				continue
			}
			for ; n < end; n++ {
				check.That(t, told[n].Skipped, "each sequence is told")
			}
			skipped++
		}
		check.Equal(t, "sequences", n, c.Sender.Sender.Next())
		check.That(t, skipped <= c.Sender.Sender.Stats().Expired, "what was skipped has expired")
	})
}

// A reader may stop for minutes: nobody fails, the room ends, the sender's queue is full in
// the end, and nothing is lost (CHT-LIVE-3).
func TestASlowReaderIsNoFailure(t *testing.T) {
	for _, s := range settings {
		for _, kind := range kinds {
			c := newConversation(t, s, kind)
			c.SetPath(channel.Path{Measured: true, SRTT: 50 * ms})
			never := func(int, core.Micros) bool { return false }
			full := 0
			for range 5 * 60 {
				for range 3 {
					if err := c.send(1, 0); errors.Is(err, channel.ErrQueueFull) {
						full++
					}
				}
				c.Run(core.Second, 25*ms, never)
			}
			cfg := channelsim.Complete(s.Config)
			check.That(t, !c.Sender.Failed() && !c.Receiver.Failed(), "nobody fails")
			if cfg.SendQueue < 600 {
				check.That(t, full > 0, "the queue is full")
				check.Equal(t, "accepted", len(c.sent), cfg.SendQueue+cfg.Window)
			}
			probes := c.Judge.Counts().Probes
			check.That(t, probes <= 5*60*4+1, "at most 4 probes a second")
			check.That(t, c.finish(), "all arrives")
			check.Equal(t, "messages", sorted(c.texts()), sorted(c.sent))
			t.Logf("window %d, queue %d, %v: 5 minutes, %d accepted, %d refused, %d probes, %d reports", cfg.Window, cfg.SendQueue, kind, len(c.sent), full, probes, c.Judge.Counts().Reports)
		}
	}
}

// Reports are state: in whichever order they arrive, and however often, base and limit of the
// sender never fall, and end where the newest report says (rows D4 and D6).
func TestReportsMayBeOvertaken(t *testing.T) {
	anyConversations(t, func(t *rapid.T, c *conversation) {
		c.anyRun(t, 30)
		s, bits := c.Sender.Sender, channelsim.Complete(c.setting.Config).SequenceBits
		for last := core.NoNumber; len(c.Flight[channelsim.SendingEnd]) > 0 && !c.Sender.Failed(); {
			i := rapid.IntRange(0, len(c.Flight[channelsim.SendingEnd])-1).Draw(t, "which")
			p := c.Flight[channelsim.SendingEnd][i]
			base, limit := s.Base(), s.Limit()
			keep := len(c.Flight[channelsim.SendingEnd]) < 20 && rapid.Bool().Draw(t, "kept")
			took := c.Arrive(channelsim.SendingEnd, i, keep) && len(p.Records) > 0
			check.That(t, s.Base() >= base && s.Limit() >= limit, "base and limit do not fall")
			if took && p.Number > last && s.Row() == "D6" {
				check.Equal(t, "base", bits.Wire(s.Base()), p.Records[0].Sequence)
				last = p.Number
			}
		}
	})
}

// Whatever a receiver is sent, its reports are at least REPORT_SPACING apart and at most 199 bytes; and
// whatever reports say, a sender sends each entry at most once for each report
// (CHT-BND-2, CHT-BND-5).
func TestRepliesAreBounded(t *testing.T) {
	for _, s := range settings {
		rapid.Check(t, func(t *rapid.T) {
			cfg := channelsim.Complete(s.Config)
			v := check.Must(channelsim.NewCheckedReceiver(s.Config, t.Fatalf))
			now, last := core.Micros(0), -core.Second
			for range rapid.IntRange(1, 200).Draw(t, "records") {
				now += rapid.SampledFrom([]core.Micros{0, 0, 100, ms, 5 * ms}).Draw(t, "later")
				r := anyRecord(t, cfg, v.Receiver.Base())
				v.Handle(now, &r)
				report, ok := v.Poll(now, channelsim.WholePacket)
				if !ok {
					continue
				}
				check.That(t, now-last >= channel.ReportSpacing && report.Size() <= 199, "a report is small, and some time after another")
				last = now
			}
		})
	}
}

// anyRecord draws a record for a receiver with a base.
func anyRecord(t *rapid.T, cfg channel.Config, base core.Number) channel.Record {
	n := base + core.Number(rapid.OneOf(rapid.IntRange(-3, 40), rapid.IntRange(-40000, 40000)).Draw(t, "sequence"))
	r := channel.Record{Type: channel.TypeMessage, Sequence: cfg.SequenceBits.Wire(n), Data: []byte{byte(n)}}
	switch rapid.IntRange(0, 4).Draw(t, "type") {
	case 0:
		return channel.Record{Type: channel.TypeStatus, Sequence: r.Sequence}
	case 1:
		return channel.Record{Type: channel.TypeSkip, Sequence: r.Sequence, Count: rapid.IntRange(1, 256).Draw(t, "count")}
	case 2:
		r.Type, r.Count = channel.TypeFragment, rapid.IntRange(2, min(cfg.Group, cfg.Window)).Draw(t, "count")
		r.Index, r.Data = rapid.IntRange(0, r.Count-1).Draw(t, "index"), make([]byte, cfg.Data)
	}
	return r
}

// On a path that loses nothing and changes no order nothing is sent again, whatever the round
// trip (CHT-BND-4).
func TestWithoutLossNothingIsSentAgain(t *testing.T) {
	for _, kind := range kinds {
		rapid.Check(t, func(t *rapid.T) {
			c := newConversation(t, setting{channel.Config{}, 256}, kind)
			delay := rapid.SampledFrom([]core.Micros{ms, 20 * ms, 100 * ms}).Draw(t, "delay")
			c.SetPath(channel.Path{Measured: true, SRTT: 2 * delay})
			for range rapid.IntRange(1, 8).Draw(t, "frames") {
				for range rapid.IntRange(1, 64).Draw(t, "messages") {
					check.Same(t, "send", c.send(rapid.IntRange(1, 3000).Draw(t, "size"), 0), nil)
				}
				c.Run(16_667, delay, func(int, core.Micros) bool { return false })
				for c.readOne() {
				}
			}
			check.That(t, c.finish(), "all arrives")
			check.Equal(t, "transmissions", c.Judge.Counts().Transmitted, c.Judge.Counts().Accepted)
		})
	}
}

// What is sent last and lost is asked for by a probe (CHT-LIVE-4): one lost datagram costs at
// most PROBE_WAIT and a round trip.
func TestALostTailIsAskedFor(t *testing.T) {
	for _, srtt := range []core.Micros{10 * ms, 100 * ms, 400 * ms} {
		c := newConversation(t, settings[0], channel.Ordered)
		c.SetPath(channel.Path{Measured: true, SRTT: srtt})
		check.Same(t, "send", c.send(100, 0), nil)
		c.Compose(channelsim.SendingEnd, channelsim.WholePacket)
		c.Drop(channelsim.ReceivingEnd, 0)
		for !c.readOne() {
			c.Run(ms, srtt/2, func(int, core.Micros) bool { return false })
		}
		hold := srtt + max(srtt/4, 10*ms)
		check.That(t, c.Now <= min(hold+20*ms, max(2*srtt, 250*ms))+srtt/2+ms, fmt.Sprintf("%d us are soon enough", c.Now))
	}
}
