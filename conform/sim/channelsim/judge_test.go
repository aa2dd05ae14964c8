package channelsim

import (
	"strings"
	"testing"

	protocol "github.com/chunkwire/chunkwire/channel"
	"github.com/chunkwire/chunkwire/conform/check"
	"github.com/chunkwire/chunkwire/core"
)

const ms = core.Millisecond

// script is what a judge is told, step by step.
type script struct {
	*Judge
	now core.Micros
}

type step func(s *script) error

func message(n uint16, data string) protocol.Record {
	return protocol.Record{Type: protocol.TypeMessage, Sequence: n, Data: []byte(data)}
}

func fragment(n uint16, index, count int, data string) protocol.Record {
	return protocol.Record{Type: protocol.TypeFragment, Sequence: n, Index: index, Count: count, Data: []byte(data)}
}

func skip(n uint16, count int) protocol.Record {
	return protocol.Record{Type: protocol.TypeSkip, Sequence: n, Count: count}
}

func status(n uint16) protocol.Record { return protocol.Record{Type: protocol.TypeStatus, Sequence: n} }

func report(base uint16, room int, groups ...protocol.Group) protocol.Record {
	return protocol.Record{Type: protocol.TypeReport, Sequence: base, Room: room, Groups: groups}
}

func sends(text string, lifetime core.Micros) step {
	return func(s *script) error { return s.Sent(s.now, []byte(text), lifetime, "") }
}

func refuses(text string, code core.Code) step {
	return func(s *script) error { return s.Sent(s.now, []byte(text), 0, code) }
}

func composes(number core.Number, records ...protocol.Record) step {
	return func(s *script) error { return s.Composed(s.now, number, records...) }
}

func arrives(n core.Number, r protocol.Record) step {
	return func(s *script) error {
		s.Arrived(s.now, n, &r)
		return nil
	}
}

func reads(n core.Number, text string) step {
	return func(s *script) error { return s.Read(protocol.Message{Sequence: n, Data: []byte(text)}) }
}

func isTold(n core.Number) step {
	return func(s *script) error { return s.Read(protocol.Message{Sequence: n, Skipped: true}) }
}

func reports(r protocol.Record) step { return func(s *script) error { return s.Reported(s.now, &r) } }

func hears(number, ack core.Number, r protocol.Record) step {
	return func(s *script) error {
		s.Heard(s.now, number, ack, &r)
		return nil
	}
}

func releases(n core.Number) step { return func(s *script) error { return s.Released(n) } }

func senderIs(failed bool) step {
	return func(s *script) error { return s.Polled(s.now, true, failed) }
}

func receiverIs(failed bool) step {
	return func(s *script) error { return s.ReceiverPolled(s.now, failed) }
}

func after(d core.Micros) step {
	return func(s *script) error {
		s.now += d
		return nil
	}
}

func settled(s *script) error { return s.Settled() }

func holds(n int) step { return func(s *script) error { return s.Holds(n) } }

func times(n int, steps ...step) step {
	return func(s *script) (err error) {
		for range n {
			for _, do := range steps {
				if err == nil {
					err = do(s)
				}
			}
		}
		return err
	}
}

