package channel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

var unordered = with(small, func(c *Config) { c.Kind = Unordered })

// What comes out of order is delivered in order, and the report says what is missing (CHV-1,
// CHV-2, CHV-6, CHV-8).
func TestAReceiverAndItsReports(t *testing.T) {
	v := newListener(t, small)
	check.Equal(t, "row", v.Row(), "")
	check.Equal(t, "nothing to say", []any{v.reports(), v.Deadline()}, []any{"", core.Never})
	check.Equal(t, "rows", v.gets(message(0, "a"), message(3, "d"), message(2, "c")), "V5 V5 V5")
	check.Equal(t, "read", v.reads(), "0 a")
	check.Equal(t, "report", v.reports(), "report 1+32 1")
	check.Equal(t, "only one", v.reports(), "")
	check.Equal(t, "rows", v.gets(message(1, "b")), "V5")
	check.Equal(t, "read", v.reads(), "1 b, 2 c, 3 d")
	check.Equal(t, "not before 5 ms", []any{v.reports(), v.Deadline()}, []any{"", ReportSpacing})
	v.now += ReportSpacing
	check.Equal(t, "report", v.reports(), "report 4+32")
	check.Equal(t, "at rest", v.Deadline(), core.Never)
	check.Equal(t, "counts", v.Stats(), ReceiverStats{Received: 4, Delivered: 4, Reports: 2, HeldBytes: 16})
}

