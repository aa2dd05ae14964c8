package channel

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// The faults of section 10, one test each. None can be made here without its test failing.

// path is two hosts and what is on the way between them: 50 ms each way.
type path struct {
	t       testing.TB
	ends    [2]*host
	now     core.Micros
	transit []flight
	loses   func(from int, payload []byte) bool
	sent    [2]int
	got     [2][]string
}

type flight struct {
	at          core.Micros
	to          int
	number, ack core.Number
	payload     []byte
}

func newPath(t testing.TB, channels ...Config) *path {
	a, b := pair(t, channels...)
	for _, h := range []*host{a, b} {
		h.SetPath(measured)
	}
	return &path{t: t, ends: [2]*host{a, b}, loses: func(int, []byte) bool { return false }}
}

// random loses a share of all payloads, always the same ones.
func (p *path) random(perMille int) {
	x := uint64(7)
	p.loses = func(int, []byte) bool {
		x = x*6364136223846793005 + 1442695040888963407
		return int(x>>33)%1000 < perMille
	}
}

// run lets time pass: ends compose, what has arrived is taken, and channel 1 is read.
func (p *path) run(d core.Micros) {
	p.t.Helper()
	for until := p.now + d; p.now < until; p.now += ms {
		for i, h := range p.ends {
			h.now = p.now
			for payload := h.packs(); payload != nil; payload = h.packs() {
				p.sent[i]++
				if !p.loses(i, payload) {
					p.transit = append(p.transit, flight{p.now + 50*ms, 1 - i, h.number - 1, h.newest, payload})
				}
			}
		}
		for len(p.transit) > 0 && p.transit[0].at <= p.now {
			f := p.transit[0]
			p.transit = p.transit[1:]
			h := p.ends[f.to]
			_, err := h.Handle(p.now, f.number, f.ack, f.payload)
			check.Same(p.t, "error", err, nil)
			h.newest = f.number
			for m, ok := h.Read(p.now, 1, nil); ok; m, ok = h.Read(p.now, 1, nil) {
				p.got[f.to] = append(p.got[f.to], string(m.Data))
			}
		}
	}
}

// frames sends messages from end 0, so many each 16 ms, and lets time pass until all is at rest.
func (p *path) frames(messages, each int) {
	p.t.Helper()
	for n := 0; n < messages; n++ {
		p.ends[0].says(1, fmt.Sprint("message ", n))
		if n%each == each-1 {
			p.run(16 * ms)
		}
	}
	p.run(5 * core.Second)
}

// exactly makes sure that end 1 got each message once; in order if the channel is ordered.
func (p *path) exactly(messages int, ordered bool) {
	p.t.Helper()
	seen := map[string]bool{}
	for i, m := range p.got[1] {
		check.That(p.t, !seen[m] && (!ordered || m == fmt.Sprint("message ", i)), m+" is in its place")
		seen[m] = true
	}
	check.Equal(p.t, "messages", len(seen), messages)
	check.Equal(p.t, "kept", p.ends[0].SenderStats(1).Kept, 0)
}

// A nack that goes with a message is a record of its own, with its own bytes, whatever the memory
// held before.
func TestFaultT1(t *testing.T) {
	a, b := pair(t, Config{ID: 1}, Config{ID: 2})
	a.says(1, "a", "b", "c")
	p := a.packs()
	b.gets(a.some(p, 0, 2))
	b.says(2, "m")
	dirty := bytes.Repeat([]byte{0xff}, LargestPayload)
	p, _ = b.Compose(dirty[:0], 0, 0, LargestPayload)
	check.Equal(t, "payload", b.words(p), "1:report 1+1023 1, 2:message 0 m")
	a.now, a.number = 250*ms, 9
	a.gets(p)
	check.Equal(t, "again", a.words(a.packs()), "1:message 1 b")
}

