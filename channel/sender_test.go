package channel

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

// Messages go in order, large ones in fragments; a report releases them (CHS-1, CHS-2, CHS-7, CHS-10,
// CHS-14).
func TestASenderAndItsReports(t *testing.T) {
	s := newTalker(t, small)
	check.Equal(t, "row", s.Row(), "")
	check.Equal(t, "row", s.says("a", "bcde", "fghij"), "D3")
	check.Equal(t, "first packet", s.packs(16), "message 0 a")
	check.Equal(t, "second packet", s.packs(LargestPayload), "message 1 bcde, fragment 2 0/2 fghi, fragment 3 1/2 j")
	check.Equal(t, "nothing more", s.goes(), "")
	check.Equal(t, "row", s.hears(3, 32, 3), "D6")
	check.Equal(t, "base and limit", []core.Number{s.Base(), s.Limit()}, []core.Number{3, 35})
	check.Equal(t, "too early", s.goes(), "")
	s.now += holdUnmeasured
	check.Equal(t, "row", s.hears(3, 32, 3), "D6")
	check.Equal(t, "again", s.goes(), "fragment 3 1/2 j")
	check.Equal(t, "row", s.hears(4, 32), "D6")
	check.Equal(t, "kept", s.Stats(), SenderStats{Messages: 3, Sent: 5, Resent: 1, Released: 4})
	check.Equal(t, "deadline", s.Deadline(), core.Never)
}

// Every row of the table by its guards, and what it counts (CHS-8, CHS-9).
func TestRowsOfTheSender(t *testing.T) {
	failed := func(s *talker) {
		s.says("a")
		s.now = DefaultGiveUp
		s.goes()
	}
	for _, c := range []struct {
		row, name string
		run       func(s *talker) string
		want      string
	}{
		{"D1", "no byte", func(s *talker) string { return s.says("") }, "D1"},
		{"D1", "a byte too many", func(s *talker) string { return s.says(strings.Repeat("x", 17)) }, "D1"},
		{"D2", "one entry too many", func(s *talker) string {
			for range 39 {
				s.says("x")
			}
			return s.says("abcde") + s.says("x") + s.says("x")
		}, "D2D3D2"},
		{"D3", "the largest message", func(s *talker) string { return s.says(strings.Repeat("x", 16)) }, "D3"},
		{"D4", "of the same packet", func(s *talker) string {
			s.says("a", "b")
			s.goes()
			return s.hearsOf(7, 0, 0, 32) + s.hearsOf(7, 0, 2, 32)
		}, "D6D4"},
		{"D4", "of an older packet", func(s *talker) string {
			s.says("a", "b")
			s.goes()
			return s.hearsOf(7, 0, 1, 32) + s.hearsOf(6, 0, 2, 32)
		}, "D6D4"},
		{"D5", "base above what was sent", func(s *talker) string {
			s.says("a", "b")
			s.packs(8)
			return s.hears(2, 32)
		}, "D5"},
		{"D5", "names what was not sent", func(s *talker) string {
			s.says("a", "b")
			s.packs(8)
			return s.hears(0, 32, 0, 1)
		}, "D5"},
		{"D5", "base below what was released is far above it", func(s *talker) string {
			s.says("a", "b")
			s.goes()
			return s.hears(2, 32) + s.hears(1, 32)
		}, "D6D5"},
		{"D6", "of the first packet", func(s *talker) string {
			s.says("a")
			s.goes()
			return s.hearsOf(0, core.NoNumber, 0, 32)
		}, "D6"},
		{"D6", "names the newest", func(s *talker) string {
			s.says("a", "b")
			s.goes()
			return s.hears(0, 32, 0, 1)
		}, "D6"},
		{"D7", "no report for 10 s", func(s *talker) string {
			s.says("a")
			s.now = DefaultGiveUp - 1
			s.goes()
			before := s.State().String()
			s.now++
			s.goes()
			return before + " " + s.State().String()
		}, "OPEN FAILED"},
		{"D7", "10 s after the first message that waits, at any time", func(s *talker) string {
			s.now = 60 * core.Second
			s.says("a")
			s.goes()
			s.now += 5 * core.Second
			s.says("b")
			s.now += 5*core.Second - 1
			s.goes()
			before := s.State().String()
			s.now++
			s.goes()
			return before + " " + s.State().String()
		}, "OPEN FAILED"},
		{"D8", "something is due", func(s *talker) string {
			s.says("a")
			s.Poll(s.now, 0, 7)
			return string(s.Row())
		}, "D8"},
		{"D8", "a fragment of 12 bytes", func(s *talker) string {
			s.says("aaaab")
			s.Poll(s.now, 0, 11)
			before := string(s.Row())
			s.Poll(s.now, 0, 12)
			return before + string(s.Row())
		}, "D10D8"},
		{"D9", "250 ms after the last record", func(s *talker) string {
			s.says("a")
			s.goes()
			s.now = 250 * ms
			s.Poll(s.now, 9, 4)
			return string(s.Row())
		}, "D9"},
		{"D10", "nothing is kept", func(s *talker) string { return s.goes() + string(s.Row()) }, "D10"},
		{"D10", "nothing is kept any more, however late", func(s *talker) string {
			s.says("a")
			s.goes()
			s.hears(1, 32)
			s.now = 60 * core.Second
			return s.goes() + string(s.Row())
		}, "D10"},
		{"D10", "it does not fit", func(s *talker) string {
			s.says("a")
			s.Poll(s.now, 0, 6)
			return string(s.Row())
		}, "D10"},
		{"D10", "a probe does not fit", func(s *talker) string {
			s.says("a")
			s.goes()
			s.now = 250 * ms
			s.Poll(s.now, 9, 3)
			return string(s.Row())
		}, "D10"},
		{"D10", "a probe is not due", func(s *talker) string {
			s.says("a")
			s.goes()
			s.now = 250*ms - 1
			s.goes()
			return string(s.Row())
		}, "D10"},
		{"D11", "send", func(s *talker) string { failed(s); return s.says("a") }, "D11"},
		{"D11", "send of what is no message", func(s *talker) string { failed(s); return s.says("") }, "D11"},
		{"D12", "report", func(s *talker) string { failed(s); return s.hears(1, 32) }, "D12"},
		{"D13", "poll", func(s *talker) string { failed(s); return s.goes() + string(s.Row()) }, "D13"},
	} {
		t.Run(c.row+" "+c.name, func(t *testing.T) {
			s := newTalker(t, small)
			check.Equal(t, "rows", c.run(s), c.want)
			if c.row != "D7" {
				check.That(t, string(s.Row()) == c.row, "the case is of its row")
			}
			want := [2]int64{}
			switch c.row {
			case "D4":
				want[0] = 1
			case "D5":
				want[1] = 1
			}
			check.Equal(t, "overtaken, implausible", [2]int64{s.Stats().Overtaken, s.Stats().Implausible}, want)
		})
	}
}

