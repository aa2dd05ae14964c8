package channel

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// The figures of section 9: what one payload can draw, hold and cost.

// A payload full of reports of one channel marks what its first one names: once (CHT-BND-5).
func TestAPayloadOfReportsMarksOnce(t *testing.T) {
	s := newHost(t, Config{ID: 1})
	s.SetPath(measured)
	for range 1024 {
		s.says(1, "x")
	}
	for s.packs() != nil {
	}
	s.now = 250 * ms
	var missing []uint16
	for n := range 1024 {
		missing = append(missing, uint16(n))
	}
	r := NewReport(1, 0, 1024, missing)
	var p []byte
	for len(p)+r.Size() <= LargestPayload {
		p = check.Must(port.Append(p, &r))
	}
	s.gets(p)
	stats := s.SenderStats(1)
	check.Equal(t, "reports that count", []int64{int64(len(p) / r.Size()), stats.Overtaken}, []int64{5, 4})
	resent := 0
	for p := s.packs(); p != nil; p = s.packs() {
		resent += len(s.records(p))
	}
	check.Equal(t, "sent again", resent, 1024)
	s.gets(p)
	check.Equal(t, "the same a moment later draws nothing", s.words(s.packs()), "")
}

// Reports at the greatest pace make each entry go once each HOLD; those that also claim to know
// our newest packet, once in half a round trip: what a forged ack is worth (CHT-BND-4).
func TestAFloodOfReports(t *testing.T) {
	for _, c := range []struct {
		acks bool
		wait core.Micros
	}{{false, 125 * ms}, {true, 50 * ms}} {
		s := newTalker(t, Config{})
		s.SetPath(measured)
		var missing []uint16
		for n := range 100 {
			s.says("x")
			missing = append(missing, uint16(n))
		}
		s.goes()
		for i := range 9_000 { // one each ms, 9 s
			s.now += ms
			s.number++ // a packet with nothing of this channel
			ack := core.NoNumber
			if c.acks {
				ack = s.number - 1
			}
			s.hearsOf(core.Number(i), ack, 0, 512, missing...)
			s.goes()
		}
		check.Equal(t, "sent again", s.Stats().Resent, int64(100*(9_000*ms/c.wait)))
	}
}

// A sequence just below limit makes a receiver hold its bookkeeping, and no data but its own;
// and the report of it is bounded.
func TestASequenceNearLimit(t *testing.T) {
	v := newListener(t, Config{Format: Format{Window: 16384}})
	before := check.Heap()
	v.gets(message(16383, "x"))
	bytes := int(check.Heap() - before)
	check.That(t, bytes <= 16384*48+4096, fmt.Sprint(bytes, " bytes"))
	check.Equal(t, "data", v.Stats().HeldBytes, leastData)
	r, ok := v.Poll(v.now, LargestPayload)
	check.That(t, ok, "it reports")
	check.Equal(t, "groups and bytes", []int{len(r.Groups), r.Size()}, []int{32, 199})
	v2 := newListener(t, Config{Format: Format{Window: 16384}})
	before = check.Heap()
	v2.gets(status(16384), message(16384, "x"), skip(16200, 256), skip(32000, 256))
	check.That(t, int(check.Heap()-before) < 4096, "what is beyond, and what is only announced, holds nothing")
}

// A flood of sound records draws a report each 5 ms, of at most 199 bytes; after the last one
// reports go on for 10 s, rarer and rarer (CHT-BND-2, CHT-BND-3).
func TestAFloodOfRecords(t *testing.T) {
	v := newListener(t, Config{})
	reports, bytes := 0, 0
	poll := func() {
		if r, ok := v.Poll(v.now, LargestPayload); ok {
			reports++
			bytes += r.Size()
		}
	}
	for i := range 20_000 { // ten a ms, 2 s
		if i%10 == 0 {
			v.now += ms
		}
		v.gets(message(2*(i%256), "x")) // every second one is missing, as can be
		v.gets(message(2*(i%256)+1-i%2*2, "y"), status(i%1200), skip(40000, 256))
		poll()
	}
	check.That(t, reports <= 2000/5+1, fmt.Sprint(reports, " reports"))
	check.That(t, bytes <= 199*reports, fmt.Sprint(bytes, " bytes"))

	v = newListener(t, Config{})
	v.gets(status(1024))
	reports = 0
	for v.State() == Open && v.Deadline() != core.Never {
		v.now = v.Deadline()
		poll()
	}
	check.Equal(t, "state", v.State(), Failed)
	check.Equal(t, "reports until it gives up", reports, 42)
}