// What was first sent beside a report is sent again with its own length.
func TestFaultT2(t *testing.T) {
	a, b := pair(t, Config{ID: 1})
	b.says(1, "x")
	a.gets(b.packs())
	a.now = 20 * ms
	a.says(1, "8 bytes.", "next")
	p := a.packs()
	check.Equal(t, "payload", a.words(p), "1:report 1+1023, 1:message 0 8 bytes., 1:message 1 next")
	b.gets(a.some(p, 0, 2))
	a.now, a.number = 300*ms, 9
	a.gets(b.packs())
	again := a.packs()
	check.Equal(t, "again", again, a.some(p, 1))
	b.gets(again)
	check.Equal(t, "read", b.reads(1), "0 8 bytes., 1 next")
}

// Every loss is asked for, behind any number of arrivals.
func TestFaultT3(t *testing.T) {
	for _, arrivals := range []int{1, 16, 17, 18, 33, 100, 1000} {
		v := newListener(t, Config{})
		for n := 1; n <= arrivals; n++ {
			if n != arrivals/2 {
				v.gets(message(n, "x"))
			}
		}
		r, _ := v.Poll(0, LargestPayload)
		want := []string{"0"}
		if arrivals > 1 {
			want = append(want, fmt.Sprint(arrivals/2))
		}
		check.Equal(t, fmt.Sprint("missing behind ", arrivals), named(r), want[:min(len(want), 1+arrivals/2)])
	}
}

// Nothing is lost in silence: 64 messages a frame, with losses to 20 % each way.
func TestFaultT4(t *testing.T) {
	for _, loss := range []int{0, 10, 50, 200} {
		p := newPath(t, Config{ID: 1, Kind: Unordered})
		p.random(loss)
		p.frames(4096, 64)
		p.exactly(4096, false)
	}
}

// One message lost of 600 ends nothing.
func TestFaultT5(t *testing.T) {
	p := newPath(t, Config{ID: 1})
	count := 0
	p.loses = func(from int, _ []byte) bool { count += 1 - from; return from == 0 && count == 5 }
	p.frames(600, 1)
	p.exactly(600, true)
	p = newPath(t, Config{ID: 1})
	p.random(10)
	p.frames(4096, 64)
	p.exactly(4096, true)
}

// What is missing at the edge of the window is taken when it comes at last.
func TestFaultT6(t *testing.T) {
	v := newListener(t, unordered)
	for n := 1; n < 32; n++ {
		v.gets(message(n, "x"))
	}
	v.reads()
	check.Equal(t, "rows", v.gets(message(32, "y"), message(0, "a"), message(32, "y")), "V2 V5 V2")
	check.Equal(t, "read", v.reads(), "0 a")
	check.Equal(t, "rows", v.gets(message(32, "y"), message(63, "z"), message(64, "z")), "V5 V5 V2")
}

// Slots are found by whole sequences: nothing is sent for what has expired, and nothing new is
// taken for a copy.
func TestFaultT7(t *testing.T) {
	s := newTalker(t, small)
	s.saysFor(ms, "old")
	s.goes()
	s.now = ms
	for range 39 {
		s.says("new")
	}
	s.goes()
	s.now = holdUnmeasured + ms
	check.Equal(t, "row", s.hears(0, 32, 0, 8, 16), "D6")
	check.Equal(t, "again", s.goes(), "skip 0+1, message 8 new, message 16 new")

	v := newListener(t, small)
	for n := range 70_000 {
		check.Equal(t, "row", v.gets(message(n, "x")), "V5")
		v.Read(0, nil)
	}
	check.Equal(t, "a copy", v.gets(message(70_000-1024, "x"), message(70_000-1, "x")), "V1 V1")

	v = newListener(t, unordered)
	check.Equal(t, "all in one slot at first", v.gets(message(1, "a"), message(9, "b"), message(17, "c"), message(25, "d")), "V5 V5 V5 V5")
	check.Equal(t, "a window ahead", v.gets(message(0, "x"), message(33, "y"), message(1, "a")), "V5 V2 V1")
	check.Equal(t, "read", v.reads(), "1 a, 9 b, 17 c, 25 d, 0 x")
	check.Equal(t, "a window ahead", v.gets(message(33, "y"), message(1, "a")), "V5 V1")
}