// What send refuses has the code of its row, and a failure says what was not released (CHS-11,
// CHS-15).
func TestWhatSendRefuses(t *testing.T) {
	s := newTalker(t, small)
	check.That(t, errors.Is(s.Send(0, nil, 0), ErrMessageSize), "D1")
	for range 40 {
		s.says("x")
	}
	err := s.Send(0, []byte("x"), 0)
	check.That(t, errors.Is(err, ErrQueueFull), "D2")
	check.Equal(t, "text", err.Error(), "channel: queue_full: too much waits to be sent (D2)")
	s.goes()
	check.Equal(t, "row", s.hears(1, 31), "D6")
	s.now = DefaultGiveUp
	s.goes()
	check.That(t, errors.Is(s.Send(0, []byte("x"), 0), ErrFailed), "D11")
	check.That(t, errors.Is(s.Err(), ErrFailed), "FAIL")
	check.Equal(t, "text", s.Err().Error(), "channel 0: sender: 39 records were not released, from 1 on: channel: failed: the channel was given up (D11)")
	check.Equal(t, "deadline", s.Deadline(), core.Never)
	check.Equal(t, "memory", len(s.entries.slots)+len(s.deaths), 0)
}

// A report counts only if the receiver could have seen the latest transmission: two later
// packets were acked, and patience and half a round trip have passed, or HOLD (CHS-3).
func TestWhenAReportMarks(t *testing.T) {
	for _, c := range []struct {
		name string
		path Path
		age  core.Micros
		ack  core.Number // of packets; the entry went with packet 0
		due  bool
	}{
		{"unmeasured, overtaken by one", Path{}, 0, 1, false},
		{"unmeasured, overtaken by two", Path{}, 0, 2, true},
		{"no ack, before HOLD", Path{}, 250*ms - 1, core.NoNumber, false},
		{"no ack, at HOLD", Path{}, 250 * ms, core.NoNumber, true},
		{"before patience", Path{Measured: true, SRTT: 100 * ms, Patience: 60 * ms}, 60*ms - 1, 5, false},
		{"at patience", Path{Measured: true, SRTT: 100 * ms, Patience: 60 * ms}, 60 * ms, 2, true},
		{"before half a round trip", measured, 50*ms - 1, 5, false},
		{"after half a round trip", measured, 50 * ms, 2, true},
		{"patience without overtaking", measured, 125*ms - 1, 1, false},
		{"HOLD is 5/4 of the round trip", measured, 125 * ms, 1, true},
		{"HOLD is 10 ms more at least", Path{Measured: true, SRTT: 4 * ms}, 14*ms - 1, core.NoNumber, false},
		{"and that is enough", Path{Measured: true, SRTT: 4 * ms}, 14 * ms, core.NoNumber, true},
	} {
		s := newTalker(t, small)
		s.SetPath(c.path)
		s.says("a", "b")
		s.packs(LargestPayload)
		s.now += c.age
		s.number = 9
		check.Equal(t, "row", s.hearsOf(0, c.ack, 0, 32, 0), "D6")
		want := ""
		if c.due {
			want = "message 0 a"
		}
		check.Equal(t, c.name, s.packs(8), want)
	}
}

