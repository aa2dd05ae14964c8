package channels

import (
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/conform"
	"github.com/chunkwire/chunkwire/conform/check"
)

// A judge objects to what must not be, and to nothing else. Sequences have 4 bytes.
func TestJudge(t *testing.T) {
	type step = func(j *Judge) error
	do := func(at int64, e conform.Event, s conform.Step) step {
		return func(j *Judge) error { return j.Saw(at, e, s) }
	}
	sent := func(data string, lifetime int64) step {
		return do(0, Send{conform.Bytes(data), conform.If(lifetime, lifetime > 0)}, SenderStep{Limit: 32})
	}
	read := func(n uint16, data string) step {
		return do(0, Read{}, ReceiverStep{Read: conform.Some(Got{n, conform.Bytes(data), data == ""})})
	}
	after := func(at int64) step { return do(at, SenderPoll{}, SenderStep{Limit: 32}) }
	released := func(n int64) step { return do(0, Report{}, SenderStep{Base: n, Limit: 32}) }
	settled := func(j *Judge) error { return j.settled() }
	for name, c := range map[string]struct {
		kind  string
		steps []step
		want  string // of the last
	}{
		"all is read":                 {steps: []step{sent("a", 0), sent("abcdef", 0), read(0, "a"), read(1, "abcdef")}},
		"in another order":            {steps: []step{sent("a", 0), sent("b", 0), read(1, "b")}, want: "CHT-SAFE-1"},
		"in another order, unordered": {kind: "unordered", steps: []step{sent("a", 0), sent("b", 0), read(1, "b"), read(0, "a")}},
		"twice":                       {kind: "unordered", steps: []step{sent("a", 0), sent("b", 0), read(1, "b"), read(1, "b")}, want: "CHT-SAFE-2"},
		"never sent":                  {steps: []step{sent("a", 0), read(0, "a"), read(1, "a")}, want: "CHT-SAFE-2"},
		"skipped":                     {steps: []step{sent("abcdef", 5), after(5), read(0, ""), read(1, "")}},
		"skipped too early":           {steps: []step{sent("a", 5), after(4), read(0, "")}, want: "CHT-SAFE-3"},
		"skipped without a lifetime":  {steps: []step{sent("a", 0), after(1 << 40), read(0, "")}, want: "CHT-SAFE-3"},
		"skipped, then read":          {kind: "unordered", steps: []step{sent("abcdef", 5), after(5), read(1, ""), read(0, "abcdef")}, want: "CHT-SAFE-2"},
		"half a group":                {steps: []step{sent("abcdef", 0), read(0, "abcd")}, want: "CHT-SAFE-5"},
		"other bytes":                 {steps: []step{sent("a", 0), read(0, "b")}, want: "CHT-SAFE-5"},
		"released, and not come":      {steps: []step{sent("a", 0), released(1)}, want: "CHT-SAFE-4"},
		"a limit that falls":          {steps: []step{sent("a", 0), do(0, Report{}, SenderStep{Limit: 31})}, want: "base"},
		"too much is kept":            {steps: []step{sent("abcdefghijkl", 0), sent("a", 0)}, want: "CHT-BND-1"},
		"not read":                    {steps: []step{sent("a", 0), settled}, want: "CHT-LIVE-1"},
	} {
		config := TalkConfig{Kind: "ordered", Format: Format{Window: 32, Data: 4, Group: 3}, GiveUp: 1_000_000}.Fit().(TalkConfig)
		if c.kind != "" {
			config.Kind = c.kind
		}
		config.SendQueue = 3
		j := newJudge(config, check.Must(newProductReceiver(ReceiverConfig{Kind: config.Kind, Format: config.Format, GiveUp: config.GiveUp})).(*ProductReceiver).Receiver)
		for i, do := range c.steps {
			want := ""
			if i == len(c.steps)-1 {
				want = c.want
			}
			err := do(j)
			if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
				t.Errorf("%s, step %d: %v, want %q", name, i, err, want)
				break
			}
		}
	}
}
