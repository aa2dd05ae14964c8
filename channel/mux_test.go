package channel

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// host is all channels of one end with their driver.
type host struct {
	t testing.TB
	*Mux
	now    core.Micros
	number core.Number // of the next packet
	newest core.Number // of the peer's packets
}

func newHost(t testing.TB, channels ...Config) *host {
	m, err := NewMux(MuxConfig{Channels: channels})
	check.Same(t, "error", err, nil)
	return &host{t: t, Mux: m, newest: core.NoNumber}
}

// pair returns two ends with the same channels.
func pair(t testing.TB, channels ...Config) (a, b *host) {
	return newHost(t, channels...), newHost(t, channels...)
}

// says sends messages.
func (h *host) says(channel uint8, messages ...string) {
	h.t.Helper()
	for _, m := range messages {
		check.Same(h.t, "error", h.Send(h.now, channel, []byte(m), 0), nil)
	}
}

// packs composes a payload for the next packet (CHC-1, CHC-2).
func (h *host) packs() []byte {
	h.t.Helper()
	p, quiet := h.Compose(nil, h.now, h.number, LargestPayload)
	if len(p) == 0 {
		return nil
	}
	h.number++
	list := h.records(p)
	check.Equal(h.t, "quiet", quiet, !slices.ContainsFunc(list, func(r Record) bool { return !r.quiet() }))
	check.That(h.t, len(p) <= LargestPayload || len(list) == 1 && list[0].Type == TypeUnreliable, "it is not too large")
	return p
}

// records decodes a payload.
func (h *host) records(p []byte) []Record {
	h.t.Helper()
	list, err := decodeAll(port, p)
	check.Same(h.t, "error", err, nil)
	return list
}

// words returns a payload in words, each record with its channel.
func (h *host) words(p []byte) string {
	h.t.Helper()
	if p == nil {
		return ""
	}
	var list []string
	for _, r := range h.records(p) {
		list = append(list, fmt.Sprint(r.Channel, ":", text(r)))
	}
	return strings.Join(list, ", ")
}

// gets takes a payload from the other end, whose packet acks all that we sent.
func (h *host) gets(p []byte) (quiet bool) {
	h.t.Helper()
	h.newest++
	quiet, err := h.Handle(h.now, h.newest, h.number-1, p)
	check.Same(h.t, "error", err, nil)
	return quiet
}

// reads returns all that a channel has.
func (h *host) reads(channel uint8) string {
	h.t.Helper()
	var list []string
	for {
		m, ok := h.Read(h.now, channel, nil)
		if !ok {
			return strings.Join(list, ", ")
		}
		list = append(list, fmt.Sprint(m.Sequence, " ", string(m.Data)))
	}
}

// channels of the tests below.
var threeKinds = []Config{{ID: 1, Priority: 1}, {ID: 2, Kind: Unordered}, {ID: 3, Kind: Unreliable}}

// A driver composes at the deadline of a report (CHC-5), and gives what arrives at that time to the machines
// first: it is in the report (CHC-4).
func TestArrivalsComeBeforeReports(t *testing.T) {
	a, b := pair(t, Config{})
	a.says(0, "x")
	b.gets(a.packs())
	at := b.Prompt()
	b.now = at - 1
	check.Equal(t, "before it is due", b.words(b.packs()), "")
	b.now = at
	a.says(0, "y")
	b.gets(a.packs())
	check.Equal(t, "at its time", b.words(b.packs()), "0:report 2+1022")
}