// What was sent again is asked for again only after it could have been seen again.
func TestAMarkIsForOneTransmission(t *testing.T) {
	s := newTalker(t, small)
	s.SetPath(measured)
	s.says("a", "b", "c", "d")
	for range 4 {
		s.packs(8) // one each
	}
	s.now = 100 * ms
	check.Equal(t, "row", s.hearsOf(0, 3, 0, 32, 0, 1), "D6")
	check.Equal(t, "prompt", s.Prompt(), s.now)
	check.Equal(t, "both were overtaken by two packets", s.packs(LargestPayload), "message 0 a, message 1 b")
	check.Equal(t, "row", s.hearsOf(1, 3, 0, 32, 0, 1), "D6")
	check.Equal(t, "the same again", s.packs(LargestPayload), "")
	s.now = 200 * ms
	check.Equal(t, "row", s.hearsOf(2, 6, 0, 32, 0), "D6")
	check.Equal(t, "later", s.packs(LargestPayload), "message 0 a")
}

// What was marked and is then released does not go again (CHS-2).
func TestAMarkEndsWithItsRelease(t *testing.T) {
	s := newTalker(t, small)
	s.says("a", "b", "c")
	s.goes()
	s.now = holdUnmeasured
	s.hears(0, 32, 0, 2)
	check.Equal(t, "row", s.hears(2, 32), "D6")
	check.Equal(t, "the other goes", s.goes(), "message 2 c")
	check.Equal(t, "then an early probe", s.Prompt()-s.now, 20*ms)
	check.Equal(t, "numbers", []core.Number{s.Base(), s.Sent(), s.Next()}, []core.Number{2, 3, 3})
}

// What is lost goes before what is new, and nothing overtakes what does not fit (CHS-1).
func TestWhatIsLostGoesFirst(t *testing.T) {
	s := newTalker(t, small)
	s.says("a", "bbbb", "c")
	s.goes()
	s.says("new")
	s.now = holdUnmeasured
	check.Equal(t, "row", s.hears(0, 32, 1, 2)[:1]+s.hears(1, 32, 1, 2)[1:], "D6")
	check.Equal(t, "the lowest does not fit", s.packs(9), "")
	check.Equal(t, "the lowest does, the next not", s.packs(12), "message 1 bbbb")
	check.Equal(t, "then the rest", s.packs(LargestPayload), "message 2 c, message 3 new")
}

// The sender keeps to the room, and goes on when there is more (CHS-2). Room never falls. What
// may go now is due now (CHS-5).
func TestRoom(t *testing.T) {
	s := newTalker(t, small)
	for range 40 {
		s.says("x")
	}
	check.Equal(t, "sent", strings.Count(s.goes(), "message"), 32)
	check.That(t, !s.Pending(), "what is beyond limit does not wait for a tick")
	check.Equal(t, "rows", s.hears(10, 22)+s.hears(10, 25), "D6D6")
	check.That(t, s.Pending(), "three may go")
	check.Equal(t, "deadlines", []core.Micros{s.Deadline(), s.Prompt()}, []core.Micros{0, 10 * core.Second})
	check.Equal(t, "more room", s.goes(), "message 32 x, message 33 x, message 34 x")
	check.Equal(t, "row", s.hears(20, 5), "D6")
	check.Equal(t, "limit", s.Limit(), 35)
}

