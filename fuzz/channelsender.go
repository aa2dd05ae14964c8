package fuzz

import (
	"fmt"
	"iter"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/conform/sim/channelsim"
	"github.com/chunkwire/chunkwire/core"
)

// The sender of a channel is given events of the contract: messages, and reports that are
// true, late, forged or implausible, between packets that are composed; its clock goes back.
// The oracle says what it must do at each, and the judge that it keeps its promises, of a
// receiver that has all that was sent (CHT-SAFE-6, CHT-LIVE-2, CHT-LIVE-4, CHT-BND-1,
// CHT-BND-4, CHN-6). At last an honest peer takes all, and the sender falls silent; or it has
// given up.
//
// An input is a configuration and events as package conform encodes them.
var targetChannelSender = newTarget("ChannelSender", "a sender of a channel is its oracle, and keeps its promises, whatever reports come", runChannelSender, seedsOf(channels.Sender))

// mostEntries bounds how many sequences one execution sends.
const mostEntries = 3000

func runChannelSender(t T, data []byte) {
	in := &conform.Input{Left: data}
	p := channels.Sender.Pair(t, channels.Sender.Configure(in))
	b := newPromises(p.Product.(*channels.ProductSender))
	judge(p, b)
	p.Compare(b.few(channels.Sender.Play(in, p.Config, p.Oracle, mostPlayed)))
	p.Compare(b.closing())
	if err := b.end(); err != nil {
		p.Fail("%v", err)
	}
}

// promises asks the judge of channels, of a peer that gets all that is sent, and reads at once.
type promises struct {
	product *channels.ProductSender
	judge   *channelsim.Judge
	now     int64
	number  int64 // of the newest packet
	heard   int64 // of the next packet of the peer
	next    core.Number
	came    core.Number // all below has come
	tail    core.Number // what the peer reads next
	sent    map[core.Number]*sentMessage
	last    channels.SenderStep
	off     bool // a packet has a number below another: the packet layer gives none
}

// sentMessage is a message that was accepted, by each of its sequences.
type sentMessage struct {
	first, end core.Number
	data       []byte
	lost       bool // some of it went as skipped
}

func newPromises(p *channels.ProductSender) *promises {
	return &promises{
		product: p, judge: channelsim.NewJudge(channelsim.Complete(p.Config)), number: -1, next: p.Config.First, came: p.Config.First, tail: p.Config.First, sent: map[core.Number]*sentMessage{},
	}
}

// few leaves messages out when there are enough.
func (b *promises) few(events iter.Seq2[int64, conform.Event]) iter.Seq2[int64, conform.Event] {
	return func(yield func(int64, conform.Event) bool) {
		for at, e := range events {
			if _, is := e.(channels.Send); is && b.product.Next()-b.product.Config.First > mostEntries {
				continue
			}
			if !yield(at, e) {
				return
			}
		}
	}
}

func (b *promises) Saw(at int64, e conform.Event, step conform.Step) error {
	s, ok := step.(channels.SenderStep)
	if !ok {
		return nil
	}
	b.last = s
	b.packets(e, s)
	if kept := b.product.Stats().Kept; kept > b.product.Config.SendQueue {
		return fmt.Errorf("CHT-BND-1: %d are kept", kept)
	}
	if b.off {
		b.now = max(b.now, at)
		return nil
	}
	now := core.Micros(at)
	switch e := e.(type) {
	case channels.SenderPath: // of which the machine does not get the time
		b.judge.Path(channel.Path{Measured: e.SRTT.Is, SRTT: core.Micros(e.SRTT.V), Patience: core.Micros(e.Patience)})
		return nil
	case channels.Send:
		b.now = max(b.now, at)
		return b.accepted(now, e, s)
	case channels.Report:
		b.now = max(b.now, at)
		return b.reported(now, e, s)
	case channels.SenderPoll:
		b.now = max(b.now, at)
		return b.composed(now, e, s)
	}
	return nil
}

// packets notes the numbers of packets in both directions.
func (b *promises) packets(e conform.Event, s channels.SenderStep) {
	switch e := e.(type) {
	case channels.SenderPoll:
		b.off = b.off || e.Number < b.number
		b.number = max(b.number, e.Number)
	case channels.Report:
		if s.Rows[0] == "D6" {
			b.heard = max(b.heard, e.Number+1)
		}
	}
}