// Every row of the table by its guards, and what it counts (CHV-9, CHV-10, CHV-14, CHG-1, CHG-2,
// CHG-4).
func TestRowsOfTheReceiver(t *testing.T) {
	failed := func(v *listener) string {
		v.gets(message(0, "a"), message(2, "c"))
		v.now = DefaultGiveUp
		return v.reports() + string(v.Row())
	}
	for _, c := range []struct {
		row, name string
		run       func(v *listener) string
		want      string
	}{
		{"V1", "in have", func(v *listener) string { return v.gets(message(1, "a"), message(1, "b")) }, "V5 V1"},
		{"V1", "below base", func(v *listener) string { return v.gets(message(0, "a"), message(0, "a")) }, "V5 V1"},
		{"V1", "below tail", func(v *listener) string {
			return v.gets(message(0, "a")) + ", " + v.reads() + ", " + v.gets(message(0, "a"))
		}, "V5, 0 a, V1"},
		{"V1", "before the first", func(v *listener) string { return v.gets(message(65535, "a")) }, "V1"},
		{"V1", "as old as can be", func(v *listener) string { return v.gets(message(32769, "a")) }, "V1"},
		{"V1", "a fragment of what was skipped", func(v *listener) string { return v.gets(skip(0, 2), fragment(1, 1, 2, "a")) }, "V8 V1"},
		{"V2", "at limit", func(v *listener) string { return v.gets(message(32, "a")) }, "V2"},
		{"V2", "as far ahead as can be", func(v *listener) string { return v.gets(message(32768, "a")) }, "V2"},
		{"V2", "a fragment", func(v *listener) string { return v.gets(fragment(32, 0, 2, "aaaa")) }, "V2"},
		{"V3", "a message inside a group", func(v *listener) string { return v.gets(fragment(0, 0, 3, "aaaa"), message(2, "b")) }, "V5 V3"},
		{"V3", "the last of the largest group, whose first is here", func(v *listener) string {
			return v.gets(fragment(0, 0, 4, "aaaa"), message(3, "b"))
		}, "V5 V3"},
		{"V3", "inside the second of two groups", func(v *listener) string {
			return v.gets(fragment(1, 1, 2, "a"), fragment(2, 0, 3, "aaaa"), message(4, "b"))
		}, "V5 V5 V3"},
		{"V3", "a message inside a group whose last part is here", func(v *listener) string {
			return v.gets(fragment(3, 3, 4, "a"), message(0, "b"))
		}, "V5 V3"},
		{"V3", "a group that begins before the first", func(v *listener) string { return v.gets(fragment(0, 1, 2, "a")) }, "V3"},
		{"V3", "a message in its group", func(v *listener) string { return v.gets(message(1, "b"), fragment(0, 0, 2, "aaaa")) }, "V5 V3"},
		{"V3", "another group in its group", func(v *listener) string {
			return v.gets(fragment(2, 0, 2, "aaaa"), fragment(1, 0, 2, "aaaa"))
		}, "V5 V3"},
		{"V3", "another count", func(v *listener) string { return v.gets(fragment(0, 0, 2, "aaaa"), fragment(1, 1, 3, "aaaa")) }, "V5 V3"},
		{"V3", "inside another group, of which nothing is in its own", func(v *listener) string {
			return v.gets(fragment(10, 0, 2, "aaaa"), fragment(11, 0, 2, "aaaa"))
		}, "V5 V3"},
		{"V3", "lies in a lost group, and conflicts before", func(v *listener) string {
			return v.gets(skip(0, 1), message(2, "b"), fragment(1, 1, 3, "aaaa"))
		}, "V8 V5 V3"},
		{"V4", "a sequence of its group was skipped", func(v *listener) string { return v.gets(skip(1, 1), fragment(0, 0, 2, "aaaa")) }, "V8 V4"},
		{"V4", "its group began below tail", func(v *listener) string {
			return v.gets(message(0, "a")) + ", " + v.reads() + ", " + v.gets(fragment(1, 1, 2, "a"))
		}, "V5, 0 a, V4"},
		{"V5", "the last below limit", func(v *listener) string { return v.gets(message(31, "a")) }, "V5"},
		{"V5", "a group that reaches beyond limit", func(v *listener) string { return v.gets(fragment(31, 0, 2, "aaaa")) }, "V5"},
		{"V5", "two groups side by side", func(v *listener) string {
			return v.gets(fragment(1, 1, 2, "a"), fragment(2, 0, 2, "aaaa"), fragment(0, 0, 2, "aaaa"), message(4, "b"))
		}, "V5 V5 V5 V5"},
		{"V6", "below base", func(v *listener) string { return v.gets(message(0, "a"), skip(0, 1)) }, "V5 V6"},
		{"V6", "before the first", func(v *listener) string { return v.gets(skip(65530, 6)) }, "V6"},
		{"V6", "below base and in have", func(v *listener) string {
			return v.gets(message(0, "a"), message(2, "b"), message(1, "b"), skip(0, 3))
		}, "V5 V5 V5 V6"},
		{"V7", "its last is at limit", func(v *listener) string { return v.gets(skip(31, 2)) }, "V7"},
		{"V7", "all is far ahead", func(v *listener) string { return v.gets(skip(32768, 256)) }, "V7"},
		{"V8", "up to limit", func(v *listener) string { return v.gets(skip(0, 32)) }, "V8"},
		{"V8", "only its last is new", func(v *listener) string { return v.gets(message(0, "a"), skip(65530, 8)) }, "V5 V8"},
		{"V9", "limit", func(v *listener) string { return v.gets(status(32)) }, "V9"},
		{"V9", "below base", func(v *listener) string { return v.gets(status(65535)) }, "V9"},
		{"V10", "above limit", func(v *listener) string { return v.gets(status(33)) }, "V10"},
		{"V11", "a message", func(v *listener) string {
			v.gets(message(0, "a"))
			v.Read(0, nil)
			return string(v.Row())
		}, "V11"},
		{"V12", "nothing has come", func(v *listener) string { return v.reads() + string(v.Row()) }, "V12"},
		{"V12", "half a group", func(v *listener) string {
			return v.gets(fragment(0, 0, 2, "aaaa")) + v.reads() + string(v.Row())
		}, "V5V12"},
		{"V13", "10 s after the last that was new", func(v *listener) string {
			v.gets(message(0, "a"))
			v.now = 5 * core.Second
			v.gets(message(2, "c"), message(2, "c"))
			v.now = 15*core.Second - 1
			before := v.reports()
			v.now++
			return before + " " + v.reports() + string(v.Row())
		}, "report 1+31 1 V13"},
		{"V13", "10 s after something began to be missing", func(v *listener) string {
			v.gets(message(0, "a"))
			v.now = 4 * core.Second
			v.gets(status(1))
			v.now = 5 * core.Second
			v.gets(status(2))
			v.now = 6 * core.Second
			v.gets(status(3))
			v.now = 15*core.Second - 1
			before := v.reports()
			v.now++
			return before + " " + v.reports() + string(v.Row())
		}, "report 1+31 1 2 V13"},
		{"V14", "due", func(v *listener) string { return v.gets(message(1, "a")) + " " + v.reports() + string(v.Row()) }, "V5 report 0+32 0V14"},
		{"V14", "in 7 bytes", func(v *listener) string { return v.gets(message(1, "a")) + " " + v.reportsIn(12) + string(v.Row()) }, "V5 report 0+32V14"},
		{"V15", "no room", func(v *listener) string { return v.gets(message(1, "a")) + v.reportsIn(6) + string(v.Row()) }, "V5V15"},
		{"V15", "before 20 ms", func(v *listener) string {
			v.gets(message(0, "a"))
			v.now = ReportDelay - 1
			return v.reports() + string(v.Row())
		}, "V15"},
		{"V16", "data", func(v *listener) string { return failed(v) + v.gets(message(1, "b"), fragment(4, 0, 2, "aaaa")) }, "V13V16 V16"},
		{"V17", "what was ready", func(v *listener) string {
			failed(v)
			m, ok := v.Read(v.now, nil)
			return fmt.Sprint(ok, string(m.Data), v.Row())
		}, "trueaV17"},
		{"V18", "nothing else is", func(v *listener) string { failed(v); v.reads(); return v.reads() + string(v.Row()) }, "V18"},
		{"V19", "skip", func(v *listener) string { return failed(v) + v.gets(skip(1, 1), skip(65535, 1)) }, "V13V19 V19"},
		{"V20", "status", func(v *listener) string { return failed(v) + v.gets(status(3), status(99)) }, "V13V20 V20"},
		{"V21", "poll", func(v *listener) string { return failed(v) + v.reports() + string(v.Row()) }, "V13V21"},
	} {
		for _, cfg := range []Config{small, unordered} {
			t.Run(fmt.Sprint(c.row, " ", c.name, ", ", cfg.Kind), func(t *testing.T) {
				v := newListener(t, cfg)
				check.Equal(t, "rows", c.run(v), c.want)
				check.Equal(t, "the case is of its row", string(v.Row()), c.row)
				want := [3]int64{}
				switch c.row {
				case "V1":
					want[0] = 1
				case "V2", "V7", "V10":
					want[1] = 1
				case "V3":
					want[2] = 1
				}
				s := v.Stats()
				if c.row != "V13" {
					check.Equal(t, "known, beyond, conflicts", [3]int64{s.Known, s.Beyond, s.Conflicts}, want)
				}
			})
		}
	}
}