// One sequence far ahead changes nothing.
func TestFaultT8(t *testing.T) {
	v := newListener(t, Config{})
	v.gets(message(0, "x"))
	check.Equal(t, "row", v.gets(message(30_000, "x")), "V2")
	for n := 1; n <= 2000; n++ {
		check.Equal(t, "row", v.gets(message(n, "x")), "V5")
		_, ok := v.Read(0, nil)
		check.That(t, ok, "it is delivered")
	}
}

// The last message is lost, and nothing follows it.
func TestFaultT9(t *testing.T) {
	p := newPath(t, Config{ID: 1})
	p.loses = func(from int, payload []byte) bool { return from == 0 && p.sent[0] == 2 }
	p.ends[0].says(1, "first")
	p.run(10 * ms)
	p.ends[0].says(1, "last")
	p.run(250 * ms)
	check.Equal(t, "delivered", p.got[1], []string{"first", "last"})
}

// What is asked for at every update is sent again once in a round trip.
func TestFaultT10(t *testing.T) {
	s := newTalker(t, small)
	s.SetPath(measured)
	s.says("a")
	s.packs(LargestPayload)
	s.says("b")
	s.goes()
	s.says("c")
	s.goes()
	s.now = 100 * ms
	for i := range 6 { // what was on the way when the resend went
		s.hearsOf(core.Number(i), 2, 0, 32, 0)
		s.packs(LargestPayload)
		s.now += 16 * ms
	}
	check.Equal(t, "sent again", s.Stats().Resent, 1)
}

// One datagram of nacks draws no more than one window, once; and no nack says more than that.
func TestFaultT11(t *testing.T) {
	h := newHost(t, Config{ID: 1, Format: Format{Window: 1024}})
	for range 4000 {
		h.says(1, "x")
	}
	for h.packs() != nil {
	}
	h.now = 250 * ms
	var p []byte
	for n := uint16(0); len(p) < 15_826-200; n++ {
		var missing []uint16
		for i := range uint16(1024) {
			missing = append(missing, i)
		}
		r := NewReport(1, 0, 1024, missing)
		p = check.Must(port.Append(p, &r))
	}
	h.gets(p)
	records, size := 0, 0
	for p := h.packs(); p != nil; p = h.packs() {
		records += len(h.records(p))
		size += len(p)
	}
	check.Equal(t, "records", records, 1024)
	check.That(t, size < len(p)/2, fmt.Sprint(size, " bytes drawn by ", len(p)))
	many := append(unhex("0501 0000 0004 21"), bytes.Repeat(unhex("0000 00000000"), 33)...)
	for _, c := range []struct {
		report []byte
		want   error
	}{{many, ErrGroupCount}, {unhex("0501 0000 0104 00"), ErrRoom}, {unhex("0501 0000 0004 01 0004 00000000"), ErrGroupStart}} {
		_, err := h.Handle(h.now, 99, 0, c.report)
		check.That(t, errors.Is(err, c.want), fmt.Sprint(err))
	}
}

// A datagram of any length is refused or taken, and never panics; nothing of the one before is read.
func TestFaultT12(t *testing.T) {
	h := newHost(t, threeKinds...)
	whole := unhex("0201 0000 0100 61 0302 0000 01 01 0100 62 0502 0000 0002 01 0100 01000000 0402 0500 03 0103 0100 63 0601 0000")
	ends := map[int]bool{}
	for at := 0; at < len(whole); {
		var r Record
		at, _ = port.Decode(whole, at, &r)
		ends[at] = true
	}
	buffer := append(bytes.Clone(whole), whole...)
	for n := range whole {
		_, err := h.Handle(0, core.Number(n), 0, buffer[:n])
		check.Equal(t, fmt.Sprint("refused at ", n), err != nil, !ends[n])
	}
	_, err := h.Handle(0, 99, 0, nil)
	check.That(t, errors.Is(err, ErrTruncated), "an empty one")
	_, err = h.Handle(0, 99, 0, bytes.Repeat([]byte{5, 1, 0, 0, 0, 2, 255}, 1000))
	check.That(t, errors.Is(err, ErrGroupCount), "a number that does not fit")
}

