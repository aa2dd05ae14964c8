package connectionsim

import (
	"strings"
	"testing"

	"github.com/chunkwire/chunkwire/channel"
	protocol "github.com/chunkwire/chunkwire/connection"
	"github.com/chunkwire/chunkwire/core"
)

// read is a step that reads a message of the client at the server, or a skip.
func read(id uint8, n int, data string) func(j *Judge) error {
	return func(j *Judge) error {
		m := channel.Message{Data: []byte(data), Skipped: data == ""}
		m.Sequence += core.Number(n)
		return j.Read(7, ClientSide, id, m)
	}
}

// A judge objects to what must not be, and to nothing else.
func TestJudge(t *testing.T) {
	type step = func(j *Judge) error
	sent := func(id uint8, data string, mortal bool) step {
		return func(j *Judge) error { j.Sent(7, ClientSide, id, []byte(data), mortal); return nil }
	}
	chunk := func(data string) step {
		return func(j *Judge) error { j.SentChunk(7, ClientSide, []byte(data)); return nil }
	}
	readChunk := func(data string) step {
		return func(j *Judge) error { return j.ReadChunk(7, ClientSide, []byte(data)) }
	}
	settled := func(j *Judge) error { return j.Settled(7, ClientSide, 0) }
	failed := func(j *Judge) error { return j.Settled(7, ClientSide, 1<<1) }
	came := func(size int) step { return func(j *Judge) error { j.Came(Address(3), size); return nil } }
	went := func(size int) step { return func(j *Judge) error { return j.Went(Address(3), size) } }
	proven := func(j *Judge) error { j.Proven(Address(3)); return nil }
	marked := func(j *Judge) error { j.Marked(7, ClientSide); return nil }
	told := func(side Side, n int64) step { return func(j *Judge) error { return j.Told(7, side, n) } }
	long := strings.Repeat("x", 1500) // two sequences
	for name, c := range map[string]struct {
		steps []step
		want  string // of the last
	}{
		"all is read":                    {steps: []step{sent(1, "a", false), sent(1, long, false), sent(1, "c", false), read(1, 0, "a"), read(1, 1, long), read(1, 3, "c"), settled}},
		"unread of a failed channel":     {steps: []step{sent(1, "a", false), failed}},
		"unread beside a failed channel": {steps: []step{sent(2, "a", false), failed}, want: "CXT-SAFE-6"},
		"in another order":               {steps: []step{sent(1, "a", false), sent(1, "b", false), read(1, 1, "b")}, want: "CXT-SAFE-6"},
		"in another order, unordered":    {steps: []step{sent(2, "a", false), sent(2, "b", false), read(2, 1, "b"), read(2, 0, "a"), settled}},
		"twice":                          {steps: []step{sent(2, "a", false), read(2, 0, "a"), read(2, 0, "a")}, want: "CXT-SAFE-6"},
		"never sent":                     {steps: []step{sent(2, "a", false), read(2, 1, "a")}, want: "CXT-SAFE-6"},
		"another content":                {steps: []step{sent(1, "a", false), read(1, 0, "b")}, want: "CXT-SAFE-6"},
		"skipped":                        {steps: []step{sent(1, long, true), sent(1, "b", false), read(1, 0, ""), read(1, 1, ""), read(1, 2, "b"), settled}},
		"skipped without a lifetime":     {steps: []step{sent(1, "a", false), read(1, 0, "")}, want: "CXT-SAFE-6"},
		"skipped in part":                {steps: []step{sent(2, long, true), read(2, 0, ""), settled}, want: "CXT-SAFE-6"},
		"skipped, then read":             {steps: []step{sent(2, long, true), read(2, 0, ""), read(2, 0, long)}, want: "CXT-SAFE-6"},
		"not read":                       {steps: []step{sent(1, "a", false), settled}, want: "CXT-SAFE-6"},
		"unreliable, not read":           {steps: []step{sent(0, "a", false), settled}},
		"unreliable, twice":              {steps: []step{sent(0, "a", false), read(0, 0, "a"), read(0, 0, "a")}, want: "CXT-SAFE-6"},
		"chunks":                         {steps: []step{chunk("a"), chunk("b"), readChunk("a"), readChunk("b"), settled}},
		"chunks in another order":        {steps: []step{chunk("a"), chunk("b"), readChunk("b")}, want: "CXT-SAFE-6"},
		"a chunk twice":                  {steps: []step{chunk("a"), readChunk("a"), readChunk("a")}, want: "CXT-SAFE-6"},
		"a chunk is missing":             {steps: []step{chunk("a"), settled}, want: "CXT-SAFE-6"},
		"fewer bytes than came":          {steps: []step{came(64), went(41), came(20), went(42)}},
		"as many bytes as came":          {steps: []step{came(64), went(41), went(23)}, want: "CXT-BND-1"},
		"more bytes to a proven address": {steps: []step{came(64), proven, went(4100)}},
		"marks are told":                 {steps: []step{marked, marked, told(ClientSide, 1), told(ClientSide, 2), told(ServerSide, 0)}},
		"more marks than there were":     {steps: []step{marked, told(ClientSide, 2)}, want: "CXM-16"},
		"marks of the other side":        {steps: []step{marked, told(ServerSide, 1)}, want: "CXM-16"},
	} {
		j := NewJudge(protocol.DefaultChannels())
		for i, do := range c.steps {
			want := ""
			if i == len(c.steps)-1 {
				want = c.want
			}
			err := do(j)
			if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want+": ")) {
				t.Errorf("%s, step %d: %v, want %q", name, i, err, want)
				break
			}
		}
	}
}