// A receiver that has failed says what was missing (CHV-13).
func TestAFailedReceiver(t *testing.T) {
	v := newListener(t, small)
	v.gets(message(0, "a"), message(5, "f"), message(7, "h"))
	v.now = DefaultGiveUp
	check.Equal(t, "report", v.reports(), "")
	check.That(t, errors.Is(v.Err(), ErrFailed), "it wraps the sentinel")
	check.Equal(t, "text", v.Err().Error(), "channel 0: receiver: 5 sequences are missing, from 1 on: channel: failed: the channel was given up (D11)")
	check.Equal(t, "state and deadline", []any{v.State().String(), v.Deadline()}, []any{"FAILED", core.Never})
	check.Equal(t, "what is behind the gap is not read", v.reads(), "0 a")
}

// Each kind of arrival makes a report due: at once if something is missing, or it was; soon if
// what came is not new; after 20 ms if all is well. No two are nearer than 5 ms (CHV-1, CHV-4).
func TestWhenAReportIsDue(t *testing.T) {
	for _, c := range []struct {
		name   string
		before []Record
		now    Record
		want   core.Micros // after the arrival
	}{
		{"the next", nil, message(0, "a"), 20 * ms},
		{"behind a gap", nil, message(1, "a"), 0},
		{"into the gap", []Record{message(1, "a")}, message(0, "b"), 0},
		{"a copy", []Record{message(0, "a")}, message(0, "a"), 0},
		{"beyond", nil, message(32, "a"), 0},
		{"a conflict", nil, fragment(0, 1, 2, "a"), core.Never},
		{"a skip of the next", nil, skip(0, 1), 20 * ms},
		{"a skip behind a gap", nil, skip(1, 1), 0},
		{"a skip of what is here", []Record{message(0, "a")}, skip(0, 1), 0},
		{"a skip beyond", nil, skip(32, 1), 0},
		{"a status", nil, status(0), 0},
		{"a status beyond", nil, status(33), 0},
	} {
		v := newListener(t, small)
		v.gets(c.before...)
		v.now = 100 * ms
		v.reports()
		v.now += ReportSpacing
		v.gets(c.now)
		want := core.Never
		if c.want != core.Never {
			want = v.now + c.want
		}
		check.Equal(t, c.name, v.reportAt, want)
		check.That(t, v.Deadline() <= want, c.name)
	}
}