// Each violation is found, and what is right is none. Messages have 4 bytes in a record.
func TestAJudgeFindsEachViolation(t *testing.T) {
	a := []step{sends("a", 0), composes(0, message(0, "a")), arrives(0, message(0, "a"))}
	and := func(first []step, then ...step) []step { return append(append([]step(nil), first...), then...) }
	ab := and(a, sends("b", 0), composes(1, message(1, "b")))
	group := []step{sends("abcdef", 50*ms), composes(0, fragment(0, 0, 2, "abcd"), fragment(1, 1, 2, "ef")), arrives(0, fragment(0, 0, 2, "abcd"))}
	for name, c := range map[string]struct {
		kind  protocol.Kind
		steps []step
		want  string // of the last step; all before are right
	}{
		"all is right":      {steps: and(a, reads(0, "a"), after(20*ms), reports(report(1, 32)), hears(0, 0, report(1, 32)), releases(1), settled, senderIs(false), receiverIs(false))},
		"a group is right":  {steps: and(group, arrives(1, fragment(1, 1, 2, "ef")), reads(0, "abcdef"))},
		"a skip is right":   {steps: and(group, after(50*ms), composes(1, status(2)), composes(1, skip(0, 2)), arrives(0, skip(0, 2)), isTold(0), isTold(1))},
		"skipped in a hole": {steps: and(group, after(300*ms), composes(1, status(2), skip(0, 2)), arrives(0, skip(0, 1)), isTold(0))},

		"out of order":                  {steps: and(ab, arrives(1, message(1, "b")), reads(1, "b")), want: "CHT-SAFE-1"},
		"any order":                     {kind: protocol.Unordered, steps: and(ab, arrives(1, message(1, "b")), reads(1, "b"))},
		"other bytes":                   {steps: and(a, reads(0, "x")), want: "CHT-SAFE-1"},
		"other bytes, unordered":        {kind: protocol.Unordered, steps: and(a, reads(0, "x")), want: "CHT-SAFE-2"},
		"never sent":                    {steps: and(a, reads(7, "a")), want: "CHT-SAFE-2"},
		"never came":                    {steps: []step{sends("a", 0), composes(0, message(0, "a")), reads(0, "a")}, want: "CHT-SAFE-2"},
		"twice":                         {kind: protocol.Unordered, steps: and(a, reads(0, "a"), reads(0, "a")), want: "CHT-SAFE-2"},
		"skipped and read":              {kind: protocol.Unordered, steps: and(group, after(50*ms), composes(1, status(2)), arrives(1, fragment(1, 1, 2, "ef")), isTold(0), reads(0, "abcdef")), want: "CHT-SAFE-2"},
		"skipped without a lifetime":    {steps: and(a, isTold(0)), want: "CHT-SAFE-3"},
		"skipped too early":             {steps: and(group, after(50*ms-1), isTold(0)), want: "CHT-SAFE-3"},
		"released, but it has not come": {steps: and(ab, releases(2)), want: "CHT-SAFE-4"},
		"released less":                 {steps: and(a, releases(1), releases(0)), want: "CHT-SAFE-4"},
		"half a group":                  {steps: and(group, arrives(1, fragment(1, 1, 2, "ef")), reads(0, "abcd")), want: "CHT-SAFE-5"},

		"a record of nothing":         {steps: and(a, composes(1, message(1, "b"))), want: "CHT-SAFE-6"},
		"a record of other bytes":     {steps: []step{sends("a", 0), composes(0, message(0, "b"))}, want: "CHT-SAFE-6"},
		"a fragment of another group": {steps: []step{sends("abcdef", 0), composes(0, fragment(0, 0, 3, "abcd"))}, want: "CHT-SAFE-6"},
		"another fragment":            {steps: []step{sends("abcdef", 0), composes(0, fragment(0, 1, 2, "abcd"))}, want: "CHT-SAFE-6"},
		"a message of a group":        {steps: []step{sends("abcdef", 0), composes(0, message(0, "abcd"))}, want: "CHT-SAFE-6"},
		"a record of what is gone":    {steps: []step{sends("a", 1), after(1), composes(0, message(0, "a"))}, want: "CHT-SAFE-6"},
		"a skip of what lives":        {steps: []step{sends("a", 0), composes(0, skip(0, 1))}, want: "CHT-SAFE-6"},
		"a skip of more":              {steps: []step{sends("a", 1), after(1), composes(0, skip(0, 2))}, want: "CHT-SAFE-6"},
		"beyond the limit":            {steps: []step{times(33, sends("a", 0)), composes(0, message(32, "a"))}, want: "CHT-SAFE-6"},
		"a wrong status":              {steps: and(a, after(250*ms), composes(1, status(2))), want: "CHT-SAFE-6"},
		"too much that is new":        {steps: []step{times(12, sends("a", 0)), composes(0, message(0, "a"), message(1, "a"), message(2, "a"), message(3, "a"), message(4, "a"), message(5, "a"), message(6, "a"), message(7, "a"), message(8, "a"))}, want: "CHN-6"},

		"not settled":           {steps: and(a, reads(0, "a"), settled), want: "CHT-LIVE-1"},
		"the sender waits on":   {steps: and(a, after(10*core.Second-1), composes(1, status(1)), senderIs(false), after(1), senderIs(false)), want: "CHT-LIVE-2"},
		"it fails in time":      {steps: and(a, after(10*core.Second), senderIs(true), refuses("x", "failed"))},
		"it fails too early":    {steps: and(a, after(10*core.Second-1), senderIs(true)), want: "CHT-LIVE-3"},
		"a report counts":       {steps: and(a, after(ms), hears(0, 0, report(0, 32)), after(10*core.Second-1), senderIs(true)), want: "CHT-LIVE-3"},
		"it fails for nothing":  {steps: []step{after(20 * core.Second), senderIs(true)}, want: "CHT-LIVE-3"},
		"it says nothing":       {steps: and(a, after(250*ms), senderIs(false)), want: "CHT-LIVE-4"},
		"the receiver waits":    {steps: and(ab, arrives(2, status(2)), after(10*core.Second), receiverIs(false)), want: "CHT-LIVE-2"},
		"it fails in time, too": {steps: and(ab, arrives(2, status(2)), after(10*core.Second), receiverIs(true))},
		"it fails with all":     {steps: and(a, after(10*core.Second), receiverIs(true)), want: "CHT-LIVE-2"},

		"a message that is not too long": {steps: []step{refuses("abcd", "message_size")}, want: "CHS-9"},
		"an empty one":                   {steps: []step{refuses("", "message_size")}},
		"a queue that is not full":       {steps: []step{times(39, sends("a", 0)), refuses("a", "queue_full")}, want: "CHS-9"},
		"a full one":                     {steps: []step{times(40, sends("a", 0)), refuses("a", "queue_full")}},
		"nothing has failed":             {steps: []step{refuses("a", "failed")}, want: "CHS-9"},
		"more than the queue":            {steps: []step{times(40, sends("a", 0)), sends("a", 0)}, want: "CHT-BND-1"},
		"too much is held":               {steps: []step{holds(32 * 4), holds(32*4 + 1)}, want: "CHT-BND-1"},

		"two reports at once":       {steps: and(ab, arrives(2, status(2)), reports(report(1, 31, protocol.Group{Start: 1})), after(5*ms-1), reports(report(1, 31, protocol.Group{Start: 1}))), want: "CHT-BND-2"},
		"reports that are repeated": {steps: and(ab, arrives(2, status(2)), times(45, after(250*ms), reports(report(1, 31, protocol.Group{Start: 1}))))},
		"without an end":            {steps: and(ab, arrives(2, status(2)), times(46, after(250*ms), reports(report(1, 31, protocol.Group{Start: 1})))), want: "CHT-BND-3"},
		"a report of nothing new":   {steps: and(a, reports(report(1, 31)), after(20*ms), reports(report(1, 31))), want: "CHT-BND-3"},
		"a long report":             {steps: and(a, reports(report(1, 31, make([]protocol.Group, 33)...))), want: "CHV-6"},
		"a report of another base":  {steps: and(a, reports(report(0, 32))), want: "CHT-SAFE-4"},
		"of another room":           {steps: and(a, reports(report(1, 32))), want: "CHT-SAFE-4"},
		"of what came":              {steps: and(a, reports(report(1, 31, protocol.Group{Start: 0}))), want: "CHT-SAFE-4"},

		"again without a reason":     {steps: and(a, composes(1, message(0, "a"))), want: "CHT-BND-4"},
		"again by a probe":           {steps: and(a, after(250*ms), composes(1, status(1), message(0, "a")))},
		"again after HOLD":           {steps: and(a, after(250*ms), hears(0, -1, report(0, 32)), composes(1, message(0, "a")))},
		"again before":               {steps: and(a, after(250*ms-1), hears(0, -1, report(0, 32)), composes(1, message(0, "a"))), want: "CHT-BND-4"},
		"again when overtaken":       {steps: and(a, hears(0, 2, report(0, 32)), composes(3, message(0, "a")))},
		"again when overtaken by 1":  {steps: and(a, hears(0, 1, report(0, 32)), composes(3, message(0, "a"))), want: "CHT-BND-4"},
		"a third time, overtaken":    {steps: and(a, hears(0, 2, report(0, 32)), composes(3, message(0, "a")), hears(1, 4, report(0, 32)), composes(5, message(0, "a")))},
		"twice for one report":       {steps: and(a, hears(0, 2, report(0, 32)), composes(3, message(0, "a")), composes(4, message(0, "a"))), want: "CHT-BND-4"},
		"for a report from the past": {steps: and(a, hears(3, -1, report(0, 32)), after(250*ms), hears(2, 2, report(0, 32)), composes(3, message(0, "a"))), want: "CHT-BND-4"},
	} {
		cfg := Complete(protocol.Config{Kind: c.kind, Format: protocol.Format{Window: 32, Data: 4, Group: 3}, SendQueue: 40})
		cfg.Fresh = 8
		s := &script{Judge: NewJudge(cfg)}
		for i, do := range c.steps {
			want := ""
			if i == len(c.steps)-1 {
				want = c.want
			}
			err := do(s)
			if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want+": ")) {
				t.Errorf("%s, step %d: %v, want %q", name, i, err, want)
				break
			}
		}
	}
}

// What a judge counts.
func TestCountsOfAJudge(t *testing.T) {
	s := &script{Judge: NewJudge(Complete(protocol.Config{}))}
	for _, do := range []step{sends("a", 1), sends("b", 0), composes(0, message(0, "a")), after(1), composes(1, status(1), skip(0, 1), message(1, "b")), arrives(0, skip(0, 1)), isTold(0), reports(report(1, 1024))} {
		check.Same(t, "error", do(s), nil)
	}
	check.Equal(t, "counts", s.Counts(), Counts{Accepted: 2, Transmitted: 3, Probes: 1, Reports: 1, Read: 1, Skipped: 1, BytesReports: 7})
}