// Reports go first, then messages by priority, of equal ones unreliable before reliable (CHC-7, CHC-8).
func TestTheOrderInAPayload(t *testing.T) {
	a, b := pair(t, threeKinds...)
	b.says(2, "x")
	b.says(1, "y")
	check.That(t, !a.gets(b.packs()), "messages ask for an ack")
	a.now = 20 * ms
	check.Equal(t, "nothing waits for a tick", a.Pending(), false)
	a.says(2, "low")
	a.says(1, "high")
	a.says(3, "now")
	a.says(1, "next")
	check.That(t, a.Pending(), "messages wait for a tick")
	p := a.packs()
	check.Equal(t, "payload", a.words(p), "1:report 1+1023, 2:report 1+1023, 1:message 0 high, 1:message 1 next, 3:unreliable now, 2:message 0 low")
	check.Equal(t, "nothing more", a.words(a.packs()), "")
	check.That(t, !b.gets(p), "it asks for an ack")
	check.Equal(t, "read", b.reads(1)+"; "+b.reads(2)+"; "+b.reads(3), "0 high, 1 next; 0 low; 0 now")
	check.Equal(t, "at rest", b.SenderStats(1).Kept, 0)
	check.Equal(t, "channels that send, or wait to", b.sending|b.waiting, 0)
	check.Equal(t, "read", a.reads(1)+"; "+a.reads(2), "0 y; 0 x")
}

// A payload of reports only is quiet, and so is a pad (CHR-4).
func TestQuietPayloads(t *testing.T) {
	a, b := pair(t, threeKinds...)
	a.says(1, "x")
	b.gets(a.packs())
	b.now = 20 * ms
	p := b.packs()
	check.Equal(t, "payload", b.words(p), "1:report 1+1023")
	check.That(t, a.gets(p), "reports are quiet")
	check.That(t, a.gets([]byte{0}), "so is a pad")
	check.That(t, !a.gets(unhex("05010100ff0100 0601 0000")), "a report and a status are not")
	check.Equal(t, "payloads", a.Stats().Payloads, 3)
	check.Equal(t, "nothing more", b.words(b.packs()), "")
	check.Equal(t, "composed", []int64{a.Stats().Composed, b.Stats().Composed}, []int64{1, 1})
	check.That(t, a.payload == nil && b.payload == nil, "the caller's memory is not kept")
}

// Channels of one priority take turns: the first that gave something comes last in the next
// packet (CHC-8).
func TestTurns(t *testing.T) {
	a := newHost(t, Config{ID: 1}, Config{ID: 2}, Config{ID: 3}, Config{ID: 4, Priority: 7})
	big := strings.Repeat("x", 1000)
	for range 3 {
		a.says(1, big)
		a.says(2, big)
	}
	a.says(4, "d")
	a.says(3, big)
	var turns []uint8
	for p := a.packs(); p != nil; p = a.packs() {
		for _, r := range a.records(p) {
			turns = append(turns, r.Channel)
		}
	}
	check.Equal(t, "turns", turns, []uint8{4, 1, 2, 3, 1, 2, 1, 2})
}

// One that gives nothing keeps its turn.
func TestTurnsOfThoseThatGive(t *testing.T) {
	a := newHost(t, Config{ID: 1}, Config{ID: 2}, Config{ID: 3})
	a.says(1, "x")
	check.Equal(t, "payload", a.words(a.packs()), "1:message 0 x")
	a.says(3, "y") // the order is 2, 3, 1
	check.Equal(t, "payload", a.words(a.packs()), "3:message 0 y")
	a.says(1, "x")
	a.says(2, "z")
	a.says(3, "y")
	check.Equal(t, "the order is 2, 1, 3", a.words(a.packs()), "2:message 0 z, 1:message 1 x, 3:message 1 y")
	a.says(2, "z")
	a.says(3, "y") // the order is 1, 3, 2, and 1 only waits for a report
	check.Equal(t, "payload", a.words(a.packs()), "3:message 2 y, 2:message 1 z")
	a.says(1, "x")
	a.says(3, "y")
	check.Equal(t, "the order is 1, 2, 3", a.words(a.packs()), "1:message 2 x, 3:message 3 y")
}

