package channel_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
	"github.com/chunkwire/chunkwire/conform/stateful"
	"github.com/chunkwire/chunkwire/core"
)

var commandWaits = []core.Micros{0, 1, 4999, 5 * ms, 20 * ms, 60 * ms, 250 * ms, 300 * ms, 2000 * ms, 10_000 * ms}

// senderSystem is a sender beside its oracle.
type senderSystem struct {
	stateful.Objections
	*channelsim.CheckedSender
	stateful.Clock
	bits           core.Space
	packet, report core.Number
}

func newSenderSystem(cfg channel.Config) *senderSystem {
	s := &senderSystem{bits: channelsim.Complete(cfg).SequenceBits}
	s.CheckedSender = check.Must(channelsim.NewCheckedSender(cfg, s.Fail))
	return s
}

// reports lets a report arrive whose base is so far from the sender's, which names what a
// mask says, of what lies in the room: a decoder takes no other, and none without the base.
func (s *senderSystem) reports(ahead, room int, mask uint32, number, ack core.Number) string {
	if mask &= 1<<min(room, 31) - 1; mask != 0 {
		mask |= 1
	}
	base := s.Sender.Base() + core.Number(ahead)
	r := channel.Record{Type: channel.TypeReport, Sequence: s.bits.Wire(base), Room: room}
	for at := range core.Number(32) {
		if mask>>at&1 == 1 {
			r.Groups = []channel.Group{{Start: s.bits.Wire(base + at)}}
		}
	}
	for i := range r.Groups {
		for at := range core.Number(32) {
			if d := core.Number(s.bits.Wire(core.Number(r.Groups[i].Start)-base)) - 1 - at; d >= 0 && mask>>d&1 == 1 {
				r.Groups[i].Bits |= 1 << at
			}
		}
	}
	s.Report(s.Now, number, ack, &r)
	return fmt.Sprintf("report %d, ack %d: base %d, room %d, missing %b: %s", number, ack, base, room, mask, s.Sender.Row())
}

var senderVerbs = []*stateful.Verb[*senderSystem]{
	{Weight: 8, Limits: stateful.Args{40, 5, 4}, Run: func(s *senderSystem, a stateful.Args) string {
		times, lifetime := []int{1, 1, 3, 20, 150}[a[1]], []core.Micros{0, 0, 1, 300 * ms}[a[2]]
		size := []int{1, a[0], a[0], a[0], min(a[0], 3)}[a[1]]
		for range times {
			_ = s.Send(s.Now, bytes.Repeat([]byte{byte(a[0])}, size), lifetime)
		}
		return fmt.Sprintf("send %d times %d bytes with lifetime %d: %s", times, size, lifetime, s.Sender.Row())
	}},
	{Weight: 8, Limits: stateful.Args{9, 64, 12}, Run: func(s *senderSystem, a stateful.Args) string {
		s.report += []core.Number{1, 1, 1, 1, 2, 0, -1}[min(a[2], 6)%7]
		sent := int(s.Sender.Sent() - s.Sender.Base())
		ahead := []int{0, 0, 1, 2, 3, sent, sent, sent + 1, -1}[a[0]]
		mask := uint32(a[1]) << (a[2] % 3)
		if a[2] < 10 {
			mask &= 1<<max(0, min(31, sent-ahead)) - 1
		}
		return s.reports(ahead, a[1]/2, mask, s.report, s.packet-core.Number(a[2]%5))
	}},
	{Weight: 8, Limits: stateful.Args{6, 12, 2}, Run: func(s *senderSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[1], s.Deadline())
		space := []int{1160, 1160, 60, 20, 5, 3}[a[0]]
		text := fmt.Sprintf("poll at %d, packet %d, space %d:", s.Now, s.packet, space)
		for _, r := range s.Poll(s.Now, s.packet, space) {
			text += fmt.Sprintf(" %v %d", r.Type, r.Sequence)
		}
		s.packet += core.Number(a[2])
		return text
	}},
	{Weight: 2, Limits: stateful.Args{5, 12}, Run: func(s *senderSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[1], s.Deadline())
		s.SetPath(paths[a[0]])
		return fmt.Sprintf("at %d, path %+v", s.Now, paths[a[0]])
	}},
}

// The sender does what its oracle does, whatever is asked of it and whatever comes (section 4).
func TestCommandsToTheSender(t *testing.T) {
	for _, s := range settings {
		stateful.Check(t, func() *senderSystem { return newSenderSystem(s.Config) }, senderVerbs...)
	}
}

// receiverSystem is a receiver beside its oracle.
type receiverSystem struct {
	stateful.Objections
	*channelsim.CheckedReceiver
	stateful.Clock
	cfg channel.Config
}