func (b *promises) accepted(now core.Micros, e channels.Send, s channels.SenderStep) error {
	if !s.Refused.Is {
		m := &sentMessage{first: b.next, end: b.product.Next(), data: []byte(e.Data)}
		for ; b.next < m.end; b.next++ {
			b.sent[b.next] = m
		}
	}
	return b.judge.Sent(now, []byte(e.Data), core.Micros(e.Lifetime.V), core.Code(s.Refused.V))
}

func (b *promises) reported(now core.Micros, e channels.Report, s channels.SenderStep) error {
	number := core.Number(e.Number)
	var r channel.Record
	if _, err := b.product.Config.Decode([]byte(e.Hex), 0, &r); err != nil {
		return err
	}
	if s.Rows[0] != "D6" {
		number = core.NoNumber // it learns the time, and nothing else
	}
	b.judge.Heard(now, number, core.Number(e.Ack), &r)
	if s.Rows[0] != "D6" {
		return nil
	}
	return b.judge.Released(b.product.Base())
}

// composed judges the records of a packet.
func (b *promises) composed(now core.Micros, e channels.SenderPoll, s channels.SenderStep) error {
	size := 0
	for _, text := range s.Records {
		var r channel.Record
		if _, err := b.product.Config.Decode([]byte(text), 0, &r); err != nil {
			return fmt.Errorf("a record does not decode: %w", err)
		}
		size += len(text)
		if err := b.judge.Composed(now, core.Number(e.Number), r); err != nil {
			return err
		}
		if err := b.arrives(now, &r); err != nil {
			return err
		}
	}
	if size > int(e.Space) {
		return fmt.Errorf("CHS-1: %d bytes in %d", size, e.Space)
	}
	return b.judge.Polled(now, e.Space >= channelsim.WholePacket, s.State == channeloracle.StateFailed)
}

// arrives says to the judge that a record has come at a receiver that reads at once. So all
// that was sent has come.
func (b *promises) arrives(now core.Micros, r *channel.Record) error {
	base := b.product.Base()
	n := base + core.Number(r.Sequence-uint16(base))
	b.judge.Arrived(now, n, r)
	switch r.Type {
	case channel.TypeSkip:
		for end := n + core.Number(r.Count); n < end; n++ {
			b.sent[n].lost = b.sent[n].lost || n >= b.tail
		}
		b.came = max(b.came, n)
	case channel.TypeMessage, channel.TypeFragment:
		b.came = max(b.came, n+1)
	}
	for b.tail < b.came {
		m := b.sent[b.tail]
		read := channel.Message{Sequence: b.tail, Skipped: m.lost}
		switch {
		case m.lost:
			b.tail++
		case m.end <= b.came:
			read.Data, b.tail = m.data, m.end
		default:
			return nil
		}
		if err := b.judge.Read(read); err != nil {
			return err
		}
	}
	return nil
}

// closing are the events of a peer that takes all that is sent, and gives room, until nothing
// is left.
func (b *promises) closing() iter.Seq2[int64, conform.Event] {
	return func(yield func(int64, conform.Event) bool) {
		s := b.product
		poll := func() bool {
			yield(b.now, channels.SenderPoll{Number: min(b.number+1, mostNumber), Space: channelsim.WholePacket})
			return len(b.last.Records) > 0
		}
		for n := 0; n < mostEntries && s.Base() < s.Next() && b.last.State != channeloracle.StateFailed; n++ {
			for poll() {
			}
			if b.last.State != channeloracle.StateFailed {
				yield(b.now, channels.AllCame(uint16(s.Sent()), s.Config.Window, min(b.heard, mostNumber), b.number))
			}
		}
		b.now = min(b.now+100_000_000, conform.MostTime)
		poll()
	}
}

// mostNumber is the largest number of a packet in a trace.
const mostNumber = 1 << 32

// end judges what closing leaves.
func (b *promises) end() error {
	s := b.product
	switch {
	case b.number >= mostNumber || b.heard > mostNumber:
		return nil // no packet is left
	case s.Base() < s.Next() && b.last.State != channeloracle.StateFailed:
		return fmt.Errorf("the peer takes all, but base %d, sent %d, next %d", s.Base(), s.Sent(), s.Next())
	case b.last.Deadline.Is || len(b.last.Records) > 0:
		return fmt.Errorf("nothing is left, but %+v", b.last)
	}
	return nil
}