// Channel 0 is a channel like others, also when it is the only one that has something to do.
func TestChannel0(t *testing.T) {
	a, b := pair(t, Config{ID: 0}, Config{ID: 1, Kind: Unreliable})
	a.says(0, "x")
	check.Equal(t, "deadline", a.Deadline(), 0)
	p := a.packs()
	check.Equal(t, "message", a.words(p), "0:message 0 x")
	a.now = a.Deadline()
	check.Equal(t, "probe", a.words(a.packs()), "0:status 1, 0:message 0 x")
	b.gets(p)
	b.now = b.Deadline()
	check.Equal(t, "report", b.words(b.packs()), "0:report 1+1023")
	b.now += 10 * ms
	check.Equal(t, "read", b.reads(0), "0 x")
	check.Equal(t, "20 ms after the read", b.Deadline(), b.now+ReportDelay)
	a, b = pair(t, Config{ID: 0, Kind: Unreliable}, Config{ID: 1})
	a.says(0, "u")
	check.That(t, a.Pending(), "it waits for a tick")
	b.gets(a.packs())
	check.Equal(t, "read", b.reads(0), "0 u")
}

// What does not fit beside a large record may, from another channel.
func TestWhatFitsGoesAlong(t *testing.T) {
	a := newHost(t, Config{ID: 1}, Config{ID: 2})
	a.says(1, strings.Repeat("x", 1024), strings.Repeat("y", 1024))
	a.says(2, "small")
	check.Equal(t, "payload", strings.ReplaceAll(a.words(a.packs()), "x", ""), "1:message 0 , 2:message 0 small")
}

// A payload with a fault changes nothing but a counter (CHR-1); one without goes to the channels,
// record by record (CHR-24, CHC-3).
func TestAPayloadWithAFault(t *testing.T) {
	good := "02010000010061 0202000001006204020100000103010063"
	for _, c := range []struct {
		name, hex string
		code      core.Code
		place     int
	}{
		{"nothing", "", CodeTruncated, 0},
		{"an unknown record", good + "07", CodeUnknownRecord, 24},
		{"a record that is cut", good + "0201", CodeTruncated, 26},
		{"a channel that is not configured", good + "0604", CodeUnknownChannel, 25},
		{"a message on an unreliable channel", good + "0203", CodeChannelKind, 25},
		{"a report on an unreliable channel", good + "0503", CodeChannelKind, 25},
		{"an unreliable message on an ordered channel", good + "0101", CodeChannelKind, 25},
		{"an unreliable message on an unordered channel", good + "0102", CodeChannelKind, 25},
		{"more room than the window", good + "0501 0000 0104 00", CodeRoom, 28},
		{"a pad at the end", good + "00", CodeUnknownRecord, 24},
	} {
		h := newHost(t, threeKinds...)
		quiet, err := h.Handle(0, 0, core.NoNumber, unhex(c.hex))
		var e *Error
		check.That(t, !quiet && errors.As(err, &e), c.name)
		check.Equal(t, c.name, []any{e.Code(), e.Place()}, []any{c.code, c.place})
		check.Equal(t, "machines", h.byID[1].receiver.Row()+h.byID[2].receiver.Row(), "")
		check.Equal(t, "read", h.reads(1)+h.reads(2)+h.reads(3), "")
		check.Equal(t, "nothing is due", h.Deadline(), core.Never)
		stats := h.Stats()
		check.Equal(t, "counts", []int64{stats.Payloads, stats.Refused(c.code), stats.Refused("none")}, []int64{0, 1, 0})
	}
	h := newHost(t, threeKinds...)
	check.That(t, !h.gets(unhex(good)), "without one")
	check.Equal(t, "read", h.reads(1)+"; "+h.reads(2)+"; "+h.reads(3), "0 a; 0 b, 1 ; 0 c")
}

