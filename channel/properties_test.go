package channel_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
	"github.com/chunkwire/chunkwire/testvectors/conformtest"
)

const ms = core.Millisecond

// usual is a channel with the defaults.
var usual = channels.TalkConfig{
	Format:    channels.Format{Window: channel.DefaultWindow, Data: channel.DefaultData, Group: channel.DefaultGroup},
	SendQueue: channel.DefaultSendQueue, GiveUp: int64(channel.DefaultGiveUp),
}

// settings are small enough that windows are passed and close in a short run.
var settings = []channels.TalkConfig{
	usual,
	{Format: channels.Format{Window: 32, Data: 4, Group: 4}, SendQueue: 40, First: 65530, GiveUp: usual.GiveUp},
	{Format: channels.Format{Window: 32, Data: 3, Group: 32}, SendQueue: 32, GiveUp: int64(core.Second), First: 1<<32 - 20},
	{Space: 1, Format: channels.Format{Data: 1, Group: 3}, SendQueue: 6, First: 13, GiveUp: usual.GiveUp},
	{Space: 2, Format: channels.Format{Data: 1, Group: 2}, SendQueue: 4, First: 6, GiveUp: usual.GiveUp},
}

var kinds = []string{"ordered", "unordered"}

// conversation is both ends on a path on which each packet takes as long as delay, but those
// that are lost: it says so of a packet to an end when it arrives.
type conversation struct {
	*channels.Conversation
	now, delay int64
	lost       func(to int) bool
}

// The ends of a conversation.
const (
	sendingEnd   = 0
	receivingEnd = 1
)

func never(int) bool  { return false }
func always(int) bool { return true }

func newConversation(t conform.T, c channels.TalkConfig, kind string) *conversation {
	c.Kind = kind
	v := &conversation{Conversation: channels.NewConversation(t, c.Fit().(channels.TalkConfig)), lost: never}
	v.Carry = func(at int64, from *conform.End, _ conform.Event, b conform.Bytes) {
		to := v.Other(from)
		v.Add(at+v.delay, conform.Arrival, func(at int64) {
			if !v.lost(slices.Index(v.Ends, to)) {
				v.Do(at, to, channels.Packet{Hex: b})
			}
		})
	}
	return v
}

// measured says to both ends what the round trip is, and makes it so.
func (v *conversation) measured(srtt core.Micros) {
	for _, end := range v.Ends {
		v.Do(v.now, end, channels.Path{SRTT: int64(srtt)})
	}
	v.delay = int64(srtt) / 2
}

// run lets time pass.
func (v *conversation) run(d core.Micros, lost func(to int) bool) {
	v.now, v.lost = v.now+int64(d), lost
	v.Run(v.now, nil)
}

func (v *conversation) send(size, lifetime int64) string { return v.Sender.Send(v.now, size, lifetime) }

func (v *conversation) readAll() {
	for v.Receiver.Read(v.now) {
	}
}

// texts returns the messages that were read, without the skipped ones.
func (v *conversation) texts() (list []string) {
	for _, got := range v.Judge.Got {
		if !got.Skipped {
			list = append(list, string(got.Data))
		}
	}
	return list
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }

// anyConversations lets both ends of each setting and kind do anything, on a network that does
// anything.
func anyConversations(t *testing.T, kinds []string, then func(t *rapid.T, v *channels.Conversation, latest int64)) {
	t.Helper()
	for _, c := range settings {
		for _, kind := range kinds {
			rapid.Check(t, func(t *rapid.T) {
				c.Kind = kind
				v := channels.NewConversation(t, c.Fit().(channels.TalkConfig))
				then(t, v, v.Play(conformtest.Source(t, rapid.IntRange(0, 80).Draw(t, "events")), 400))
			})
		}
	}
}

// In any run, on any network: what is read was sent, what is released has come, what is
// skipped had a lifetime, each sequence of a group that does not come is told, base and limit
// do not fall, and the machines are their oracles. Then all arrives, and there is nothing left to do
// (CHT-SAFE-1 to CHT-SAFE-6, CHT-LIVE-1 to CHT-LIVE-5, CHT-BND-1 to CHT-BND-5, CHX-1 to CHX-3).
func TestAnyRunOfAChannel(t *testing.T) {
	anyConversations(t, kinds, func(_ *rapid.T, v *channels.Conversation, latest int64) { v.Finish(latest) })
}

// What is released is at the receiver: when the sender and the network are gone it can be
// read (CHT-SAFE-4). An unordered channel has it without the rest of a group.
func TestReleasedIsTruth(t *testing.T) {
	anyConversations(t, kinds[:1], func(t *rapid.T, v *channels.Conversation, latest int64) {
		for v.Receiver.Read(latest) {
		}
		check.That(t, v.R.Tail() > v.S.Base()-core.Number(v.S.Config.Group), "what is released was read, but the beginning of a group")
	})
}