// A report says what is so when it is sent, not when it became due (CHV-17).
func TestAReportIsOfNow(t *testing.T) {
	v := newListener(t, small)
	v.gets(message(1, "b"), message(3, "d"))
	v.gets(message(0, "a"))
	v.reads()
	check.Equal(t, "report", v.reports(), "report 2+32 2")
}

// A receiver to which nothing has come says nothing, however often it is asked; one that has
// said that all is well says no more (CHV-7).
func TestNoReportWithoutAReason(t *testing.T) {
	v := newListener(t, small)
	for range 100 {
		v.now += 100 * ms
		check.Equal(t, "nothing has come", v.reports()+v.reads(), "")
	}
	v.gets(message(0, "a"))
	v.now += ReportDelay
	check.Equal(t, "report", v.reports(), "report 1+31")
	for range 100 {
		v.now += 100 * ms
		check.Equal(t, "all is well", v.reports(), "")
	}
}

// A report in the first microseconds is one like others: the next waits (CHV-4).
func TestTheFirstReportMayBeAtAnyTime(t *testing.T) {
	for now := range core.Micros(3) {
		v := newListener(t, small)
		v.now = now
		v.gets(status(0))
		check.Equal(t, "report", v.reports(), "report 0+32")
		v.gets(status(0))
		check.Equal(t, "deadline", v.Deadline(), now+ReportSpacing)
	}
}

// A due time is never made later (CHV-4).
func TestADueTimeStays(t *testing.T) {
	v := newListener(t, small)
	v.gets(message(0, "a"))
	v.now = 10 * ms
	v.gets(message(1, "b"))
	check.Equal(t, "reads make none later", v.reads()[:3], "0 a")
	check.Equal(t, "deadline", v.Deadline(), 20*ms)
	v.now = 20 * ms
	check.Equal(t, "report", v.reports(), "report 2+32")
}

// Reading opens the window, and says so within 20 ms (CHV-3).
func TestReadingMakesRoom(t *testing.T) {
	v := newListener(t, small)
	for n := range 32 {
		v.gets(message(n, "x"))
	}
	v.now = 20 * ms
	check.Equal(t, "closed", v.reports(), "report 32+0")
	check.Equal(t, "rows", v.gets(message(32, "y"), status(32)), "V2 V9")
	v.now += ReportSpacing
	check.Equal(t, "closed", v.reports(), "report 32+0")
	v.now += 7 * ms
	_, ok := v.Read(v.now, nil)
	check.That(t, ok, "one is read")
	check.Equal(t, "deadline", v.Deadline(), v.now+ReportDelay)
	v.now += ReportDelay
	check.Equal(t, "one may come", v.reports(), "report 32+1")
	check.Equal(t, "rows", v.gets(message(32, "y"), message(33, "z")), "V5 V2")
}

// While something is missing, reports are repeated, and become rarer until something new
// comes (CHV-5, CHV-11).
func TestReportsAreRepeated(t *testing.T) {
	for _, c := range []struct {
		path  Path
		waits []core.Micros
	}{
		{Path{}, []core.Micros{50 * ms, 100 * ms, 200 * ms, 250 * ms, 250 * ms}},
		{Path{Measured: true, SRTT: 4 * ms}, []core.Micros{20 * ms, 40 * ms, 80 * ms, 160 * ms, 250 * ms}},
		{Path{Measured: true, SRTT: 200 * ms}, []core.Micros{200 * ms, 400 * ms, 400 * ms, 400 * ms, 400 * ms}},
	} {
		v := newListener(t, small)
		v.SetPath(c.path)
		v.gets(message(1, "b"))
		check.Equal(t, "first", v.reports(), "report 0+32 0")
		var waits []core.Micros
		for range 5 {
			last := v.now
			v.now = v.Deadline() - 1
			check.Equal(t, "too early", v.reports(), "")
			v.now++
			waits = append(waits, v.now-last)
			check.Equal(t, "again", v.reports(), "report 0+32 0")
		}
		check.Equal(t, "waits", waits, c.waits)
		v.now += ReportSpacing
		v.gets(message(1, "b"))
		check.Equal(t, "a copy draws one", v.reports(), "report 0+32 0")
		check.Equal(t, "which is no repetition", v.Deadline()-v.now, c.waits[4])
		v.now += ReportSpacing
		v.gets(message(3, "d"))
		check.Equal(t, "something new", v.reports(), "report 0+32 0 2")
		check.Equal(t, "the first wait again", v.Deadline()-v.now, c.waits[0])
	}
}

