package fuzz

import (
	"fmt"
	"iter"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// The sender of a channel is given events of the contract: messages, and reports that are
// true, late, forged or implausible, between packets that are composed; its clock goes back.
// The oracle says what it must do at each (CHT-SAFE-6, CHT-LIVE-2, CHT-LIVE-4, CHT-BND-4, CHN-6),
// and it keeps its bounds (CHT-BND-1, CHS-1). At last an honest peer takes all, and the sender falls
// silent; or it has given up.
//
// An input is a configuration and events as package conform encodes them.
var targetChannelSender = newTarget("ChannelSender", "a sender of a channel is its oracle, and keeps its promises, whatever reports come", runChannelSender, seedsOf(channels.Sender))

// mostEntries bounds how many sequences one execution sends.
const mostEntries = 3000

func runChannelSender(t T, data []byte) {
	in := &conform.Input{Left: data}
	p := channels.Sender.Pair(t, channels.Sender.Configure(in))
	b := &promises{product: p.Product.(*channels.ProductSender), number: -1}
	judge(p, b)
	p.Compare(b.few(channels.Sender.Play(in, p.Config, p.Oracle, mostPlayed)))
	p.Compare(b.closing())
	if err := b.end(); err != nil {
		p.Fail("%v", err)
	}
}

// promises is a peer that gets reports to the sender, and at last all that is sent.
type promises struct {
	product *channels.ProductSender
	now     int64
	number  int64 // of the newest packet
	heard   int64 // of the next packet of the peer
	last    channels.SenderStep
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
	if _, is := e.(channels.SenderPath); !is { // of which the machine does not get the time
		b.now = max(b.now, at)
	}
	if kept := b.product.Stats().Kept; kept > b.product.Config.SendQueue {
		return fmt.Errorf("CHT-BND-1: %d are kept", kept)
	}
	switch e := e.(type) {
	case channels.SenderPoll:
		b.number = max(b.number, e.Number)
		size := 0
		for _, r := range s.Records {
			size += len(r)
		}
		if size > int(e.Space) {
			return fmt.Errorf("CHS-1: %d bytes in %d", size, e.Space)
		}
	case channels.Report:
		if s.Rows[0] == "D6" {
			b.heard = max(b.heard, e.Number+1)
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
			yield(b.now, channels.SenderPoll{Number: min(b.number+1, mostNumber), Space: channels.WholePacket})
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