// Probes ask for a report, and bring the lowest that were sent; they become rarer until a report
// moves something (CHS-4).
func TestProbes(t *testing.T) {
	s := newTalker(t, small)
	s.SetPath(Path{Measured: true, SRTT: 20 * ms})
	s.says("aaaa", "bbbb", "cccc")
	s.goes()
	var waits []core.Micros
	said := s.now
	for range 6 {
		s.now = s.Deadline()
		waits = append(waits, s.now-said)
		said = s.now
		check.Equal(t, "probe", s.packs(24), "status 3, message 0 aaaa, message 1 bbbb")
	}
	check.Equal(t, "waits", waits, []core.Micros{50 * ms, 50 * ms, 100 * ms, 200 * ms, 250 * ms, 250 * ms})
	check.Equal(t, "row", s.hears(0, 32), "D6")
	check.Equal(t, "nothing has moved", s.Deadline()-s.now, 250*ms)
	check.Equal(t, "row", s.hears(2, 30), "D6")
	check.Equal(t, "base has", s.Deadline()-s.now, 50*ms)
	s.now = s.Deadline()
	check.Equal(t, "probe", s.goes(), "status 3, message 2 cccc")
	check.Equal(t, "probes", s.Stats().Probes, 7)
}

// Behind what was sent again an early probe goes after 20 ms, without data: the resend is
// overtaken by one packet then, and a report is asked for. The next probes are not early until
// a report makes a difference (CHS-3, CHS-4).
func TestEarlyProbes(t *testing.T) {
	s := newTalker(t, small)
	s.SetPath(Path{Measured: true, SRTT: 60 * ms, Patience: 30 * ms})
	s.says("a", "b", "c")
	s.goes()
	s.now = 125 * ms
	check.Equal(t, "row", s.hears(1, 32, 1), "D6")
	check.Equal(t, "again", s.goes(), "message 1 b")
	check.Equal(t, "deadline", s.Deadline()-s.now, 20*ms)
	s.now += 20 * ms
	check.Equal(t, "early", s.goes(), "status 3")
	check.Equal(t, "then the first of the others", s.Deadline()-s.now, 95*ms)
	s.now += 9 * ms
	check.Equal(t, "row", s.hearsOf(1, 2, 1, 32, 1), "D6")
	check.Equal(t, "before patience", s.goes(), "")
	s.now += ms
	check.Equal(t, "row", s.hearsOf(2, 1, 1, 32, 1), "D6")
	check.Equal(t, "overtaken by none", s.goes(), "")
	check.Equal(t, "row", s.hearsOf(3, 2, 1, 32, 1), "D6")
	check.Equal(t, "overtaken by one", s.goes(), "message 1 b")
	check.Equal(t, "the next probe is early, since a report named something", s.Deadline()-s.now, 20*ms)
	s.now += 20 * ms
	check.Equal(t, "early", s.goes(), "status 3")
	check.Equal(t, "row", s.hears(1, 33, 1), "D6")
	check.Equal(t, "so does more room", s.Deadline()-s.now, 20*ms)
	check.Equal(t, "row", s.hears(2, 31), "D6")
	check.Equal(t, "nothing is left that was sent again", s.Deadline()-s.saidAt, 95*ms)
}

// What a report names makes the next probe early even if nothing is marked by it (CHS-2).
func TestANamedSequenceEndsBackoff(t *testing.T) {
	s := newTalker(t, small)
	s.SetPath(measured)
	s.says("a", "b")
	s.goes()
	s.now = 125 * ms
	s.hears(0, 32, 0)
	check.Equal(t, "again", s.goes(), "message 0 a")
	s.now = s.Deadline()
	check.Equal(t, "early", s.goes(), "status 2")
	check.Equal(t, "row", s.hears(0, 32), "D6")
	check.Equal(t, "a report that says nothing new", s.Deadline()-s.saidAt, 145*ms)
	check.Equal(t, "row", s.hears(0, 32, 0), "D6")
	check.Equal(t, "one that names it", s.Deadline()-s.saidAt, 20*ms)
}