// Doublings end.
func TestRepetitionsEndTheirDoublings(t *testing.T) {
	v := newListener(t, with(small, func(c *Config) { c.GiveUp = 3600 * core.Second }))
	v.SetPath(Path{Measured: true, SRTT: 1 << 40})
	v.gets(message(1, "b"))
	v.reports()
	for range 40 {
		v.now = v.repeatAt()
		v.progressAt = v.now
		check.Equal(t, "again", v.reports(), "report 0+32 0")
	}
	check.Equal(t, "doublings", v.wait, 16)
}

// Unordered: what is here is delivered at once, in the order in which it became ready.
func TestUnordered(t *testing.T) {
	v := newListener(t, unordered)
	v.gets(message(2, "c"), fragment(4, 1, 2, "y"), message(0, "a"), fragment(3, 0, 2, "xxxx"), message(1, "b"))
	check.Equal(t, "read", v.reads(), "2 c, 0 a, 3 xxxxy, 1 b")
	check.Equal(t, "all is done", []core.Number{v.Tail(), v.Base(), v.Top()}, []core.Number{5, 5, 5})
	check.Equal(t, "known", v.gets(message(2, "c")), "V1")
	check.Equal(t, "once", v.reads(), "")
}

// What was read stays known as long as something below it is not done with (CHV-15).
func TestUnorderedBehindAGap(t *testing.T) {
	v := newListener(t, unordered)
	v.gets(message(1, "b"), fragment(2, 0, 2, "xxxx"), fragment(3, 1, 2, "y"))
	check.Equal(t, "report", v.reports(), "report 0+32 0")
	check.Equal(t, "read", v.reads(), "1 b, 2 xxxxy")
	check.Equal(t, "tail", v.Tail(), 0)
	check.Equal(t, "no room was made, and there is nothing to say", v.reportAt, core.Never)
	check.Equal(t, "rows", v.gets(message(1, "b"), fragment(0, 0, 2, "xxxx"), fragment(4, 2, 3, "z"), fragment(3, 1, 2, "y")), "V1 V3 V3 V1")
	check.Equal(t, "limit", v.Limit(), 32)
	v.gets(message(0, "a"))
	check.Equal(t, "read", v.reads(), "0 a")
	check.Equal(t, "tail and limit", []core.Number{v.Tail(), v.Limit()}, []core.Number{4, 36})
}

