package channel_test

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

const (
	roundTrip = 50 * ms
	probeWait = 250 * ms // the longest time between two probes: LEAST_CAP
)

// connected returns a conversation on a path with a round trip of 50 ms, in which messages
// have been sent, lost and read.
func connected(t *testing.T, kind string) *conversation {
	t.Helper()
	v := newConversation(t, settings[1], kind)
	v.measured(roundTrip)
	for i := range 3 {
		check.Equal(t, "refusal", v.send(5, 0), "")
		v.run(roundTrip/2, []func(int) bool{never, always}[i%2])
	}
	v.run(core.Second, never)
	v.readAll()
	check.Equal(t, "read", len(v.Judge.Got), 3)
	return v
}

// outage sends a message that arrives, one that is lost and one behind it, and lets an outage
// begin: the receiver knows that something is missing.
func outage(t *testing.T, v *conversation, d core.Micros) {
	t.Helper()
	arrived := 0
	for range 3 {
		check.Equal(t, "refusal", v.send(5, 0), "")
		v.Do(v.now, v.Ends[sendingEnd], channels.Compose{Space: channels.WholePacket})
	}
	v.run(roundTrip/2, func(int) bool {
		arrived++
		return arrived == 2
	})
	v.run(d, always)
}

// An outage of GIVE_UP less the time between two probes and a round trip is survived, in any
// phase of the probes: both ends go on, and nothing is lost (CHT-LIVE-1, CHT-LIVE-2).
func TestAnOutageShorterThanGiveUp(t *testing.T) {
	for _, kind := range kinds {
		for phase := core.Micros(0); phase <= probeWait; phase += 10 * ms {
			v := connected(t, kind)
			outage(t, v, channel.DefaultGiveUp-probeWait-roundTrip-phase)
			v.run(core.Second, never)
			v.readAll()
			check.That(t, !v.Sender.Failed() && !v.Receiver.Failed(), "nobody has failed")
			check.Equal(t, "messages", sorted(v.texts()), sorted(v.Judge.Texts))
			check.That(t, v.Finish(v.now), "nothing is left to do")
		}
	}
}

// An outage of GIVE_UP and a round trip fails both ends, each GIVE_UP after it made progress.
// What was ready is still read, and no message is accepted (CHT-LIVE-2, rows D7, D11, V13, V17).
func TestAnOutageLongerThanGiveUp(t *testing.T) {
	for _, kind := range kinds {
		v := connected(t, kind)
		outage(t, v, channel.DefaultGiveUp-roundTrip/2-ms)
		check.That(t, !v.Sender.Failed() && !v.Receiver.Failed(), "nobody has failed yet")
		v.run(roundTrip+ms, always)
		check.Equal(t, "failed", [2]bool{v.Sender.Failed(), v.Receiver.Failed()}, [2]bool{true, true})
		check.Equal(t, "refusal", v.send(1, 0), "failed")
		v.readAll()
		check.Equal(t, "read", len(v.Judge.Got), map[string]int{"ordered": 4, "unordered": 5}[kind])
		check.That(t, !v.Sender.Look().Deadline.Is && !v.Receiver.Look().Deadline.Is, "nothing is due")
		went := len(v.Ends[0].Went) + len(v.Ends[1].Went)
		v.run(core.Second, never)
		check.Equal(t, "packets", len(v.Ends[0].Went)+len(v.Ends[1].Went), went)
	}
}

// A receiver that knows of nothing missing waits for nothing: an outage fails its sender alone.
func TestAnOutageOfWhichTheReceiverKnowsNothing(t *testing.T) {
	v := connected(t, "ordered")
	check.Equal(t, "refusal", v.send(5, 0), "")
	v.run(2*channel.DefaultGiveUp, always)
	check.Equal(t, "failed", [2]bool{v.Sender.Failed(), v.Receiver.Failed()}, [2]bool{true, false})
}

// The network is gone in one direction only: data arrives, reports do not. The sender fails
// after GIVE_UP, and what it sent was delivered once (CHT-SAFE-2).
func TestAnOutageOfReports(t *testing.T) {
	for _, kind := range kinds {
		v := connected(t, kind)
		for range 5 {
			check.Equal(t, "refusal", v.send(5, 0), "")
		}
		v.run(channel.DefaultGiveUp+roundTrip, func(to int) bool { return to == sendingEnd })
		v.readAll()
		check.Equal(t, "failed", [2]bool{v.Sender.Failed(), v.Receiver.Failed()}, [2]bool{true, false})
		check.Equal(t, "messages", sorted(v.texts()), sorted(v.Judge.Texts))
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
func expireAt(t *testing.T, kind string, sent, arrived int, reported bool) {
	t.Helper()
	v := newConversation(t, settings[1], kind)
	v.measured(roundTrip)
	v.lost = always // what arrives, arrives by hand
	sends, receives := v.Ends[sendingEnd], v.Ends[receivingEnd]
	check.Equal(t, "refusal", v.send(4*fragments, int64(100*ms)), "")
	check.Equal(t, "refusal", v.send(1, 0), "")
	for range sent {
		v.Do(0, sends, channels.Compose{Space: 13}) // of one fragment
	}
	for i := sent - 1; i >= 0; i-- {
		if arrived>>i&1 == 1 {
			v.Do(0, receives, channels.Packet{Hex: sends.Went[i]})
		}
	}
	if v.Do(int64(30*ms), receives, channels.Compose{Space: channels.WholePacket}); reported && len(receives.Went) > 0 {
		v.Do(int64(30*ms), sends, channels.Packet{Hex: receives.Went[0]})
	}
	v.Do(int64(100*ms), sends, channels.Compose{Space: channels.WholePacket})
	for i := len(sends.Went) - 1; i >= 0; i-- {
		v.Do(int64(100*ms), receives, channels.Packet{Hex: sends.Went[i]})
	}
	what := fmt.Sprintf("%s, %d sent, of these %b arrived, reported %v", kind, sent, arrived, reported)
	check.That(t, v.Finish(int64(100*ms)), what)
	skipped := len(v.Judge.Got) - len(v.texts())
	whole := len(v.texts()) - 1
	check.That(t, whole == 1 && skipped == 0 && sent == fragments || whole == 0 && skipped == fragments, fmt.Sprintf("%s: whole %d, skipped %d", what, whole, skipped))
	released := arrived == 1<<fragments-1 && reported
	check.Equal(t, what+": expired", v.S.Stats().Expired, map[bool]int64{true: 0, false: 1}[released])
}