// A layer above that has records of its own takes a payload record by record, and composes reports alone.
func TestRecordByRecord(t *testing.T) {
	a, b := pair(t, threeKinds...)
	a.says(3, "one", "two")
	check.That(t, !a.Delivered(), "it waits")
	a.packs()
	check.That(t, a.Delivered(), "what is unreliable was sent")
	a.says(3, "three", "four")
	a.says(1, "x")
	p := a.packs()
	check.That(t, !a.Delivered(), "what is reliable did not come yet")

	for at := 0; at < len(p); {
		next, quiet, err := b.Check(p, at)
		check.That(t, next > at && !quiet && err == nil, "it is right")
		at = next
	}
	check.Equal(t, "nothing was taken", b.Readable(), 0)
	fault := unhex("0007")
	next, quiet, err := b.Check(fault, 1)
	check.That(t, next == 1 && !quiet && err != nil, "a fault")
	stats := b.Stats()
	check.Equal(t, "counted", stats.Refused(CodeUnknownRecord), 1)
	for at := 0; at < len(p); {
		at = b.Apply(5*ms, 0, core.NoNumber, p, at)
	}
	b.Apply(5*ms, 0, core.NoNumber, fault, 1)
	check.Equal(t, "when its report is due", b.ReportPrompt(), 5*ms+ReportDelay)

	check.Equal(t, "channels to read", b.Readable(), 1<<1|1<<3)
	m, ok := b.Read(0, 3, nil)
	check.That(t, ok && string(m.Data) == "three" && b.Readable() == 1<<1|1<<3, "there is one more")
	check.Equal(t, "read", b.reads(3)+"; "+b.reads(1), "0 four; 0 x")
	check.Equal(t, "nothing is left", b.Readable(), 0)

	b.says(1, "y")
	p = b.ComposeReports([]byte("<"), 5*ms+ReportDelay, LargestPayload)
	check.Equal(t, "reports", string(p[:1])+b.words(p[1:]), "<1:report 1+1024")
	a.number = 2
	a.gets(p[1:])
	check.That(t, a.Delivered(), "it came")
}

// Two deadlines: what is prompt, and what may wait for the application's tick (CHC-9, CHC-10).
func TestTwoDeadlines(t *testing.T) {
	a, b := pair(t, threeKinds...)
	both := func(h *host) []core.Micros { return []core.Micros{h.Prompt(), h.Deadline()} }
	check.Equal(t, "at rest", both(a), []core.Micros{core.Never, core.Never})
	a.now = ms
	a.says(1, "x", "y", "z")
	check.Equal(t, "new messages", both(a), []core.Micros{ms + 10*core.Second, ms})
	p := a.packs()
	check.Equal(t, "sent: the probe", both(a), []core.Micros{ms + 250*ms, ms + 250*ms})
	a.says(3, "u")
	check.Equal(t, "an unreliable message", both(a), []core.Micros{ms + 250*ms, ms})
	a.packs()
	b.now = 51 * ms
	b.gets(a.some(p, 0, 2))
	check.Equal(t, "a report of a gap", both(b), []core.Micros{51 * ms, 51 * ms})
	report := b.packs()
	check.Equal(t, "its repetition", both(b), []core.Micros{101 * ms, 101 * ms})
	a.now = 101 * ms
	a.gets(report)
	check.Equal(t, "not marked yet", both(a), []core.Micros{ms + 250*ms, ms + 250*ms})
	a.number = 9
	a.gets(report)
	check.Equal(t, "marked", both(a), []core.Micros{101 * ms, 101 * ms})
	check.Equal(t, "again", a.words(a.packs()), "1:message 1 y")
}

// some returns some records of a payload.
func (h *host) some(p []byte, which ...int) (out []byte) {
	list := h.records(p)
	for _, i := range which {
		out = check.Must(port.Append(out, &list[i]))
	}
	return out
}

// A probe goes when its channel has its turn, and brings what was sent: by its priority (CHC-8).
func TestProbesHavePriorities(t *testing.T) {
	for _, priority := range []int{9, 0} {
		a := newHost(t, Config{ID: 1, Priority: priority}, Config{ID: 2, Priority: 5})
		a.says(1, "a", "b")
		a.packs()
		a.now = 250 * ms
		a.says(2, "c")
		want := []string{"1:status 2", "1:message 0 a", "1:message 1 b", "2:message 0 c"}
		if priority < 5 {
			want = append(want[3:], want[:3]...)
		}
		check.Equal(t, "payload", a.words(a.packs()), strings.Join(want, ", "))
	}
}