// Room alone makes a difference (CHS-2).
func TestMoreRoomEndsBackoff(t *testing.T) {
	s := newTalker(t, small)
	s.SetPath(measured)
	s.says("a")
	s.goes()
	for range 3 {
		s.now = s.Deadline()
		s.packs(4) // no room for data
	}
	check.Equal(t, "fourth", s.Deadline()-s.now, 250*ms)
	check.Equal(t, "row", s.hears(0, 33), "D6")
	check.Equal(t, "limit", s.Limit(), 33)
	check.Equal(t, "first", s.Deadline()-s.now, 145*ms)
}

// A probe marks the lowest that fit beside it, of what is gone in a row one SKIP, and nothing
// behind the first that does not fit (CHS-4).
func TestWhatAProbeMarks(t *testing.T) {
	for space, want := range map[int]string{
		4: "", 8: "", 9: ", skip 0+1", 18: ", skip 0+1", 19: ", skip 0+1, message 1 bbbb", 23: ", skip 0+1, message 1 bbbb",
		24: ", skip 0+1, message 1 bbbb, skip 2+2", 30: ", skip 0+1, message 1 bbbb, skip 2+2", 31: ", skip 0+1, message 1 bbbb, skip 2+2, message 4 e",
	} {
		s := newTalker(t, small)
		s.saysFor(ms, "a")
		s.says("bbbb")
		s.saysFor(ms, "c", "d")
		s.says("e")
		s.goes()
		s.now = s.Prompt()
		check.Equal(t, "silent", s.goes(), "")
		s.now = s.Prompt()
		check.Equal(t, fmt.Sprint("in ", space, " bytes"), s.packs(space), "status 5"+want)
		check.Equal(t, "nothing else is marked", s.goes(), "")
	}
}

// What waits beyond limit is not part of a probe, and STATUS says what was sent.
func TestAProbeOfAClosedWindow(t *testing.T) {
	s := newTalker(t, small)
	for range 40 {
		s.says("x")
	}
	s.goes()
	s.hears(32, 0)
	s.now = s.Deadline()
	check.Equal(t, "probe", s.goes(), "status 32")
	check.That(t, s.now == 250*ms, "after 250 ms")
	check.Equal(t, "nothing is marked", s.marked, 0)
}

// Doublings end: after any number of probes the wait is what it may be at most (CHS-4).
func TestBackoffEnds(t *testing.T) {
	s := newTalker(t, with(small, func(c *Config) { c.GiveUp = 3600 * core.Second }))
	s.SetPath(Path{Measured: true, SRTT: 1 << 40})
	s.says("x")
	s.goes()
	for range 40 {
		s.now = max(s.now, s.probeAt())
		s.heardAt = s.now
		check.Equal(t, "probe", s.goes()[:6], "status")
	}
	check.Equal(t, "doublings", s.backoff, 16)
	check.Equal(t, "wait", s.probeAt()-s.now, 1<<41)
}

// A message that expires before it was sent goes as a skip; all its fragments do (CHX-1, CHX-2).
func TestExpiry(t *testing.T) {
	s := newTalker(t, small)
	s.says("a")
	s.saysFor(50*ms, "bbbbcccc", "d")
	s.saysFor(20*ms, "e")
	s.says("f")
	check.Equal(t, "prompt", s.Prompt(), 20*ms)
	s.now = 50 * ms
	check.Equal(t, "packet", s.goes(), "message 0 a, skip 1+4, message 5 f")
	check.Equal(t, "expired", s.Stats().Expired, 3)
	check.Equal(t, "deaths", len(s.deaths), 0)
}

// Times that come late expire all that they have passed, in any order of lifetimes; what is
// released does not expire (CHX-1).
func TestManyLifetimes(t *testing.T) {
	s := newTalker(t, small)
	for i := range 32 {
		s.saysFor(core.Micros(1+i*7%32)*ms, fmt.Sprint(i%10))
	}
	s.goes()
	check.Equal(t, "row", s.hears(13, 32), "D6")
	s.heap()
	check.Equal(t, "lifetimes", len(s.deaths), 19)
	for d := core.Micros(1); d <= 32; d++ {
		s.now = d * ms
		s.Poll(s.now, s.number, 0)
		gone := 0
		for n := s.Base(); n < s.Next(); n++ {
			e := s.entries.at(n)
			check.Equal(t, "gone", e.gone, core.Micros(1+n*7%32) <= d)
			if e.gone {
				gone++
			}
		}
		check.Equal(t, "expired", s.Stats().Expired, int64(gone))
		check.Equal(t, "left", len(s.deaths), 19-gone)
	}
}