// busy lets a sender send without lifetimes, over a network that loses a part of all packets and
// turns their order.
func busy(t *testing.T, kind string, then func(v *conversation)) {
	t.Helper()
	for _, c := range settings {
		rapid.Check(t, func(t *rapid.T) {
			v := newConversation(t, c, kind)
			v.measured(20 * ms)
			for range rapid.IntRange(1, 40).Draw(t, "steps") {
				for range rapid.IntRange(0, 4).Draw(t, "messages") {
					v.send(rapid.Int64Range(1, min(9, c.Data*2)).Draw(t, "size"), 0)
				}
				v.delay = rapid.Int64Range(1, 60_000).Draw(t, "delay")
				lost := rapid.IntRange(0, 5).Draw(t, "lost")
				v.run(core.Micros(rapid.Int64Range(0, 40_000).Draw(t, "time")), func(to int) bool { return lost == to })
				if rapid.Bool().Draw(t, "reads") {
					v.readAll()
				}
			}
			if v.lost = never; v.Finish(v.now) {
				then(v)
			}
		})
	}
}

// Without lifetimes an ordered channel is the list of the data sent: each message exactly
// once, in order, byte for byte (CHT-SAFE-1, CHT-SAFE-3).
func TestOrderedIsExactlyOnceInOrder(t *testing.T) {
	busy(t, "ordered", func(v *conversation) { check.Equal(t, "messages", v.texts(), v.Judge.Texts) })
}

// An unordered channel delivers the same messages, in some order (CHT-SAFE-2, CHT-SAFE-3).
func TestUnorderedIsExactlyOnce(t *testing.T) {
	busy(t, "unordered", func(v *conversation) { check.Equal(t, "messages", sorted(v.texts()), sorted(v.Judge.Texts)) })
}

// A reader may stop for minutes: nobody fails, the room ends, the sender's queue is full in
// the end, and nothing is lost (CHT-LIVE-3).
func TestASlowReaderIsNoFailure(t *testing.T) {
	for _, c := range settings {
		for _, kind := range kinds {
			v := newConversation(t, c, kind)
			v.measured(50 * ms)
			full := 0
			for range 5 * 60 {
				for range 3 {
					if v.send(1, 0) == "queue_full" {
						full++
					}
				}
				v.run(core.Second, never)
			}
			check.That(t, !v.Sender.Failed() && !v.Receiver.Failed(), "nobody fails")
			cfg := v.S.Config
			if cfg.SendQueue < 600 {
				check.That(t, full > 0, "the queue is full")
				check.Equal(t, "accepted", len(v.Judge.Texts), cfg.SendQueue+cfg.Window)
			}
			probes := v.Judge.Records[channel.TypeStatus]
			check.That(t, probes <= 5*60*4+1, "at most 4 probes a second")
			check.That(t, v.Finish(v.now), "all arrives")
			check.Equal(t, "messages", sorted(v.texts()), sorted(v.Judge.Texts))
			t.Logf("window %d, queue %d, %s: 5 minutes, %d accepted, %d refused, %d probes, %d reports", cfg.Window, cfg.SendQueue, kind, len(v.Judge.Texts), full, probes, v.Judge.Reports)
		}
	}
}

// On a path that loses nothing and changes no order nothing is resent, whatever the round
// trip (CHT-BND-4).
func TestWithoutLossNothingIsSentAgain(t *testing.T) {
	for _, kind := range kinds {
		rapid.Check(t, func(t *rapid.T) {
			v := newConversation(t, usual, kind)
			v.measured(2 * rapid.SampledFrom([]core.Micros{ms, 20 * ms, 100 * ms}).Draw(t, "delay"))
			for range rapid.IntRange(1, 8).Draw(t, "frames") {
				for range rapid.IntRange(1, 64).Draw(t, "messages") {
					check.Equal(t, "refusal", v.send(rapid.Int64Range(1, 3000).Draw(t, "size"), 0), "")
				}
				v.run(16_667, never)
				v.readAll()
			}
			check.That(t, v.Finish(v.now), "all arrives")
			check.Equal(t, "transmissions", v.Judge.Records[channel.TypeMessage]+v.Judge.Records[channel.TypeFragment], int(v.S.Next()-v.S.Config.First))
		})
	}
}

// What is sent last and lost is asked for by a probe (CHT-LIVE-4): one lost datagram costs at
// most PROBE_WAIT and a round trip.
func TestALostTailIsAskedFor(t *testing.T) {
	for _, srtt := range []core.Micros{10 * ms, 100 * ms, 400 * ms} {
		v := newConversation(t, usual, "ordered")
		v.measured(srtt)
		check.Equal(t, "refusal", v.send(100, 0), "")
		v.run(srtt/2, always)
		for !v.Receiver.Read(v.now) {
			v.run(ms, never)
		}
		hold := srtt + max(srtt/4, 10*ms)
		check.That(t, core.Micros(v.now) <= min(hold+20*ms, max(2*srtt, 250*ms))+srtt/2+ms, fmt.Sprintf("%d us are soon enough", v.now))
	}
}