// A channel with more than there are packets for fills each of them, and the only message of
// another was lost: its probe has its turn, so that it does not fail (CHC-8).
func TestAProbeBesideABulkChannel(t *testing.T) {
	a, b := pair(t, Config{ID: 1}, Config{ID: 2})
	fill := strings.Repeat("x", 1160/20-6) // 20 of them fill a payload
	a.says(2, "lost")
	a.packs()
	for i := range 50 { // one packet each 20 ms
		a.now, b.now = core.Micros(i)*20*ms, core.Micros(i)*20*ms
		for range 40 {
			a.says(1, fill)
		}
		b.gets(a.packs())
		if p := b.packs(); p != nil {
			a.gets(p)
		}
		b.reads(1)
	}
	check.Equal(t, "read", b.reads(2), "0 lost")
}

// An unreliable message that leaves no room for others goes alone, and each goes once (CHU-1,
// CHU-3).
func TestALargeUnreliableMessage(t *testing.T) {
	a, b := pair(t, Config{ID: 1}, Config{ID: 3, Kind: Unreliable})
	large, fits := strings.Repeat("l", 1157), strings.Repeat("f", 1156)
	a.says(1, "x")
	a.says(3, fits, large, "s")
	b.says(1, "y")
	a.gets(b.packs())
	a.now = 20 * ms
	var sizes []int
	var kinds []string
	for p := a.packs(); p != nil; p = a.packs() {
		sizes = append(sizes, len(p))
		words := ""
		for _, r := range a.records(p) {
			words += r.Type.String() + " "
		}
		kinds = append(kinds, words)
		b.gets(p)
	}
	check.Equal(t, "payloads", kinds, []string{"report message ", "unreliable ", "unreliable ", "unreliable "})
	check.Equal(t, "sizes", sizes, []int{7 + 7, 1160, 1161, 5})
	for _, want := range []string{fits, large, "s"} {
		m, ok := b.Read(0, 3, nil)
		check.That(t, ok && string(m.Data) == want, "it is delivered whole")
	}
}

// A large message waits for a payload of its own: not behind a connection's record, and not in
// less than a whole payload.
func TestALargeMessageWaitsForItsPayload(t *testing.T) {
	a := newHost(t, Config{ID: 3, Kind: Unreliable})
	a.says(3, strings.Repeat("l", 16380))
	own := []byte{9, 9}
	p, quiet := a.Compose(own, 0, 0, LargestPayload)
	check.Equal(t, "behind another record", len(p), 2)
	check.That(t, quiet, "nothing was appended")
	p, _ = a.Compose(nil, 0, 0, LargestPayload-1)
	check.Equal(t, "less room", len(p), 0)
	p, _ = a.Compose(nil, 0, 0, LargestPayload)
	check.Equal(t, "alone", len(p), 16384)
}

// With one packet a tick, and something smaller for each, a large message still goes: it is passed
// over once, those of higher priority before others (CHC-7, CHC-8).
func TestALargeMessageIsPassedOverOnce(t *testing.T) {
	a := newHost(t, Config{ID: 2, Kind: Unreliable, Priority: 2}, Config{ID: 3, Kind: Unreliable}, Config{ID: 4, Kind: Unreliable, Priority: 1})
	a.says(3, strings.Repeat("l", 3000))
	a.says(4, strings.Repeat("l", 2000), strings.Repeat("l", 2000))
	var sizes []int
	var alone []bool
	for range 8 {
		a.says(2, "s")
		sizes = append(sizes, len(a.packs()))
		alone = append(alone, a.Alone())
	}
	check.Equal(t, "the next may go alone", alone, []bool{true, false, true, false, true, false, false, false})
	check.Equal(t, "payloads", sizes, []int{5, 2004, 10, 2004, 10, 3004, 10, 5})
}