// Lifetimes are a heap, whichever of them leave it, and each entry knows its place.
func TestTheHeapOfLifetimes(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := newTalker(t, small)
		for range 1 + random.IntN(30) {
			s.saysFor(core.Micros(1+random.IntN(40))*ms, "x")
			s.heap()
		}
		for len(s.deaths) > 0 {
			i := random.IntN(len(s.deaths))
			last := s.deaths[i].last
			s.dropDeath(i)
			check.Equal(t, "it has none", s.entries.at(last).death, noDeath)
			s.heap()
		}
	}
}

// What is released has no lifetime any more, whichever of them is released first.
func TestLifetimesEndWithTheirRelease(t *testing.T) {
	s := newTalker(t, small)
	s.saysFor(20*ms, "a")
	s.saysFor(10*ms, "b")
	s.saysFor(30*ms, "c")
	s.goes()
	for released := 1; released <= 3; released++ {
		check.Equal(t, "row", s.hears(uint16(released), 32), "D6")
		check.Equal(t, "lifetimes", len(s.deaths), 3-released)
	}
	s.now = 30 * ms
	s.goes()
	check.Equal(t, "expired", s.Stats().Expired, 0)
}

// heap makes sure of the heap of lifetimes.
func (s *talker) heap() {
	s.t.Helper()
	for i, d := range s.deaths {
		check.That(s.t, s.deaths[max(i-1, 0)/2].at <= d.at, "none ends before the one above it")
		check.Equal(s.t, "place", s.entries.at(d.last).death, int32(i))
	}
}

// What was sent and expires goes silent until it is named (CHX-4); what of a group was released
// stays so.
func TestExpiryOfWhatWasSent(t *testing.T) {
	s := newTalker(t, small)
	s.saysFor(100*ms, "aaaabbbbcccc")
	s.says("d")
	s.goes()
	check.Equal(t, "row", s.hears(1, 32, 1), "D6")
	s.now = 100 * ms
	check.Equal(t, "silent", s.goes(), "")
	check.Equal(t, "expired", s.Stats().Expired, 1)
	s.now = 250 * ms
	check.Equal(t, "row", s.hears(1, 32, 1, 2), "D6")
	check.Equal(t, "skip", s.goes(), "skip 1+2")
}

// What was marked and then expires goes as a skip, and one SKIP goes over what was sent and
// what was not (CHS-1).
func TestASkipOverSentAndUnsent(t *testing.T) {
	s := newTalker(t, small)
	s.saysFor(300*ms, "a", "b")
	s.goes()
	s.now = 250 * ms
	check.Equal(t, "row", s.hears(0, 32, 0, 1), "D6")
	s.saysFor(50*ms, "c", "d")
	s.says("e")
	s.now = 300 * ms
	check.Equal(t, "skip", s.goes(), "skip 0+4, message 4 e")
	check.Equal(t, "counts", s.Stats(), SenderStats{Messages: 5, Sent: 7, Resent: 2, Skips: 1, Expired: 4, Kept: 5})
}

// A lifetime that has no end is none.
func TestALifetimeWithoutEnd(t *testing.T) {
	s := newTalker(t, small)
	s.now = 5
	s.saysFor(core.Never, "a")
	s.saysFor(-1, "b")
	s.saysFor(core.Never-s.now, "c")
	check.Equal(t, "lifetimes", len(s.deaths), 0)
}

// A SKIP covers at most 256 sequences, and a probe counts 5 bytes for each of them (CHS-1,
// CHS-4).
func TestLongSkips(t *testing.T) {
	s := newTalker(t, Config{})
	for range 300 {
		s.saysFor(ms, "x")
	}
	s.now = ms
	check.Equal(t, "one packet carries 128 for the first time", s.packs(LargestPayload), "skip 0+128")
	check.Equal(t, "and the next", s.packs(LargestPayload)+", "+s.packs(LargestPayload), "skip 128+128, skip 256+44")
	s.now = s.Deadline()
	check.Equal(t, "probe", s.packs(14), "status 300, skip 0+256, skip 256+44")
	check.Equal(t, "all of it", s.goes(), "")
	s.now = s.Deadline()
	check.Equal(t, "with less room", s.packs(13), "status 300, skip 0+256")
	check.Equal(t, "all of it", s.goes(), "")
}

