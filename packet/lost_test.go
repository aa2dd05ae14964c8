package packet

import (
	"fmt"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// acking returns a packet that does nothing but ack.
func acking(t testing.TB, sequence core.Number, ack core.Number, bits uint32) []byte {
	return encoded(t, Format{}, Packet{Header: header(uint16(sequence), uint16(ack), bits), Data: pad})
}

func sendMany(e *end, n int) {
	for range n {
		e.sends("more")
	}
}

// The ring of sent packets grows from 32 as far as it must, keeps everything in its
// place, and is given back as they are forgotten: also while a few are always kept.
func TestTheRingGrows(t *testing.T) {
	e := newEnd(t, Config{NextToSend: 65500})
	check.Equal(t, "at first", len(e.sent.slots), 0)
	for i := range 300 {
		sendMany(e, 1)
		later(ms, e)
		check.That(t, len(e.sent.slots) >= i+1 && len(e.sent.slots) <= max(32, 2*i), "it is no larger than it must be")
	}
	for n := e.sent.oldest; n < e.sent.next; n++ {
		check.Equal(t, "time of sending", e.sent.get(n).at, core.Micros(n-65500)*ms)
	}
	later(Kept-20*ms, e)
	e.polls()
	check.Equal(t, "kept", e.sent.len(), 19)
	check.Equal(t, "when few are kept", len(e.sent.slots), 128)
	for n := e.sent.oldest; n < e.sent.next; n++ {
		check.Equal(t, "time of sending", e.sent.get(n).at, core.Micros(n-65500)*ms)
	}
	later(20*ms, e)
	e.polls()
	check.Equal(t, "events", len(e.said()), 300)
	check.Equal(t, "when it is empty", len(e.sent.slots), firstRing)
	check.That(t, cap(e.Endpoint.events) <= keptEvents, "the memory of many events is not kept")
	sendMany(e, 1)
	later(Kept, e)
	e.polls()
	check.Equal(t, "the smallest is kept", len(e.sent.slots), firstRing)
}

// At most SentMax are kept: each gets its event all the same (F-10).
func TestNoEventIsDropped(t *testing.T) {
	e := newEnd(t, Config{SentMax: 256})
	for range 3 * 256 {
		out, _, err := e.Send(0, []byte("x"))
		check.That(t, err == nil && len(out) == 1, "sent")
	}
	check.Equal(t, "kept", len(e.sent.slots), 256)
	later(Kept, e)
	e.polls()
	events := e.said()
	check.Equal(t, "events", len(events), 3*256)
	for i, event := range events {
		check.Equal(t, "event", event, fmt.Sprint("lost ", i))
	}
}