// Unreliable messages share a payload while they fit; none overtakes another of its channel.
func TestUnreliableMessagesThatFit(t *testing.T) {
	a := newHost(t, Config{ID: 3, Kind: Unreliable})
	for _, size := range []int{600, 552, 600, 553, 1, 1156} {
		a.says(3, strings.Repeat("x", size))
	}
	var sizes []int
	for p := a.packs(); p != nil; p = a.packs() {
		sizes = append(sizes, len(p))
	}
	check.Equal(t, "sizes", sizes, []int{604 + 556, 604, 557 + 5, 1160})
	a.says(3, strings.Repeat("x", 1156))
	p, _ := a.Compose([]byte{9, 9}, 0, 0, LargestPayload)
	check.Equal(t, "behind another record, with room for it", len(p), 2+1160)
}

// Unreliable messages go by the priority of their channels, of each the oldest first (CHC-7, CHC-8);
// the queue is bounded, and full it refuses (CHU-2, CHU-4).
func TestUnreliableQueues(t *testing.T) {
	a := newHost(t, Config{ID: 3, Kind: Unreliable, QueueBytes: 20000}, Config{ID: 4, Kind: Unreliable, Priority: 1})
	a.says(4, "1")
	a.says(3, "2")
	a.says(4, "3")
	check.Equal(t, "payload", a.words(a.packs()), "4:unreliable 1, 4:unreliable 3, 3:unreliable 2")
	for _, size := range []int{0, 16381} {
		check.That(t, errors.Is(a.Send(0, 3, make([]byte, size), 0), ErrMessageSize), "size")
	}
	check.Same(t, "error", a.Send(0, 3, make([]byte, 16380), 0), nil)
	check.Same(t, "error", a.Send(0, 3, make([]byte, 20000-16390-11), 0), nil)
	check.That(t, errors.Is(a.Send(0, 3, make([]byte, 2), 0), ErrQueueFull), "full")
	check.Equal(t, "a full queue", a.Send(0, 3, make([]byte, 2), 0).Error(), "channel: queue_full: too much waits to be sent")
	a.packs()
	check.Same(t, "error", a.Send(0, 3, make([]byte, 2), 0), nil)
}

// What waits to be read is bounded: the oldest is dropped and counted (CHU-5, CHU-6).
func TestUnreliableMessagesThatAreNotRead(t *testing.T) {
	b := newHost(t, Config{ID: 3, Kind: Unreliable, QueueBytes: 16390})
	send := func(data string) {
		b.gets(check.Must(port.Append(nil, &Record{Type: TypeUnreliable, Channel: 3, Data: []byte(data)})))
	}
	for i := range 20 {
		send(fmt.Sprint(i%10) + strings.Repeat("x", 989)) // 1,000 each
	}
	check.Equal(t, "dropped", b.Stats().Dropped, 4)
	m, _ := b.Read(0, 3, []byte("kept "))
	check.Equal(t, "the oldest that is left", []any{m.Sequence, string(m.Data[:7])}, []any{core.Number(4), "kept 4x"})
	send(strings.Repeat("y", 16380))
	check.Equal(t, "a large one takes all", b.Stats().Dropped, 4+15)
	m, _ = b.Read(0, 3, nil)
	check.Equal(t, "it is whole", string(m.Data), strings.Repeat("y", 16380))
	send(strings.Repeat("z", 16381))
	check.Equal(t, "one that our end could not send", b.Stats().Dropped, 4+15+1)
	check.Equal(t, "nothing waits", b.reads(3), "")
}

// Of two reports of a channel in one payload the first counts.
func TestTwoReportsInOnePayload(t *testing.T) {
	a := newHost(t, Config{ID: 1})
	a.says(1, "a", "b")
	a.packs()
	a.gets(unhex("0501 0100 0002 00 0501 0200 0002 00"))
	check.Equal(t, "kept", []int64{int64(a.SenderStats(1).Kept), a.SenderStats(1).Overtaken}, []int64{1, 1})
}