// A SKIP ends at limit, and where nothing is kept any more (CHS-1).
func TestASkipEndsAtLimit(t *testing.T) {
	s := newTalker(t, small)
	for range 35 {
		s.saysFor(ms, "x")
	}
	s.now = ms
	check.Equal(t, "skip", s.goes(), "skip 0+32")
	check.Equal(t, "row", s.hears(32, 2), "D6")
	check.Equal(t, "more room", s.goes(), "skip 32+2")
	check.Equal(t, "row", s.hears(34, 32), "D6")
	check.Equal(t, "the last", s.goes(), "skip 34+1")
}

// One packet carries at most 128 sequences for the first time, whatever they are (CHS-13).
func TestFresh(t *testing.T) {
	s := newTalker(t, Config{})
	for range 200 {
		s.says("x")
	}
	check.Equal(t, "messages", strings.Count(s.packs(LargestPayload), "message"), 128)
	check.Equal(t, "the next", strings.Count(s.packs(LargestPayload), "message"), 72)
	s.now = holdUnmeasured
	missing := make([]uint16, 150)
	for i := range missing {
		missing[i] = uint16(i)
	}
	check.Equal(t, "row", s.hears(0, 512, missing...), "D6")
	s.says("y")
	check.Equal(t, "what was sent before does not count", strings.Count(s.packs(LargestPayload), "message"), 151)
}

// Sequences wrap on the wire and nowhere else (CHR-5, CHN-5).
func TestASenderAtTheWrap(t *testing.T) {
	for _, first := range []core.Number{65530, 131066, 1 << 32} {
		s := newTalker(t, with(small, func(c *Config) { c.First = first }))
		for range 12 {
			s.says("x")
		}
		s.goes()
		wire := uint16(first)
		s.now = holdUnmeasured
		check.Equal(t, "row", s.hears(wire+5, 32, wire+5, wire+7), "D6")
		check.Equal(t, "base", s.Base(), first+5)
		check.Equal(t, "again", s.goes(), fmt.Sprintf("message %d x, message %d x", wire+5, wire+7))
		check.Equal(t, "row", s.hears(wire+12, 32), "D6")
		check.Equal(t, "base and limit", []core.Number{s.Base(), s.Limit()}, []core.Number{first + 12, first + 44})
	}
}

// A record that goes again has the bytes of the first time, whatever the application does with
// its memory (CHS-6).
func TestDataAreKept(t *testing.T) {
	s := newTalker(t, small)
	memory := []byte("abcd")
	check.Same(t, "error", s.Send(0, memory, 0), nil)
	copy(memory, "xxxx")
	check.Equal(t, "first", s.goes(), "message 0 abcd")
	s.now = holdUnmeasured
	s.hears(0, 32, 0)
	check.Equal(t, "again", s.goes(), "message 0 abcd")
}

// Times are in microseconds, and one before the latest counts as that one (CHN-2, CHN-3).
func TestASendersTimesDoNotFall(t *testing.T) {
	s := newTalker(t, small)
	s.now = 300 * ms
	s.says("a")
	s.now = 0
	s.saysFor(10*ms, "b")
	s.goes()
	check.Equal(t, "deadline", s.Deadline(), 310*ms)
	s.now = 310 * ms
	s.goes()
	check.Equal(t, "probe", s.Deadline(), 550*ms)
}

// A report that no decoder gives marks nothing that is not there.
func TestAReportThatWasNotDecoded(t *testing.T) {
	s := newTalker(t, small)
	s.says("a", "b")
	s.goes()
	s.now = holdUnmeasured
	s.Report(s.now, 0, 9, &Record{Type: TypeReport, Sequence: 1, Room: 5, Groups: []Group{{Start: 1, Bits: 0xffffffff}}})
	check.Equal(t, "row", s.Row(), "D6")
	check.Equal(t, "only what is kept", s.goes(), "message 1 b")
	s.says("c")
	s.now += holdUnmeasured
	s.Report(s.now, 1, 9, &Record{Type: TypeReport, Sequence: 1, Room: 5, Groups: []Group{{Start: 2}, {Start: 1}}})
	check.Equal(t, "only what was sent", []int{s.marked, int(s.low)}, []int{1, 1})
	check.Equal(t, "both go", s.goes(), "message 1 b, message 2 c")
	check.Equal(t, "marks", s.marked, 0)
}