// Groups that never become whole are kept in the window only.
func TestFaultT13(t *testing.T) {
	v := newListener(t, Config{Kind: Unordered, Format: Format{Window: 64}})
	for n := range 2000 {
		v.gets(fragment(32*n, 0, 32, strings.Repeat("x", 1024)))
	}
	check.Equal(t, "groups, bytes", []int{v.fragments, v.Stats().HeldBytes}, []int{2, 2048})
	v = newListener(t, Config{Format: Format{Window: 64}})
	for n := 0; n < 4000; n += 2 { // whose other half is skipped
		check.Equal(t, "rows", v.gets(fragment(n, 0, 2, strings.Repeat("x", 1024)), skip(n+1, 1)), "V5 V8")
		check.Equal(t, "read", v.reads(), fmt.Sprintf("%d skipped, %d skipped", n, n+1))
	}
	check.That(t, v.Stats().HeldBytes <= 64*1024, fmt.Sprint(v.Stats().HeldBytes, " bytes"))
}

// What was sent is kept until it is released; what has no room is refused.
func TestFaultT14(t *testing.T) {
	s := newTalker(t, Config{SendQueue: 2000})
	for n := range 2000 {
		check.Equal(t, "row", s.says(fmt.Sprint("message ", n)), "D3")
	}
	check.Equal(t, "row", s.says("one more"), "D2")
	sent := 0
	for base := uint16(0); sent < 2000; base += 100 {
		for _, r := range strings.Split(strings.ReplaceAll(s.goes(), " | ", ", "), ", ") {
			check.Equal(t, "record", r, fmt.Sprintf("message %d message %d", sent, sent))
			sent++
		}
		check.Equal(t, "row", s.hears(base+100, 1024), "D6")
	}
	check.Equal(t, "kept until they were released", s.Stats().Released, 1100)
	s = newTalker(t, Config{})
	s.saysFor(ms, "mortal")
	s.now = ms
	check.Equal(t, "expired", s.goes(), "skip 0+1")
}

// No record matters by being sent once: the first of each type is lost, both ways.
func TestFaultT15(t *testing.T) {
	p := newPath(t, Config{ID: 1})
	lost := map[string]bool{}
	p.loses = func(from int, payload []byte) bool {
		first := false
		for _, r := range p.ends[from].records(payload) {
			key := fmt.Sprint(from, " ", r.Type)
			first = first || !lost[key]
			lost[key] = true
		}
		return first
	}
	p.ends[1].says(1, "back")
	check.Same(t, "error", p.ends[0].Send(0, 1, []byte("mortal"), 1), nil)
	p.run(100 * ms)
	p.frames(20, 1)
	check.Equal(t, "back", p.got[0], []string{"back"})
	check.Equal(t, "skipped, then the others", []any{p.got[1][0], len(p.got[1])}, []any{"", 21})
	for _, key := range []string{"0 message", "0 skip", "0 status", "0 report", "1 report", "1 message"} {
		check.That(t, lost[key], key+" was lost")
	}
}

