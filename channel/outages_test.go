package channel_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
	"github.com/chunkwire/chunkwire/core"
)

const (
	roundTrip = 50 * ms
	probeWait = 250 * ms // the longest time between two probes: LEAST_CAP
)

// lossless loses nothing.
func lossless(int, core.Micros) bool { return false }

// connected returns a conversation on a path with a round trip of 50 ms, in which messages
// have been sent, lost and read.
func connected(t *testing.T, s setting, kind channel.Kind) *conversation {
	t.Helper()
	c := newConversation(t, s, kind)
	c.SetPath(channel.Path{Measured: true, SRTT: roundTrip})
	for i := range 3 {
		check.Same(t, "send", c.send(5, 0), nil)
		c.Run(10*ms, roundTrip/2, func(int, core.Micros) bool { return i == 1 })
	}
	c.Run(core.Second, roundTrip/2, lossless)
	for c.readOne() {
	}
	check.Equal(t, "read", len(c.read), 3)
	return c
}

// outage sends a message that arrives, one that is lost and one behind it, and lets an outage
// begin: the receiver knows that something is missing.
func outage(t *testing.T, c *conversation, d core.Micros) {
	t.Helper()
	for i := range 3 {
		check.Same(t, "send", c.send(5, 0), nil)
		c.Compose(channelsim.SendingEnd, channelsim.WholePacket)
		if i == 1 {
			c.Drop(channelsim.ReceivingEnd, len(c.Flight[channelsim.ReceivingEnd])-1)
		}
	}
	c.Run(roundTrip/2, roundTrip/2, lossless)
	c.Run(d, roundTrip/2, func(int, core.Micros) bool { return true })
}

// An outage of GIVE_UP less the time between two probes and a round trip is survived, in any
// phase of the probes: both ends go on, and nothing is lost (CHT-LIVE-1, CHT-LIVE-2).
func TestAnOutageShorterThanGiveUp(t *testing.T) {
	for _, kind := range kinds {
		for phase := core.Micros(0); phase <= probeWait; phase += 10 * ms {
			c := connected(t, settings[1], kind)
			outage(t, c, channel.DefaultGiveUp-probeWait-roundTrip-phase)
			c.Run(core.Second, roundTrip/2, lossless)
			for c.readOne() {
			}
			check.That(t, !c.Sender.Failed() && !c.Receiver.Failed(), "nobody has failed")
			check.Equal(t, "messages", sorted(c.texts()), sorted(c.sent))
			check.That(t, c.finish(), "nothing is left to do")
		}
	}
}

// An outage of GIVE_UP and a round trip fails both ends, each GIVE_UP after it made progress.
// What was ready is still read, and no message is accepted (CHT-LIVE-2, rows D7, D11, V13, V17).
func TestAnOutageLongerThanGiveUp(t *testing.T) {
	for _, kind := range kinds {
		c := connected(t, settings[1], kind)
		outage(t, c, channel.DefaultGiveUp-roundTrip/2-ms)
		check.That(t, !c.Sender.Failed() && !c.Receiver.Failed(), "nobody has failed yet")
		c.Run(roundTrip+ms, roundTrip/2, func(int, core.Micros) bool { return true })
		for what, err := range map[string]error{"sender": c.Sender.Sender.Err(), "receiver": c.Receiver.Receiver.Err(), "send": c.send(1, 0)} {
			check.That(t, errors.Is(err, channel.ErrFailed), fmt.Sprintf("%s: %v", what, err))
		}
		for c.readOne() {
		}
		check.Equal(t, "read", len(c.read), map[channel.Kind]int{channel.Ordered: 4, channel.Unordered: 5}[kind])
		check.Equal(t, "deadlines", [2]core.Micros{c.Deadline(0), c.Deadline(1)}, [2]core.Micros{core.Never, core.Never})
		c.Run(core.Second, roundTrip/2, lossless)
		check.Equal(t, "in flight", len(c.Flight[0])+len(c.Flight[1]), 0)
	}
}

