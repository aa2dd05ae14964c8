package packet

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// acking returns a packet that does nothing but ack.
func acking(t testing.TB, sequence core.Number, ack core.Number, bits uint32) []byte {
	return encoded(t, Format{}, Packet{Header: header(uint16(sequence), uint16(ack), bits), Data: pad})
}

// Every row of the table of sent numbers.
func TestRowsOfSentNumbers(t *testing.T) {
	few := Config{SequenceBits: 10, SentMax: 4, Received: 4}
	for _, c := range []struct {
		row    string
		run    func(e *end)
		state  string // of number 0; nothing: it is forgotten
		events string
	}{
		{"L1", func(e *end) { e.sends("a"); e.gets(acking(t, 0, 0, 1)) }, "ACKED", "acked 0"},
		{"L2", func(e *end) { e.sends("a"); later(LostAfter, e); e.polls() }, "LOST", "lost 0"},
		{"L3", func(e *end) { e.sends("a"); later(LostAfter, e); e.polls(); e.gets(acking(t, 0, 0, 1)) }, "ACKED", "lost 0 acked 0"},
		{"L4", func(e *end) { sendMany(e, 5) }, "", "lost 0"},
		{"L5", func(e *end) { e.sends("a"); later(LostAfter, e); e.polls(); later(Kept-LostAfter, e); e.polls() }, "", "lost 0"},
		{"L6", func(e *end) { e.sends("a"); later(LostAfter, e); e.polls(); sendMany(e, 4) }, "", "lost 0"},
		{"L7", func(e *end) { e.sends("a"); e.gets(acking(t, 0, 0, 1)); later(Kept, e); e.polls() }, "", "acked 0"},
		{"L8", func(e *end) { e.sends("a"); e.gets(acking(t, 0, 0, 1)); sendMany(e, 4) }, "", "acked 0"},
		{"L9", func(e *end) { e.sends("\x00"); e.gets(acking(t, 0, 0, 1)) }, "ACKED", "acked 0"},
		{"L10", func(e *end) { e.sends("\x00"); later(Kept, e); e.polls() }, "", ""},
		{"L11", func(e *end) { e.sends("\x00"); sendMany(e, 4) }, "", ""},
	} {
		t.Run(c.row, func(t *testing.T) {
			e := newEnd(t, few)
			c.run(e)
			check.Equal(t, "row", string(e.sentRow), c.row)
			check.Equal(t, "events", strings.Join(e.said(), " "), c.events)
			state := ""
			if e.sent.oldest == 0 {
				state = e.states()[0]
			}
			check.Equal(t, "state", state, c.state)
		})
	}
}

func sendMany(e *end, n int) {
	for range n {
		e.sends("more")
	}
}

// A microsecond decides, and a datagram of the same time comes before (L2, PKL-3).
func TestLostToTheMicrosecond(t *testing.T) {
	e := newEnd(t, Config{})
	e.sends("a")
	later(1, e)
	e.sends("b")
	check.Equal(t, "deadline", e.Deadline(), LostAfter)
	later(LostAfter-2, e)
	e.polls()
	check.Equal(t, "events", e.said(), nil)
	later(1, e)
	e.polls()
	check.Equal(t, "events", e.said(), []string{"lost 0"})
	check.Equal(t, "deadline", e.Deadline(), LostAfter+1)
	later(1, e)
	e.gets(acking(t, 0, 1, 1))
	e.polls()
	check.Equal(t, "events", e.said(), []string{"acked 1"})
	later(Kept-LostAfter-2, e)
	e.polls()
	check.Equal(t, "states", e.states(), []string{"LOST", "ACKED"})
	later(1, e)
	e.polls()
	check.Equal(t, "states", e.states(), []string{"ACKED"})
	later(1, e)
	e.polls()
	check.Equal(t, "states", e.states(), nil)
	check.Equal(t, "deadline", e.lostDeadline(), core.Never)
}

// A poll that comes very late loses and forgets at once, in order.
func TestALatePoll(t *testing.T) {
	e := newEnd(t, Config{})
	e.sends("a")
	e.sends("\x00")
	e.sends("b")
	later(Kept, e)
	e.polls()
	check.Equal(t, "events", e.said(), []string{"lost 0", "lost 2"})
	check.Equal(t, "states", e.states(), nil)
	e.gets(acking(t, 0, 2, 7))
	check.Equal(t, "what is forgotten is not acked", e.said(), nil)
}

// Acks of what was never sent, is not kept or lies before the first do not count.
func TestAcksOfWhatIsNotKept(t *testing.T) {
	e := newEnd(t, Config{NextToSend: 70000})
	e.sends("a")
	e.sends("b")
	e.gets(acking(t, 0, 70002, 1), acking(t, 1, 69999, 0xffff), acking(t, 2, 70001-32768, allSet))
	check.Equal(t, "events", e.said(), nil)
	e.gets(acking(t, 3, 70002, 0b101))
	check.Equal(t, "of three, the one that is kept", e.said(), []string{"acked 70000"})
	e.gets(acking(t, 4, 70031, allSet))
	check.Equal(t, "the last bit but one", e.said(), []string{"acked 70001"})

	first := newEnd(t, Config{})
	first.sends("a")
	first.gets(acking(t, 0, 65535, allSet))
	check.Equal(t, "nothing comes before 0", first.said(), nil)
}

// All 32 bits count, each for its number, over a wrap (the trap: bit n is ack - n).
func TestEveryBitAcksItsNumber(t *testing.T) {
	for n := range core.Number(32) {
		e := newEnd(t, Config{NextToSend: 65520})
		sendMany(e, 32)
		e.gets(acking(t, 0, 65551, 1<<n))
		check.Equal(t, "events", e.said(), []string{fmt.Sprint("acked ", 65551-n)})
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

// An ack that is a whole turn of the space old means another number. That no datagram lives
// so long is assumed of the packets of both ends (section 11).
func TestAnAckOfAnotherTurn(t *testing.T) {
	e := newEnd(t, Config{})
	sendMany(e, 1)
	old := acking(t, 0, 0, 1)
	for range 65535 {
		_, _, err := e.Send(0, []byte("x"))
		check.Same(t, "error", err, nil)
	}
	e.gets(old)
	check.Equal(t, "number 0 is no longer kept", e.sent.oldest, 65536-8192)
	check.Equal(t, "and nothing has its sequence yet", e.Stats().Acked, 0)
	sendMany(e, 1)
	e.gets(acking(t, 1, 0, 1))
	events := e.said()
	check.Equal(t, "65536 has", events[len(events)-1], "acked 65536")
}
