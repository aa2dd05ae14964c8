package fuzz

import (
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/channels"
)

// What was measured of the path comes without a time: a judge that takes the event's for the
// machine's believes that reports come too soon after it.
func TestAPathHasNoTime(t *testing.T) {
	p := channels.Receiver.Pair(t, channels.Receiver.Config)
	judge(p, &bounds{product: p.Product.(*channels.ProductReceiver)})
	for _, e := range []conform.Timed{
		{At: 0, Event: channels.Skip(5, 1)}, {At: 0, Event: channels.Poll{Space: 1160}}, {At: 9_000_000, Event: channels.ReceiverPath{}},
		{At: 60_000, Event: channels.Poll{Space: 1160}}, {At: 120_000, Event: channels.Poll{Space: 1160}},
	} {
		p.Do(e.At, e.Event)
	}
	if b := p.Judges[0].(*bounds); b.reports != 2 || b.now != 120_000 {
		t.Errorf("%d reports until %d", b.reports, b.now)
	}
}