// A skip is told in its place, and gives up the groups that it lies in, from both sides
// (CHX-3, CHG-3, CHV-12).
func TestSkips(t *testing.T) {
	for _, c := range []struct {
		name    string
		records []Record
		in, out string // what an ordered and an unordered channel deliver
		missing string
	}{
		{name: "one", records: []Record{message(0, "a"), skip(1, 1), message(2, "c")}, in: "0 a, 1 skipped, 2 c", out: "0 a, 1 skipped, 2 c"},
		{name: "over what is here", records: []Record{message(1, "b"), skip(0, 3)}, in: "0 skipped, 1 b, 2 skipped", out: "1 b, 0 skipped, 2 skipped"},
		{name: "the begin of a group", records: []Record{fragment(1, 1, 3, "yyyy"), fragment(2, 2, 3, "z"), skip(0, 1)},
			in: "0 skipped, 1 skipped, 2 skipped", out: "0 skipped, 1 skipped, 2 skipped"},
		{name: "the end of a group", records: []Record{fragment(0, 0, 3, "yyyy"), fragment(1, 1, 3, "zzzz"), skip(2, 1)},
			in: "0 skipped, 1 skipped, 2 skipped", out: "0 skipped, 1 skipped, 2 skipped"},
		{name: "the middle of a group", records: []Record{fragment(0, 0, 4, "yyyy"), fragment(3, 3, 4, "z"), message(4, "e"), skip(2, 1)},
			in: "0 skipped", out: "4 e, 0 skipped, 2 skipped, 3 skipped", missing: "1"},
		{name: "then the rest of the group", records: []Record{fragment(0, 0, 3, "yyyy"), skip(2, 1), fragment(1, 1, 3, "zzzz")},
			in: "0 skipped, 1 skipped, 2 skipped", out: "0 skipped, 2 skipped, 1 skipped"},
		{name: "the begin of a group, and nothing of the next sequence", records: []Record{skip(0, 1), fragment(1, 1, 3, "yyyy"), message(3, "d")},
			in: "0 skipped, 1 skipped", out: "0 skipped, 1 skipped, 3 d", missing: "2"},
		{name: "the begin of the largest group, whose end is here", records: []Record{fragment(3, 3, 4, "z"), skip(0, 1)},
			in: "0 skipped", out: "0 skipped, 3 skipped", missing: "1 2"},
		{name: "the end of the largest group, whose begin is here", records: []Record{fragment(0, 0, 4, "yyyy"), skip(3, 1)},
			in: "0 skipped", out: "0 skipped, 3 skipped", missing: "1 2"},
		{name: "between groups", records: []Record{fragment(0, 0, 2, "aaaa"), fragment(4, 1, 2, "d"), skip(2, 1), fragment(1, 1, 2, "b"), fragment(3, 0, 2, "cccc")},
			in: "0 aaaab, 2 skipped, 3 ccccd", out: "2 skipped, 0 aaaab, 3 ccccd"},
		{name: "in two groups", records: []Record{fragment(0, 0, 2, "aaaa"), fragment(2, 1, 3, "cccc"), fragment(3, 2, 3, "d"), skip(1, 1)},
			in: "0 skipped, 1 skipped, 2 skipped, 3 skipped", out: "0 skipped, 1 skipped, 2 skipped, 3 skipped"},
		{name: "a group whole before", records: []Record{fragment(0, 0, 2, "aaaa"), fragment(1, 1, 2, "b"), skip(0, 3)},
			in: "0 aaaab, 2 skipped", out: "0 aaaab, 2 skipped"},
	} {
		for _, cfg := range []Config{small, unordered} {
			v := newListener(t, cfg)
			v.gets(c.records...)
			want := c.in
			if cfg.Kind == Unordered {
				want = c.out
			}
			check.Equal(t, c.name+", "+cfg.Kind.String(), v.reads(), want)
			skipped := int64(strings.Count(want, "skipped"))
			check.Equal(t, c.name+": counts", []int64{v.Stats().Delivered, v.Stats().Skipped}, []int64{int64(strings.Count(want, ",")) + 1 - skipped, skipped})
			v.now = ReportDelay
			check.Equal(t, c.name+": report", v.reports(), strings.TrimSpace(fmt.Sprintf("report %d+%d %s", v.Base(), v.Limit()-v.Base(), c.missing)))
			check.Equal(t, "fragments", v.fragments, 0)
		}
	}
}

// A skip that gives up a group is one event: what it makes ready ascends; and what is ready, or
// was, does not become so again (CHV-2).
func TestASkipIsOneEvent(t *testing.T) {
	v := newListener(t, unordered)
	v.gets(skip(1, 1), skip(0, 3))
	check.Equal(t, "each once", v.reads(), "1 skipped, 0 skipped, 2 skipped")
	v = newListener(t, unordered)
	v.gets(skip(1, 1), fragment(8, 1, 3, "yyyy"), fragment(4, 0, 3, "xxxx"), skip(6, 2))
	check.Equal(t, "read", v.reads(), "1 skipped, 4 skipped, 6 skipped, 7 skipped, 8 skipped")
}

// Groups of every size come in any order, next to each other, and are put together (CHV-16).
func TestGroups(t *testing.T) {
	for _, cfg := range []Config{small, unordered} {
		v := newListener(t, with(cfg, func(c *Config) { c.Group = 32 }))
		order := []int{3, 1, 4, 0, 2, 8, 6, 5, 7}
		for _, n := range order {
			switch {
			case n < 4:
				v.gets(fragment(n, n, 4, strings.Repeat(fmt.Sprint(n), 4)))
			default:
				v.gets(fragment(n, n-4, 5, strings.Repeat(fmt.Sprint(n), 4)))
			}
		}
		check.Equal(t, "read", v.reads(), "0 0000111122223333, 4 44445555666677778888")
	}
}