// One payload with a STATUS for each of 64 channels draws a report of each, of 199 bytes, or less
// where a payload ends (section 9: up to 12,736 bytes).
func TestWhatOnePayloadDraws(t *testing.T) {
	var channels []Config
	var p []byte
	for id := range MaxChannels {
		channels = append(channels, Config{ID: uint8(id)})
		p = check.Must(port.Append(p, &Record{Type: TypeStatus, Channel: uint8(id), Sequence: 1024}))
	}
	h := newHost(t, channels...)
	h.gets(p)
	out := 0
	for r := h.packs(); r != nil; r = h.packs() {
		out += len(r)
	}
	check.Equal(t, "bytes in and out", []int{len(p), out}, []int{256, 12_376})
}

// The work for a payload is bounded: 232 SKIP records of 256 sequences each, in a window full of
// fragments, give up each group once (CHT-BND-6).
func TestAPayloadOfSkips(t *testing.T) {
	h := newHost(t, Config{ID: 1, Kind: Unordered, Format: Format{Window: 16384, Data: 1}})
	f := Format{Window: 16384, Data: 1}
	for n := 0; n < 16384; n += 2 {
		h.gets(check.Must(f.Append(nil, &Record{Type: TypeFragment, Channel: 1, Sequence: uint16(n), Index: n % 64, Count: 64, Data: []byte{1}})))
	}
	var p []byte
	for i := range 232 {
		p = check.Must(port.Append(p, &Record{Type: TypeSkip, Channel: 1, Sequence: uint16(256 * i % 16384), Count: 256}))
	}
	h.gets(p)
	v := h.byID[1].receiver
	check.Equal(t, "fragments, base", []int{v.fragments, int(v.Base())}, []int{0, 16384})
	skips := 0
	for {
		m, ok := h.Read(0, 1, nil)
		if !ok {
			break
		}
		check.That(t, m.Skipped, "all are skipped")
		skips++
	}
	check.Equal(t, "skipped", skips, 16384)
}

// Forged records of any content make nothing panic, hold more than they may, or leave a window.
func TestForgedRecords(t *testing.T) {
	h := newHost(t, Config{ID: 1, Format: Format{Window: 32, Data: 4, Group: 8}}, Config{ID: 2, Kind: Unordered, Format: Format{Window: 32, Data: 4, Group: 8}})
	x := uint64(1)
	random := func(n int) int {
		x = x*6364136223846793005 + 1442695040888963407
		return int(x>>33) % n
	}
	for range 20_000 {
		r := Record{Type: Type(2 + random(5)), Channel: uint8(1 + random(2)), Sequence: uint16(random(80) + int(h.byID[1].receiver.Base()) - 20), Data: bytes.Repeat([]byte{1}, 4)}
		switch r.Type {
		case TypeFragment:
			r.Count = 2 + random(7)
			r.Index = random(r.Count)
		case TypeSkip:
			r.Count = 1 + random(3)
		case TypeReport:
			r = NewReport(r.Channel, r.Sequence, random(33), nil)
		}
		p, err := Format{Window: 32, Data: 4, Group: 8}.Append(nil, &r)
		check.Same(t, "error", err, nil)
		h.now += core.Micros(random(3000))
		h.gets(p)
		if random(4) == 0 {
			h.reads(r.Channel)
			h.packs()
		}
		for _, c := range h.order {
			v := c.receiver
			check.That(t, v.tail <= v.base && v.base <= v.top && v.top <= v.Limit() && v.Limit() == v.tail+32, "the window")
			check.That(t, v.Stats().HeldBytes <= 32*4, "memory")
		}
	}
	check.That(t, h.byID[1].receiver.tail > 100, "it went on")
}

// T-13: groups that never become whole are kept in the window only.
func TestGroupsThatNeverBecomeWhole(t *testing.T) {
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