// A channel that fails is said; the others go on (CHC-6).
func TestAFailureOfOneChannel(t *testing.T) {
	a, b := pair(t, Config{ID: 1, GiveUp: core.Second}, Config{ID: 2})
	a.says(1, "x")
	a.packs()
	a.now = core.Second
	a.says(2, "y")
	check.Equal(t, "payload", a.words(a.packs()), "2:message 0 y")
	check.That(t, errors.Is(a.ChannelErr(1), ErrFailed) && strings.Contains(a.ChannelErr(1).Error(), "channel 1: sender"), "it says which")
	check.That(t, errors.Is(a.Send(a.now, 1, []byte("z"), 0), ErrFailed), "it takes no more")
	a.gets(unhex("0202 0000 0100 77"))
	check.Equal(t, "the other", a.reads(2), "0 w")

	b.gets(unhex("0201 0100 0100 77 0202 0200 0100 77"))
	b.packs()
	b.now = core.Second
	b.packs()
	check.That(t, errors.Is(b.ChannelErr(1), ErrFailed) && strings.Contains(b.ChannelErr(1).Error(), "channel 1: receiver"), "a receiver fails, too")
	a.now = 20 * core.Second
	a.packs()
	check.That(t, errors.Is(a.ChannelErr(2), ErrFailed) && strings.Contains(a.ChannelErr(2).Error(), "channel 2: sender"), "each says why")
	check.Equal(t, "failed", []uint64{a.Failed(), b.Failed()}, []uint64{1<<1 | 1<<2, 1 << 1})
	check.That(t, b.ChannelErr(2) == nil && b.ChannelErr(77) == nil, "the others go on")
	check.That(t, !a.Delivered(), "what it kept will never be there")
}

// A channel that does not exist takes and gives nothing.
func TestAChannelThatDoesNotExist(t *testing.T) {
	h := newHost(t, threeKinds...)
	for _, id := range []uint8{0, 4, 63, 64, 255} {
		check.That(t, errors.Is(h.Send(0, id, []byte("x"), 0), ErrUnknownChannel), "send")
		check.Equal(t, "read", h.reads(id), "")
		check.Equal(t, "counts", []any{h.SenderStats(id), h.ReceiverStats(id)}, []any{SenderStats{}, ReceiverStats{}})
	}
	check.Equal(t, "counts of an unreliable one", []any{h.SenderStats(3), h.ReceiverStats(3)}, []any{SenderStats{}, ReceiverStats{}})
}

// All machines have the path that the host gives (CHP-3).
func TestThePathOfAMux(t *testing.T) {
	h := newHost(t, threeKinds...)
	for _, p := range []Path{measured, measured, {}} {
		h.SetPath(p)
		for _, c := range h.order {
			if c.kind != Unreliable {
				check.Equal(t, "path", []Path{c.sender.path, c.receiver.path}, []Path{p, p})
			}
		}
	}
}

// The ring of a queue has a power of two that is enough, or its most; what fits is put into the
// ring that is there.
func TestTheRingOfAQueue(t *testing.T) {
	for _, c := range []struct{ message, ring int }{{0, 256}, {246, 256}, {247, 512}, {502, 512}, {503, 1000}, {990, 1000}} {
		q := queue{most: 1000}
		m := bytes.Repeat([]byte{0xab}, c.message)
		q.push(7, m)
		check.Equal(t, "ring", len(q.ring), c.ring)
		first := &q.ring[0]
		check.Bytes(t, "message", q.pop(nil), m)
		q.push(8, m)
		check.That(t, &q.ring[0] == first, "the same memory")
		check.Bytes(t, "again", q.pop(nil), m)
	}
}

// A queue of bytes keeps messages of any size, over the end of its ring.
func TestAQueueOfBytes(t *testing.T) {
	q := queue{most: 3000}
	var want [][]byte
	for i := range 500 {
		m := bytes.Repeat([]byte{byte(i)}, i*37%900)
		for !q.fits(len(m)) {
			n, size := q.first()
			check.Equal(t, "number and size", []int{int(n), size}, []int{i - len(want), len(want[0])})
			check.Bytes(t, "message", q.pop([]byte("x"))[1:], want[0])
			want = want[1:]
		}
		q.push(core.Number(i), m)
		want = append(want, m)
		check.That(t, len(q.ring) <= 3000, "it is bounded")
	}
	for _, m := range want {
		check.Bytes(t, "message", q.pop(nil), m)
	}
	check.That(t, q.empty(), "all is out")
}