// Sequences wrap on the wire and nowhere else (CHN-4).
func TestAReceiverAtTheWrap(t *testing.T) {
	for _, first := range []core.Number{65530, 131066, 1 << 32} {
		v := newListener(t, with(unordered, func(c *Config) { c.First = first }))
		wire := func(n int) int { return int(uint16(first)) + n }
		check.Equal(t, "rows", v.gets(message(wire(8), "x"), fragment(wire(5), 0, 3, "aaaa"), message(wire(-1), "y"), fragment(wire(0), 1, 2, "z")), "V5 V5 V1 V3")
		check.Equal(t, "report", v.reports(), fmt.Sprintf("report %d+32 %d %d %d %d %d %d %d", uint16(wire(0)),
			uint16(wire(0)), uint16(wire(1)), uint16(wire(2)), uint16(wire(3)), uint16(wire(4)), uint16(wire(6)), uint16(wire(7))))
		check.Equal(t, "read", v.reads(), fmt.Sprint(first+8, " x"))
	}
}

// Other records are no event.
func TestOtherRecordsAreNoEvent(t *testing.T) {
	v := newListener(t, small)
	check.Equal(t, "row", v.gets(Record{Type: TypeReport}, Record{}, Record{Type: TypeUnreliable}), "  ")
}

// A time before the latest one counts as that one (CHN-3).
func TestAReceiversTimesDoNotFall(t *testing.T) {
	v := newListener(t, small)
	v.now = 100 * ms
	v.gets(status(0))
	v.now = 0
	v.gets(message(0, "a"))
	check.Equal(t, "deadline", v.Deadline(), 100*ms)
	v.now = 99 * ms
	check.Equal(t, "report", v.reports(), "report 1+31")
	v.gets(status(1))
	check.Equal(t, "deadline", v.Deadline(), 105*ms)
}

// groupsOf is CHV-6 as the document has it.
func groupsOf(base, top int, missing map[int]bool, most int) (groups []Group) {
	for n := top - 1; n >= base; n-- {
		if !missing[n] {
			continue
		}
		g := Group{Start: uint16(n)}
		for i := range 32 {
			if n-1-i >= base && missing[n-1-i] {
				g.Bits |= 1 << i
			}
		}
		groups = append([]Group{g}, groups...)
		n -= 32
	}
	return groups[:min(most, len(groups))]
}

// Any set that is missing, in any window, at any place: the report is that of the document,
// and one that a decoder takes (CHV-6, CHR-6).
func TestReportsOfAnySet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := 1 << rapid.IntRange(5, 11).Draw(t, "window")
		first := rapid.SampledFrom([]int{0, 1, 31, 63, 64, 65000, 65535, 131000}).Draw(t, "first")
		v, _ := NewReceiver(Config{Format: Format{Window: window}, Kind: Unordered, First: core.Number(first)})
		density := rapid.IntRange(1, 9).Draw(t, "density")
		length := rapid.IntRange(1, window).Draw(t, "length")
		missing, base, top := map[int]bool{}, -1, first
		var wires []uint16
		for n := first; n < first+length; n++ {
			if rapid.IntRange(0, 9).Draw(t, "here") < density {
				v.Handle(0, &Record{Type: TypeMessage, Sequence: uint16(n), Data: []byte{1}})
				top = n + 1
				continue
			}
			if missing[n] = true; base < 0 {
				base = n
			}
		}
		if base < 0 || base > top {
			base = top
		}
		for n := base; n < top; n++ {
			if missing[n] {
				wires = append(wires, uint16(n))
			}
		}
		space := rapid.IntRange(7, 220).Draw(t, "space")
		r, ok := v.Poll(100*ms, space)
		if !ok {
			check.Equal(t, "nothing has come", top, first)
			return
		}
		want := groupsOf(base, top, missing, min((space-7)/6, 32))
		check.Equal(t, "base and room", []int{int(r.Sequence), r.Room}, []int{int(uint16(base)), first + window - base})
		check.That(t, slices.Equal(r.Groups, want), fmt.Sprint("groups ", r.Groups, " want ", want))
		_, err := Format{Window: window}.Append(nil, &r)
		check.Same(t, "error", err, nil)
		again := NewReport(0, uint16(base), r.Room, wires)
		check.That(t, slices.Equal(again.Groups, groupsOf(base, top, missing, 32)), "NewReport gives the same")
	})
}