// A receiver that knows of nothing missing waits for nothing: an outage fails its sender alone.
func TestAnOutageOfWhichTheReceiverKnowsNothing(t *testing.T) {
	c := connected(t, settings[1], channel.Ordered)
	check.Same(t, "send", c.send(5, 0), nil)
	c.Run(2*channel.DefaultGiveUp, roundTrip/2, func(int, core.Micros) bool { return true })
	check.Equal(t, "failed", [2]bool{c.Sender.Failed(), c.Receiver.Failed()}, [2]bool{true, false})
}

// The network is gone in one direction only: data arrives, reports do not. The sender fails
// after GIVE_UP, and what it sent was delivered once (CHT-SAFE-2).
func TestAnOutageOfReports(t *testing.T) {
	for _, kind := range kinds {
		c := connected(t, settings[1], kind)
		for range 5 {
			check.Same(t, "send", c.send(5, 0), nil)
		}
		c.Run(channel.DefaultGiveUp+roundTrip, roundTrip/2, func(to int, _ core.Micros) bool { return to == channelsim.SendingEnd })
		for c.readOne() {
		}
		check.Equal(t, "failed", [2]bool{c.Sender.Failed(), c.Receiver.Failed()}, [2]bool{true, false})
		check.Equal(t, "messages", sorted(c.texts()), sorted(c.sent))
	}
}

// fragments is how many a group has in the test of expiry.
const fragments = 4

// The lifetime of a group ends at each point: before it was sent, when any of its fragments
// were sent, and of these any have arrived, with a report of it or without. It is then
// delivered whole if all has arrived, or each of its sequences is told as skipped; what was
// sent behind it arrives (CHX-1 to CHX-4, CHG-3, CHG-4, CHT-SAFE-5).
func TestExpiryAtEachPointOfAGroup(t *testing.T) {
	for _, kind := range kinds {
		for sent := range fragments + 1 {
			for arrived := range 1 << sent {
				for _, reported := range []bool{false, true} {
					expireAt(t, kind, sent, arrived, reported)
				}
			}
		}
	}
}

// expireAt lets a group expire when the first of its fragments were sent, each in a packet of
// its own, and some have arrived. The others arrive afterwards, the last ones first.
func expireAt(t *testing.T, kind channel.Kind, sent, arrived int, reported bool) {
	t.Helper()
	c := newConversation(t, settings[1], kind)
	c.SetPath(channel.Path{Measured: true, SRTT: roundTrip})
	check.Same(t, "group", c.send(4*fragments, 100*ms), nil)
	check.Same(t, "behind it", c.send(1, 0), nil)
	for range sent {
		c.Compose(channelsim.SendingEnd, 12)
	}
	for i := sent - 1; i >= 0; i-- {
		if arrived>>i&1 == 1 {
			c.Arrive(channelsim.ReceivingEnd, i, false)
		}
	}
	c.Now += 30 * ms
	if reported && c.Compose(channelsim.ReceivingEnd, channelsim.WholePacket) > 0 {
		c.Arrive(channelsim.SendingEnd, 0, false)
	}
	c.Now = 100 * ms
	c.Compose(channelsim.SendingEnd, channelsim.WholePacket)
	for i := len(c.Flight[channelsim.ReceivingEnd]) - 1; i >= 0; i-- {
		c.Arrive(channelsim.ReceivingEnd, i, false)
	}
	what := fmt.Sprintf("%v, %d sent, of these %b arrived, reported %v", kind, sent, arrived, reported)
	check.That(t, c.finish(), what)
	whole, skipped := 0, 0
	for _, m := range c.read {
		switch {
		case m.Skipped:
			skipped++
		case string(m.Data) == c.sent[0]:
			whole++
		}
	}
	check.That(t, whole == 1 && skipped == 0 && sent == fragments || whole == 0 && skipped == fragments, fmt.Sprintf("%s: whole %d, skipped %d", what, whole, skipped))
	released := arrived == 1<<fragments-1 && reported
	check.Equal(t, what+": expired", c.Sender.Sender.Stats().Expired, map[bool]int64{true: 0, false: 1}[released])
}