func newReceiverSystem(cfg channel.Config, kind channel.Kind) *receiverSystem {
	cfg.Kind = kind
	s := &receiverSystem{cfg: channelsim.Complete(cfg)}
	s.CheckedReceiver = check.Must(channelsim.NewCheckedReceiver(cfg, s.Fail))
	return s
}

// sequence returns one near the base, or near the limit.
func (s *receiverSystem) sequence(arg int) uint16 {
	r := s.Receiver
	n := r.Base() + []core.Number{0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6, 9, 13, 33, 70, -1, -2, -7, 0, 0, 0, 1 << 15}[arg]
	switch arg {
	case 22:
		n = r.Limit() - 1
	case 23:
		n = r.Limit()
	case 24:
		n = r.Tail() - 1
	}
	return s.cfg.SequenceBits.Wire(n)
}

func (s *receiverSystem) handles(r channel.Record) string {
	s.Handle(s.Now, &r)
	return fmt.Sprintf("%v %d, %d of %d: %s; base %d, tail %d", r.Type, r.Sequence, r.Index, r.Count, s.Receiver.Row(), s.Receiver.Base(), s.Receiver.Tail())
}

var receiverVerbs = []*stateful.Verb[*receiverSystem]{
	{Weight: 6, Limits: stateful.Args{26, 9}, Run: func(s *receiverSystem, a stateful.Args) string {
		return s.handles(channel.Record{Type: channel.TypeMessage, Sequence: s.sequence(a[0]), Data: bytes.Repeat([]byte{byte(a[1])}, min(a[1]+1, s.cfg.Data))})
	}},
	{Weight: 8, Limits: stateful.Args{26, 4, 3}, Run: func(s *receiverSystem, a stateful.Args) string {
		count := min(2+a[2], s.cfg.Group, s.cfg.Window)
		index := a[1] % count
		return s.handles(channel.Record{Type: channel.TypeFragment, Sequence: s.sequence(a[0]), Index: index, Count: count, Data: bytes.Repeat([]byte{byte(index)}, s.cfg.Data)})
	}},
	// All of a group, in any order.
	{Weight: 4, Limits: stateful.Args{17, 3, 2}, Run: func(s *receiverSystem, a stateful.Args) (text string) {
		count := min(2+a[1], s.cfg.Group, s.cfg.Window)
		first := s.sequence(a[0])
		for i := range count {
			index := i
			if a[2] == 1 {
				index = count - 1 - i
			}
			text += s.handles(channel.Record{Type: channel.TypeFragment, Sequence: s.cfg.SequenceBits.Wire(core.Number(first) + core.Number(index)), Index: index, Count: count, Data: bytes.Repeat([]byte{byte(index)}, s.cfg.Data)}) + "; "
		}
		return text
	}},
	{Weight: 3, Limits: stateful.Args{26, 5}, Run: func(s *receiverSystem, a stateful.Args) string {
		return s.handles(channel.Record{Type: channel.TypeSkip, Sequence: s.sequence(a[0]), Count: []int{1, 1, 2, 3, 40}[a[1]]})
	}},
	{Weight: 2, Limits: stateful.Args{26}, Run: func(s *receiverSystem, a stateful.Args) string {
		return s.handles(channel.Record{Type: channel.TypeStatus, Sequence: s.sequence(a[0])})
	}},
	{Weight: 6, Limits: stateful.Args{3}, Run: func(s *receiverSystem, a stateful.Args) string {
		text := "read:"
		for range []int{1, 2, 100}[a[0]] {
			m, ok := s.Read(s.Now)
			if !ok || s.Any() {
				break
			}
			text += fmt.Sprintf(" %d (%d bytes, skipped %v)", m.Sequence, len(m.Data), m.Skipped)
		}
		return text
	}},
	{Weight: 6, Limits: stateful.Args{4, 12}, Run: func(s *receiverSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[1], s.Deadline())
		r, ok := s.Poll(s.Now, []int{1160, 1160, 14, 6}[a[0]])
		return fmt.Sprintf("poll at %d: %s %v, base %d, room %d, %x", s.Now, s.Receiver.Row(), ok, r.Sequence, r.Room, r.Groups)
	}},
	{Weight: 1, Limits: stateful.Args{5, 12}, Run: func(s *receiverSystem, a stateful.Args) string {
		s.Advance(commandWaits, a[1], s.Deadline())
		s.SetPath(paths[a[0]])
		return fmt.Sprintf("at %d, path %+v", s.Now, paths[a[0]])
	}},
}

// The receiver does what its oracle does, whatever is asked of it and whatever comes, honest
// or not (sections 5 and 6).
func TestCommandsToTheReceiver(t *testing.T) {
	for _, s := range settings {
		for _, kind := range []channel.Kind{channel.Ordered, channel.Unordered} {
			stateful.Check(t, func() *receiverSystem { return newReceiverSystem(s.Config, kind) }, receiverVerbs...)
		}
	}
}