// No single byte begins or ends anything.
func TestFaultT16(t *testing.T) {
	h := newHost(t, threeKinds...)
	h.says(1, "x")
	for b := 1; b < 256; b++ {
		for _, rest := range []string{"", "\x40", "\x40\x00\x00"} {
			_, err := h.Handle(0, core.Number(b), 0, append([]byte{byte(b)}, rest...))
			check.That(t, err != nil, fmt.Sprint("type ", b, " is refused"))
			check.Equal(t, fmt.Sprint(err), errors.Is(err, ErrUnknownRecord), b > int(TypeStatus))
		}
	}
	check.Equal(t, "goes on", h.words(h.packs()), "1:message 0 x")
}

// Linked again, both ends begin anew, and all of the new messages arrive (CHP-4).
func TestFaultT17(t *testing.T) {
	p := newPath(t, Config{ID: 1})
	p.frames(100, 10)
	p.ends[0], p.ends[1] = newHost(t, Config{ID: 1}), newHost(t, Config{ID: 1})
	p.got = [2][]string{}
	for i, h := range p.ends {
		h.now = p.now
		for n := range 100 {
			h.says(1, fmt.Sprint(i, " ", n))
		}
	}
	p.run(core.Second)
	for i := range p.ends {
		check.Equal(t, "messages", len(p.got[i]), 100)
		check.Equal(t, "first and last", []string{p.got[i][0], p.got[i][99]}, []string{fmt.Sprint(1-i, " 0"), fmt.Sprint(1-i, " 99")})
	}
}

// A datagram makes no channel.
func TestFaultT18(t *testing.T) {
	h := newHost(t, Config{ID: 1})
	before := check.Heap()
	for id := range 64 {
		if id == 1 {
			continue
		}
		_, err := h.Handle(0, 0, 0, []byte{2, byte(id), 0, 0, 1, 0, 7})
		check.That(t, errors.Is(err, ErrUnknownChannel), "it is refused")
	}
	check.That(t, check.Heap() < before+1024, "nothing is kept")
	check.Equal(t, "nothing is due", h.Deadline(), core.Never)
}

// Sequences wrap at 65,536, for both machines; a nack that starts at 0 is one.
func TestFaultT19(t *testing.T) {
	cfg := with(small, func(c *Config) { c.First = 65_530 })
	s, v := newTalker(t, cfg), newListener(t, cfg)
	for range 12 {
		s.says("x")
	}
	s.goes()
	for n := 65_530; n < 65_542; n++ {
		if n != 65_535 && n != 65_536 {
			check.Equal(t, "row", v.gets(message(n, "x")), "V5")
		}
	}
	r, _ := v.Poll(0, LargestPayload)
	check.Equal(t, "report", text(r), "report 65535+27 65535 0")
	check.Equal(t, "one group, from 0", r.Groups, []Group{{Start: 0, Bits: 1}})
	s.now = holdUnmeasured
	s.Report(s.now, 0, 0, &r)
	check.Equal(t, "again", s.goes(), "message 65535 x, message 0 x")
	check.Equal(t, "the farthest above and below", v.gets(message(65_535+32_768, "x"), message(65_535+32_769, "x")), "V2 V1")
}

// A message that could not be delivered is refused, and so is such a fragment.
func TestFaultT20(t *testing.T) {
	s := newTalker(t, Config{})
	check.Equal(t, "rows", s.says(string(make([]byte, 65_536)))+s.says(string(make([]byte, 65_537))), "D3D1")
	_, err := port.Append(nil, &Record{Type: TypeFragment, Count: 513, Data: make([]byte, 1024)})
	check.That(t, errors.Is(err, ErrFragmentCount), "513 fragments")
	var r Record
	_, err = port.Decode(unhex("0300 0000 00 40 0004"), 0, &r)
	check.That(t, errors.Is(err, ErrFragmentCount), "65 fragments")
}

// What the socket refuses is lost like any other packet, and comes again.
func TestFaultT21(t *testing.T) {
	p := newPath(t, Config{ID: 1})
	p.loses = func(from int, _ []byte) bool { return from == 0 && p.now >= 100*ms && p.now < 400*ms }
	p.frames(100, 2)
	p.exactly(100, true)
}
