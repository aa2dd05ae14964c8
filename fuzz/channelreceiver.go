package fuzz

import (
	"fmt"
	"iter"

	"github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
	"github.com/chunkwire/chunkwire/conform/oracle/channeloracle"
	"github.com/chunkwire/chunkwire/core"
)

// The receiver of a channel is given events of the contract: records of any kind, most of
// them near its window, between reads, polls and pauses; its clock goes back. The oracle says
// what it must do at each, and it keeps its bounds, whatever comes (CHT-SAFE-7, CHT-BND-1 to
// CHT-BND-3). At last a peer that has given up everything skips what is missing: then all is
// read, and the receiver falls silent.
//
// An input is a configuration and events as package conform encodes them.
var targetChannelReceiver = newTarget("ChannelReceiver", "a receiver of a channel is its oracle, and keeps its bounds, whatever arrives", runChannelReceiver, seedsOf(channels.Receiver))

// mostPlayed is how many events of an input happen: some stand for many.
const mostPlayed = 4 * maxOps

func runChannelReceiver(t T, data []byte) {
	in := &conform.Input{Left: data}
	p := channels.Receiver.Pair(t, channels.Receiver.Configure(in))
	b := &bounds{product: p.Product.(*channels.ProductReceiver)}
	judge(p, b)
	p.Compare(channels.Receiver.Play(in, p.Config, p.Oracle, mostPlayed))
	p.Compare(b.closing())
	if err := b.end(); err != nil {
		p.Fail("%v", err)
	}
}

// bounds is the judge of a receiver (CHT-BND-1 to CHT-BND-3, CHV-6). It sees what the product
// holds, and else events and steps only.
type bounds struct {
	product  *channels.ProductReceiver
	now      int64
	reported conform.Opt[int64] // when the latest report went
	reports  int                // since a record came, or something was read
	last     channels.ReceiverStep
}

func (b *bounds) Saw(at int64, e conform.Event, step conform.Step) error {
	s, ok := step.(channels.ReceiverStep)
	if !ok {
		return nil
	}
	b.last = s
	if _, is := e.(channels.ReceiverPath); !is { // of which the machine does not get the time
		b.now = max(b.now, at)
	}
	if _, came := e.(channels.Record); came || s.Read.Is {
		b.reports = 0
	}
	c := b.product.Config
	if held := b.product.Stats().HeldBytes; held > c.Window*c.Data {
		return fmt.Errorf("CHT-BND-1: %d bytes are held", held)
	}
	if (s.State == channeloracle.StateFailed) != (b.product.Err() != nil) {
		return fmt.Errorf("%s, but the error is %v", s.State, b.product.Err())
	}
	if s.Report.Is {
		return b.report(len(s.Report.V), int(e.(channels.Poll).Space))
	}
	return nil
}

func (b *bounds) report(size, space int) error {
	since := b.now - b.reported.V
	first := !b.reported.Is
	b.reported = conform.Some(b.now)
	b.reports++
	switch {
	case size == 0 || size > min(space, 199):
		return fmt.Errorf("CHT-BND-2: a report of %d bytes in %d", size, space)
	case !first && since < int64(channel.ReportSpacing):
		return fmt.Errorf("CHT-BND-2: a report %d us after another", since)
	case b.reports > 5+int(b.product.Config.GiveUp/(250*core.Millisecond)):
		return fmt.Errorf("CHT-BND-3: %d reports since something came", b.reports)
	}
	return nil
}

// mostMissing is how much closing skips: the oracle takes its time.
const mostMissing = 1024

// closing are the events of a peer that has given up all that is missing: it skips it, and all
// is read, until nothing is left; or the receiver has failed, and says nothing more.
func (b *bounds) closing() iter.Seq2[int64, conform.Event] {
	return func(yield func(int64, conform.Event) bool) {
		v := b.product
		read := func() {
			for more := true; more; more = b.last.Read.Is {
				yield(b.now, channels.Read{})
			}
		}
		read()
		if v.Top()-v.Base() > mostMissing {
			return
		}
		for n := 0; n < 1<<12 && b.last.State != channeloracle.StateFailed && v.Tail() != v.Top(); n++ {
			first := v.Base()
			if first == v.Top() { // a group that is not whole
				first = min(first, v.Limit()-1)
			}
			count := min(v.Limit()-first, 256, max(1, v.Top()-first))
			yield(b.now, channels.Skip(uint16(first), int(count)))
			read()
		}
		for range 4 {
			yield(min(b.now+10_000_000, conform.MostTime), channels.Poll{Space: 1160})
		}
	}
}

// end judges what closing leaves.
func (b *bounds) end() error {
	v := b.product
	switch {
	case v.Top()-v.Base() > mostMissing:
		return nil
	case b.last.State != channeloracle.StateFailed && v.Tail() != v.Top():
		return fmt.Errorf("all that is missing is skipped, but tail %d, base %d, top %d", v.Tail(), v.Base(), v.Top())
	case b.last.Deadline.Is && b.now < 1<<61: // behind it the polls of closing come too soon
		return fmt.Errorf("nothing is left, but something is due at %d", b.last.Deadline.V)
	}
	return nil
}
