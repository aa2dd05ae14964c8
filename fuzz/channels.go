package fuzz

import (
	"fmt"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
)

// The machines of a channel: whatever comes, they are their oracles, and hold no more than they may
// (CHT-SAFE-7).
var (
	targetChannelReceiver = machine{
		name: "ChannelReceiver", checks: "a receiver of a channel is its oracle, within its memory, whatever arrives",
		op: channels.Receiver, most: mostPlayed, judge: holds, peer: skipsAll,
	}.target()
	targetChannelSender = machine{
		name: "ChannelSender", checks: "a sender of a channel is its oracle, whatever reports come",
		op: channels.Sender, most: mostPlayed, leaves: enoughSequences, peer: takesAll,
	}.target()
)

// holds judges the memory of a receiver, of which the oracle knows nothing (CHT-BND-1).
func holds(r *run) conform.Judge {
	v := r.Product.(*channels.ProductReceiver)
	return judged(func(conform.Event, conform.Step) error {
		if held := v.Stats().HeldBytes; held > v.Config.Window*v.Config.Data {
			return fmt.Errorf("CHT-BND-1: %d bytes are held", held)
		}
		if v.State() == channel.Failed != (v.Err() != nil) {
			return fmt.Errorf("%v, but the error is %v", v.State(), v.Err())
		}
		return nil
	})
}

// mostMissing is how much the peer of a receiver skips: the oracle takes its time.
const mostMissing = 1024

// skipsAll is a peer that has given up all that is missing: it skips it, and all is read, until nothing
// is left; or the receiver has failed, and says nothing more.
func skipsAll(r *run) error {
	v := r.Product.(*channels.ProductReceiver)
	read := func() {
		for r.do(channels.Read{}).(channels.ReceiverStep).Read.Is {
		}
	}
	read()
	if v.Top()-v.Base() > mostMissing {
		return nil
	}
	for n := 0; n < 1<<12 && v.State() != channel.Failed && v.Tail() != v.Top(); n++ {
		first := v.Base()
		if first == v.Top() { // a group that is not whole
			first = min(first, v.Limit()-1)
		}
		count := min(v.Limit()-first, 256, max(1, v.Top()-first))
		r.do(channels.Skip(uint16(first), int(count)))
		read()
	}
	for range 4 {
		r.wait(r.now + 10_000_000)
		r.do(channels.Poll{Space: wholePacket})
	}
	switch due := r.Look().Deadline; {
	case v.State() != channel.Failed && v.Tail() != v.Top():
		return fmt.Errorf("all that is missing is skipped, but tail %d, base %d, top %d", v.Tail(), v.Base(), v.Top())
	case due.Is && r.now < 1<<61: // behind it the polls come too soon
		return fmt.Errorf("nothing is left, but something is due at %d", due.V)
	}
	return nil
}

const (
	mostEntries = 3000    // that a sender is given
	mostNumber  = 1 << 32 // of a packet in a trace
	wholePacket = 1160    // the space that a packet has for records
)

// enoughSequences leaves messages out when there are enough.
func enoughSequences(r *run, e conform.Event) bool {
	s := r.Product.(*channels.ProductSender)
	_, is := e.(channels.Send)
	return is && s.Next()-s.Config.First > mostEntries
}

// takesAll is a peer that takes all that is sent, and gives room, until nothing is left.
func takesAll(r *run) error {
	s := r.Product.(*channels.ProductSender)
	heard := func() int64 { return min(r.Look().Near[3]+1, mostNumber) }
	number := r.Look().Near[4]
	poll := func() channels.SenderStep {
		number = min(number+1, mostNumber)
		return r.do(channels.SenderPoll{Number: number, Space: wholePacket}).(channels.SenderStep)
	}
	for n := 0; n < mostEntries && s.Base() < s.Next() && s.State() != channel.Failed; n++ {
		for len(poll().Records) > 0 {
		}
		if s.State() != channel.Failed {
			r.do(channels.AllCame(uint16(s.Sent()), s.Config.Window, heard(), number))
		}
	}
	r.wait(r.now + 100_000_000)
	last := poll()
	switch {
	case number == mostNumber || heard() == mostNumber:
		return nil // no packet is left
	case s.Base() < s.Next() && last.State != channeloracle.StateFailed:
		return fmt.Errorf("the peer takes all, but base %d, sent %d, next %d", s.Base(), s.Sent(), s.Next())
	case last.Deadline.Is || len(last.Records) > 0:
		return fmt.Errorf("nothing is left, but %+v", last)
	}
	return nil
}
